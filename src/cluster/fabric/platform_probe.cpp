#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <exception>
#include <new>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/units.h"
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

/// The text as one line.
std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Loads the platform and returns a last line "hosts N SPEED", "error TEXT" or "unreadable TEXT". SimGrid may end the
/// process instead.
std::string loaded(const std::string& file, const base::ResourceLimits& limits) {
  try {
    std::array<std::string, 2> words{"simgrad", "--log=root.thresh:critical"};
    std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
    int count = 2;
    sg4::Engine engine(&count, arguments.data());
    std::vector<sg4::Host*> hosts;
    sg4::Host::on_creation_cb([&](sg4::Host& host) { hosts.push_back(&host); });
    load_platform(file);
    require_usable(hosts);
    return fmt::format("\nhosts {} {}", hosts.size(), hosts.empty() ? 0.0 : hosts.front()->get_speed());
  } catch (const base::EnvironmentError& error) {
    return "\nunreadable " + in_one_line(error.what());
  } catch (const std::bad_alloc&) {
    return fmt::format("\nerror loading it takes more than {} of memory, expected a smaller platform",
                       base::format_quantity(static_cast<double>(limits.memory_bytes.value_or(0)), base::Unit::bytes));
  } catch (const std::exception& error) {
    // The C++ library's error of a number is the name of the function that reads it: stoi, stod.
    const std::string_view what = error.what();
    if (what.starts_with("sto")) return "\nerror a number in it cannot be read";
    // A word alone is the name of a function of the C++ library, such as unordered_map::at.
    return "\nerror " + (what.find(' ') == std::string_view::npos ? "SimGrid finds no sense in it, without saying where"
                                                                  : in_one_line(error.what()));
  }
}

/// Why a process that loads a platform has died, by what it said before.
std::string reason_of(const base::ChildEnd& end, const base::ResourceLimits& limits) {
  if (end.signal == SIGXCPU)
    return fmt::format("loading it takes more than {} s of processor time, expected a smaller platform",
                       limits.processor_s.value_or(0));
  if (end.signal == SIGALRM) return fmt::format("loading it takes more than {} s", limits.real_s.value_or(0));
  if (end.signal == SIGKILL) return "loading it was ended from outside, perhaps for its time or its memory";
  const std::string first = end.text.substr(0, end.text.find('\n'));
  // SimGrid's own words of a broken invariant, with the place in its source.
  const bool of_inside =
      first.find("./src/") != std::string::npos || first.find("[root/CRITICAL]") != std::string::npos;
  if (first.empty() || of_inside || first.starts_with("Segmentation fault"))
    return "SimGrid ended without a reason; is there a host without a route to another?";
  return first;
}

}  // namespace

base::ResourceLimits probe_limits() {
  constexpr std::uintmax_t memory_bytes_most = std::uintmax_t{8} << 30;
  return {.processor_s = 10,
          .real_s = 60,
          .memory_bytes = std::min(base::half_of_free_memory(), memory_bytes_most),
          .writes_files = false};
}

PlatformProbe probe_platform(const std::string& file, const base::ResourceLimits& limits) {
  // SimGrid explains an abort on the standard error only.
  const base::ChildEnd end =
      base::run_in_child([&] { return loaded(file, limits); }, {.capture_stderr = true, .limits = limits});
  PlatformProbe probe;
  // The last line is ours. Before it stands what SimGrid has said, in the platform's words perhaps.
  const std::string answer = end.kind == base::ChildEnd::Kind::returned ? end.text.substr(end.text.rfind('\n') + 1)
                                                                        : "error " + reason_of(end, limits);
  const std::size_t blank = answer.find(' ');
  const std::string kind = answer.substr(0, blank), rest = answer.substr(blank + 1);
  if (kind == "unreadable") throw base::EnvironmentError(rest);
  if (kind == "hosts") {
    probe.hosts = std::stoi(rest);
    probe.speed_flops_per_s = std::stod(rest.substr(rest.find(' ')));
    if (probe.hosts == 0) probe.error = fmt::format("{}: the platform has no hosts", file);
    return probe;
  }
  // SimGrid names the file and line itself where it knows them.
  probe.error = rest.find(file) == std::string::npos ? fmt::format("{}: {}", file, rest) : rest;
  return probe;
}

}  // namespace simgrad::cluster
