// Platforms from SimGrid XML files, and what the network models make of them.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "base/errors.h"
#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace platform_test {

using namespace simgrad;
using cluster::Cluster;
using cluster::Communicator;
using cluster::World;

namespace {

constexpr double B = 1.25e9;  // 10 Gb/s
constexpr double M = 1e8;     // 100 MB
constexpr std::int64_t d = 12'500'000;

/// A platform file that lives as long as this.
class PlatformFile {
 public:
  explicit PlatformFile(const std::string& zone) {
    std::array<char, 40> name{"/tmp/simgrad-platform-XXXXXX.xml"};
    close(mkstemps(name.data(), 4));
    path_ = name.data();
    std::ofstream(path_) << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                            "<platform version=\"4.1\">\n<zone id=\"net\" routing=\"Full\">\n"
                         << zone << "</zone>\n</platform>\n";
  }
  ~PlatformFile() { unlink(path_.c_str()); }
  PlatformFile(const PlatformFile&) = delete;
  PlatformFile& operator=(const PlatformFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string host(const std::string& id, const std::string& speed = "1Gf") {
  return fmt::format("<host id=\"{}\" speed=\"{}\"/>\n", id, speed);
}

/// One sender: its NIC's bandwidth and its latency to the server.
struct Sender {
  double bandwidth_bytes_per_s;
  double latency_s;
};

/// Senders 0, 1, ... and then a server with a NIC of bandwidth B, into which all of them go.
PlatformFile senders_to_server(const std::vector<Sender>& senders) {
  std::string hosts;
  const auto nic = [](const std::string& id, const Sender& end) {
    return fmt::format("<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"SPLITDUPLEX\"/>\n", id,
                       end.bandwidth_bytes_per_s, end.latency_s);
  };
  std::string links = nic("server-nic", {B, 0.0});
  std::string routes;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    hosts += host(fmt::format("sender-{}", i));
    links += nic(fmt::format("nic-{}", i), senders[i]);
    routes += fmt::format(
        "<route src=\"sender-{0}\" dst=\"server\"><link_ctn id=\"nic-{0}\" direction=\"UP\"/>"
        "<link_ctn id=\"server-nic\" direction=\"DOWN\"/></route>\n",
        i);
  }
  return PlatformFile(hosts + host("server", "2Gf") + links + routes);
}

cluster::Options on_platform(const PlatformFile& file, cluster::NetworkModel model = cluster::NetworkModel::ideal) {
  cluster::Options options;
  options.platform = file.path();
  options.network_model = model;
  return options;
}

/// Every sender sends `numbers` doubles at once, the last rank receives; when each send ends.
std::vector<double> gather_ends(const cluster::Options& options, int senders, std::int64_t numbers) {
  return tests::numbers_of_child([&] {
    Cluster cluster(options, senders + 1);
    World world(cluster, "gather", senders + 1, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(senders) + 1);
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    std::vector<double> ends(static_cast<std::size_t>(senders));
    for (int r = 0; r <= senders; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        if (r < senders) {
          comm.send(senders, timing.zeros(numbers));
          ends[static_cast<std::size_t>(r)] = world.now();
          return;
        }
        std::vector<cluster::Pending> receives;
        for (int s = 0; s < senders; ++s) receives.push_back(comm.start_receive(s));
        for (auto& receive : receives) receive.wait();
      });
    cluster.run();
    return ends;
  });
}

}  // namespace

TEST_CASE("flows of latencies 10 us and 1.005 ms share a NIC fairly once both flow") {
  const PlatformFile file = senders_to_server({{B, 10e-6}, {B, 1.005e-3}});
  const std::vector<double> ends = gather_ends(on_platform(file), 2, d);
  // near: alone at B for 0.995 ms, then at B/2; far: at B/2 until then, the rest alone at B
  const double near_s = 1.005e-3 + (M - B * 0.995e-3) / (B / 2);
  const double far_s = near_s + (M - (near_s - 1.005e-3) * B / 2) / B;
  CHECK(near_s == Approx(0.159015).epsilon(1e-12));
  CHECK(far_s == Approx(0.16001).epsilon(1e-12));
  CHECK(ends[0] == Approx(near_s).epsilon(1e-9));
  CHECK(ends[1] == Approx(far_s).epsilon(1e-9));
}

TEST_CASE("the order of near and far senders does not matter to fair sharing") {
  const PlatformFile file = senders_to_server({{B, 1.005e-3}, {B, 10e-6}});
  const std::vector<double> ends = gather_ends(on_platform(file), 2, d);
  CHECK(ends[0] == Approx(0.16001).epsilon(1e-9));
  CHECK(ends[1] == Approx(0.159015).epsilon(1e-9));
}

TEST_CASE("flows from NICs of B and B/2 share a NIC of B evenly") {
  const PlatformFile file = senders_to_server({{B, 50e-6}, {B / 2, 50e-6}});
  const std::vector<double> ends = gather_ends(on_platform(file), 2, d);
  const double expected = 50e-6 + 2 * M / B;
  CHECK(expected == Approx(0.16005).epsilon(1e-12));
  CHECK(ends[0] == Approx(expected).epsilon(1e-9));
  CHECK(ends[1] == Approx(expected).epsilon(1e-9));
}

TEST_CASE("a flow that its own NIC limits leaves the rest to the others (max-min fairness)") {
  const PlatformFile file = senders_to_server({{B, 50e-6}, {B / 4, 1e-3}, {B, 2e-3}});
  const std::vector<double> ends = gather_ends(on_platform(file), 3, d);
  // From 2 ms on: B/4 for rank 1 (its NIC), the rest, 3 B/8 each, for ranks 0 and 2.
  const double left_0 = M - B * (1e-3 - 50e-6) - 0.75 * B * 1e-3;
  const double end_0 = 2e-3 + left_0 / (0.375 * B);
  // Rank 2 then has 3 B/4.
  const double end_2 = end_0 + (M - 0.375 * B * (end_0 - 2e-3)) / (0.75 * B);
  const double end_1 = 1e-3 + M / (B / 4);
  CHECK(ends[0] == Approx(end_0).epsilon(1e-9));
  CHECK(ends[1] == Approx(end_1).epsilon(1e-9));
  CHECK(ends[2] == Approx(end_2).epsilon(1e-9));
}

TEST_CASE("a flow without latency shares fairly with one that has some") {
  const PlatformFile file = senders_to_server({{B, 0.0}, {B, 1e-3}});
  const std::vector<double> ends = gather_ends(on_platform(file), 2, d);
  const double near_s = 1e-3 + (M - B * 1e-3) / (B / 2);
  const double far_s = 1e-3 + 2 * M / B - 1e-3;  // the NIC is never idle from 0 on
  CHECK(ends[0] == Approx(near_s).epsilon(1e-9));
  CHECK(ends[1] == Approx(far_s).epsilon(1e-9));
}

TEST_CASE("many flows of many latencies keep the NIC busy and share it fairly") {
  // Flow i joins at i ms; all are long: the first ends when it has had M at a share of B among those that flow.
  std::vector<Sender> senders;
  for (int i = 0; i < 6; ++i) senders.push_back({B, 1e-3 * (i + 1)});
  const PlatformFile file = senders_to_server(senders);
  const std::vector<double> ends = gather_ends(on_platform(file), 6, d);
  // Received by flow 0 until all six flow, at 6 ms: 1 ms at each of B, B/2, B/3, B/4, B/5; then B/6.
  std::vector<double> received(6);
  for (int flowing = 1; flowing <= 5; ++flowing)
    for (int i = 0; i < flowing; ++i) received[static_cast<std::size_t>(i)] += 1e-3 * B / flowing;
  double now = 6e-3;
  double level = 0.0;  // bytes of each flow under way since 6 ms
  for (std::size_t i = 0; i < 6; ++i) {
    const double needed = M - received[i];
    now += (needed - level) * static_cast<double>(6 - i) / B;
    level = needed;
    CHECK(ends[i] == Approx(now).epsilon(1e-9));
  }
}

TEST_CASE("a message under tcp takes 13.01 alpha + n / (0.97 B)") {
  const PlatformFile file = senders_to_server({{B, 50e-6}});
  for (const std::int64_t numbers : {1, 1000, 12'500'000}) {
    const std::vector<double> ends = gather_ends(on_platform(file, cluster::NetworkModel::tcp), 1, numbers);
    const double n = 8.0 * static_cast<double>(numbers);
    CHECK(ends[0] == Approx(13.01 * 50e-6 + n / (0.97 * B)).epsilon(1e-9));
    CHECK(gather_ends(on_platform(file), 1, numbers)[0] == Approx(50e-6 + n / B).epsilon(1e-9));
  }
}

TEST_CASE("hosts take ranks in the order of the file") {
  // In the order of names it would be b, y, z.
  const PlatformFile file(host("z", "1Gf") + host("b", "2Gf") + host("y", "3Gf"));
  const std::vector<double> speeds = tests::numbers_of_child([&] {
    Cluster cluster(on_platform(file), 3);
    return std::vector<double>{cluster.speed(0), cluster.speed(1), cluster.speed(2)};
  });
  CHECK(speeds == std::vector<double>{1e9, 2e9, 3e9});
}

TEST_CASE("ranks are the first hosts of a platform that has more") {
  const PlatformFile file(host("z", "1Gf") + host("b", "2Gf") + host("y", "3Gf"));
  const std::vector<double> seen = tests::numbers_of_child([&] {
    Cluster cluster(on_platform(file), 2);
    return std::vector<double>{static_cast<double>(cluster.hosts()), cluster.speed(0), cluster.speed(1)};
  });
  CHECK(seen == std::vector<double>{2, 1e9, 2e9});
}

TEST_CASE("a platform with fewer hosts than ranks is the scenario's fault") {
  const PlatformFile file(host("a") + host("b"));
  const std::string text = tests::text_of_child([&]() -> std::string {
    try {
      Cluster cluster(on_platform(file), 3);
    } catch (const base::ScenarioError& error) {
      return error.what();
    }
    return "nothing was thrown";
  });
  CHECK(text == fmt::format("{}: the platform has 2 hosts, but the ranks (servers included) are 3", file.path()));
}

TEST_CASE("probing a platform counts its hosts and finds the speed of the first") {
  const PlatformFile file = senders_to_server({{B, 1e-3}});
  const cluster::PlatformProbe probe = cluster::probe_platform(file.path());
  CHECK(probe.hosts == 2);
  CHECK(probe.speed_flops_per_s == 1e9);
  CHECK(probe.error.empty());
}

TEST_CASE("probing a platform that is not one says what is wrong and where") {
  const PlatformFile empty("");
  CHECK(cluster::probe_platform(empty.path()).error == empty.path() + ": the platform has no hosts");
  const PlatformFile broken("<hots id=\"a\"/>\n");
  const std::string error = cluster::probe_platform(broken.path()).error;
  CHECK(error.find(broken.path()) != std::string::npos);
  CHECK(error.find(broken.path() + ":5") != std::string::npos);
}

TEST_CASE("probing a platform refuses prices and power that are none, as a run would") {
  const auto fault = [](const std::string& properties) {
    const PlatformFile file("<host id=\"a\" speed=\"1Gf\">" + properties + "</host>\n");
    const std::string error = cluster::probe_platform(file.path()).error;
    return error.starts_with(file.path() + ": ") ? error.substr(file.path().size() + 2) : error;
  };
  CHECK(fault(R"(<prop id="price" value="12"/>)") ==
        R"(host "a", property "price": a price by the hour needs a unit, as in "2.48$/h"; found "12")");
  CHECK(fault(R"(<prop id="watts_idle" value="-1W"/>)") ==
        R"(host "a", property "watts_idle": found "-1W", expected at least 0)");
  CHECK(fault(R"(<prop id="watts_idle" value="9W"/><prop id="watts_busy" value="8W"/>)") ==
        R"(host "a", property "watts_busy": found 8 W, expected at least the 9 W of watts_idle)");
  CHECK(fault(R"(<prop id="price" value="0$/h"/><prop id="watts_idle" value="8W"/><prop id="watts_busy" value="8W"/>)")
            .empty());
}

}  // namespace platform_test
