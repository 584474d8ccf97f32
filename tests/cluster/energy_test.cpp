// How busy hosts are: what their energy is reckoned from, against SimGrid's own host_energy plugin.
#include <fmt/format.h>
#include <simgrid/plugins/energy.h>

#include <numeric>
#include <simgrid/s4u.hpp>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/simgrid_versions.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace energy_test {

using namespace simgrad;
using cluster::Cluster;
using cluster::Communicator;
using cluster::Packet;
using cluster::World;

namespace {

namespace sg4 = simgrid::s4u;

constexpr double idle_w = 90.0;
constexpr double busy_w = 240.0;
constexpr double speed = 1e9;
constexpr std::int64_t numbers = 1'000'000;

/// Flops of a rank before it sends to rank 0, and flops of rank 0 for each message.
constexpr double flops(int rank) { return 1e8 * (1 + rank); }
constexpr double taking_in = 3e7;

cluster::Options star() {
  cluster::Options options;
  options.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = 125e6, .latency_s = 50e-6};
  return options;
}

double joules(const record::HostUse& host, double simulated_s) {
  return idle_w * (simulated_s - host.down_s) + (busy_w - idle_w) * host.busy_s;
}

/// Returns the joules of the hosts by the record, for ranks that live on those hosts.
std::vector<double> by_the_record(int ranks, const std::vector<int>& hosts) {
  return tests::numbers_of_child([&] {
    Cluster cluster(star(), ranks);
    World world(cluster, "w", ranks, 0, hosts);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    for (int r = 0; r < ranks; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        world.ranks().compute(r, flops(r));
        if (r > 0) return comm.send(0, timing.zeros(numbers));
        for (int sender = 1; sender < ranks; ++sender) {
          comm.receive(sender);
          world.ranks().compute(0, taking_in);
        }
      });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    std::vector<double> found;
    for (const record::HostUse& host : record.hosts) found.push_back(joules(host, record.simulated_s));
    return found;
  });
}

/// Runs the program in SimGrid alone, and returns the joules of its energy plugin.
std::vector<double> by_the_plugin(int ranks) {
  return tests::numbers_of_child([&] {
    std::vector<std::string> words{"bare",
                                   "--cfg=network/model:CM02",
                                   "--cfg=network/crosstraffic:0",
                                   "--cfg=network/TCP-gamma:1e30",
                                   fmt::format("--cfg={}:1e-12", cluster::timing_precision_option),
                                   "--log=root.thresh:critical"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    auto count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    sg4::Engine engine(&count, arguments.data());
    sg_host_energy_plugin_init();
    auto* zone = cluster::new_star_zone("star");
    std::vector<sg4::Host*> hosts;
    for (int r = 0; r < ranks; ++r) {
      auto* host = cluster::add_host(*zone, fmt::format("host-{}", r), speed);
      host->set_property("wattage_per_state", fmt::format("{}:{}:{}", idle_w, idle_w, busy_w));
      auto* nic = cluster::add_duplex_link(*zone, fmt::format("nic-{}", r), 125e6);
      nic->set_latency(25e-6);
      nic->seal();
      cluster::add_route(*zone, {host->get_netpoint()}, {}, {{nic, sg4::LinkInRoute::Direction::UP}});
      host->seal();
      hosts.push_back(host);
    }
    zone->seal();
    int token = 0;
    for (int r = 0; r < ranks; ++r)
      cluster::new_actor("rank", hosts[static_cast<std::size_t>(r)], [r, ranks, &token] {
        sg4::this_actor::execute(flops(r));
        if (r > 0) return sg4::Mailbox::by_name(std::to_string(r))->put(&token, 8 * numbers);
        for (int sender = 1; sender < ranks; ++sender) {
          sg4::Mailbox::by_name(std::to_string(sender))->get<int>();
          sg4::this_actor::execute(taking_in);
        }
      });
    engine.run();
    sg_host_energy_update_all();
    std::vector<double> found;
    for (const sg4::Host* host : hosts) found.push_back(sg_host_get_consumed_energy(host));
    return found;
  });
}

}  // namespace

TEST_CASE("the energy of hosts is what SimGrid's host_energy plugin says of the same program") {
  for (const int ranks : {1, 2, 5}) {
    const std::vector<double> ours = by_the_record(ranks, {});
    const std::vector<double> theirs = by_the_plugin(ranks);
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t host = 0; host < ours.size(); ++host) {
      CAPTURE(ranks, host);
      CHECK(ours[host] == Approx(theirs[host]).epsilon(1e-9));
    }
  }
}

TEST_CASE("a host whose ranks share its cores is no busier than its cores are") {
  const auto found = tests::numbers_of_child([] {
    // A worker and two servers on a host of one core: 0.6 s of work that each of them has a third of at a time.
    Cluster cluster(star(), 1);
    World world(cluster, "w", 1, 2, {0, 0, 0});
    for (int r = 0; r < 3; ++r) world.ranks().start(r, [&world, r] { world.ranks().compute(r, flops(r)); });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    return std::vector<double>{record.simulated_s, record.hosts.at(0).busy_s, record.ranks.at(2).compute_s};
  });
  CHECK(found[0] == Approx(0.6).epsilon(1e-9));
  CHECK(found[1] == Approx(0.6).epsilon(1e-9));
  CHECK(found[2] == Approx(0.6).epsilon(1e-9));
}

}  // namespace energy_test
