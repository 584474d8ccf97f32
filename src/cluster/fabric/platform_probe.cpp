#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/child_process.h"
#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/host_properties.h"
#include "cluster/fabric/simgrid_versions.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

namespace {

/// A quantity of the platform that SimGrid takes though it cannot compute with it.
void require_positive(const char* what, const std::string& name, const char* quantity, double value, const char* unit) {
  if (!(value > 0.0) || !std::isfinite(value))
    throw std::runtime_error(
        fmt::format("{} \"{}\" has a {} of {} {}; expected a finite one above 0", what, name, quantity, value, unit));
}

/// Asks the platform for all that ranks need: speeds, bandwidths, and routes between hosts. SimGrid ends the process
/// where a route is missing, and its last words become the error.
void require_usable(const std::vector<sg4::Host*>& hosts) {
  for (const sg4::Host* host : hosts) {
    require_positive("host", host->get_name(), "speed", host->get_speed(), "flop/s");
    properties_of(*host);
  }
  for (const sg4::Link* link : sg4::Engine::get_instance()->get_all_links()) {
    require_positive("link", link->get_name(), "bandwidth", link->get_bandwidth(), "B/s");
    // A latency is the inverse of a flow's weight, and SimGrid's solver ends the process or loses flows at 1e-306.
    constexpr double latency_s_least = 1e-12;
    const double latency_s = link->get_latency();
    if (latency_s != 0.0 && !(latency_s >= latency_s_least && std::isfinite(latency_s)))
      throw std::runtime_error(fmt::format("link \"{}\" has a latency of {} s; expected 0 or a finite one from 1e-12 s",
                                           link->get_name(), latency_s));
  }
  // All pairs of a small platform; of a large one those that servers and rings use.
  constexpr std::size_t small = 200;
  const auto require_route = [&](std::size_t a, std::size_t b) {
    std::vector<sg4::Link*> route;
    double latency = 0.0;
    if (a == b) return;
    hosts[a]->route_to(hosts[b], route, &latency);
    if (route.empty())
      throw std::runtime_error(
          fmt::format("there is no route from host \"{}\" to host \"{}\"", hosts[a]->get_name(), hosts[b]->get_name()));
  };
  for (std::size_t a = 0; a < hosts.size(); ++a) {
    if (hosts.size() <= small)
      for (std::size_t b = 0; b < hosts.size(); ++b) require_route(a, b);
    require_route(a, 0);
    require_route(0, a);
    require_route(a, (a + 1) % hosts.size());
  }
}

/// Loads the platform and returns a line "hosts N SPEED" or "error TEXT". SimGrid may end the process instead.
std::string loaded(const std::string& file) {
  try {
    std::array<std::string, 2> words{"simgrad", "--log=root.thresh:critical"};
    std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
    int count = 2;
    sg4::Engine engine(&count, arguments.data());
    std::vector<sg4::Host*> hosts;
    sg4::Host::on_creation_cb([&](sg4::Host& host) { hosts.push_back(&host); });
    load_platform(file);
    require_usable(hosts);
    return fmt::format("\nhosts {} {}\n", hosts.size(), hosts.empty() ? 0.0 : hosts.front()->get_speed());
  } catch (const std::exception& error) {
    // The C++ library's error of a number is the name of the function that reads it: stoi, stod.
    const bool unreadable = std::string_view(error.what()).starts_with("sto");
    return fmt::format("\nerror {}\n", unreadable ? "a number in it cannot be read" : error.what());
  }
}

/// The line that starts with the word, without it; or "".
std::string line_after(const std::string& text, const std::string& word) {
  const auto at = text.rfind("\n" + word + " ");
  if (at == std::string::npos) return {};
  const auto from = at + word.size() + 2;
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace

PlatformProbe probe_platform(const std::string& file) {
  if (access(file.c_str(), R_OK) != 0)
    throw base::EnvironmentError(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  // SimGrid explains an abort on the standard error only.
  const std::string told = base::run_in_child([&] { return loaded(file); }, {.capture_stderr = true}).text;
  PlatformProbe probe;
  if (const std::string hosts = line_after(told, "hosts"); !hosts.empty()) {
    const auto blank = hosts.find(' ');
    probe.hosts = std::stoi(hosts);
    probe.speed_flops_per_s = std::stod(hosts.substr(blank));
    if (probe.hosts == 0) probe.error = fmt::format("{}: the platform has no hosts", file);
    return probe;
  }
  std::string reason = line_after(told, "error");
  if (reason.empty()) reason = told.substr(0, told.find('\n'));
  if (reason.empty() || reason.starts_with("Segmentation fault"))
    reason = "SimGrid ended without a reason; is there a host without a route to another?";
  // SimGrid names the file and line itself where it knows them.
  probe.error = reason.find(file) == std::string::npos ? fmt::format("{}: {}", file, reason) : reason;
  return probe;
}

}  // namespace simgrad::cluster
