// How hosts are cabled, read off the routes of messages.
#include <fmt/format.h>

#include <set>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/topologies/ring.h"
#include "cluster/topologies/shared_memory.h"
#include "cluster/topologies/star.h"
#include "cluster/topologies/two_tier.h"
#include "cluster/transfers.h"
#include "record/record.h"
#include "scratch.h"

namespace wires_test {

using namespace simgrad;
using namespace simgrad::cluster;
using namespace simgrad::tests;

namespace {

template <class Kind>
Options with(Kind kind, std::int64_t workers) {
  Options options;
  options.workers = workers;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = 1e9, .latency_s = 1e-5};
  options.topology = base::Slot<Topology>(topologies(), std::make_unique<Kind>(std::move(kind)));
  return options;
}

/// "link: from -> to", a line each, in alphabetical order, once every host has sent to every other.
std::vector<std::string> wires(const Options& options, int hosts) {
  const std::string text = text_of_child([&] {
    cluster::Cluster cluster(options, hosts, true);
    cluster::World world(cluster, "wires", hosts, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<int> all(static_cast<std::size_t>(hosts));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    for (int rank = 0; rank < hosts; ++rank)
      world.ranks().start(rank, [&, rank] {
        const Communicator comm(world, members, rank, 0);
        for (int hop = 1; hop < hosts; ++hop)
          comm.exchange(timing.zeros(10), (rank + hop) % hosts, (rank + hosts - hop) % hosts);
      });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    std::set<std::string> lines;
    for (const record::CablingEdge& wire : record.wires)
      lines.insert(fmt::format("{}: {} -> {}\n", wire.link, wire.from, wire.to));
    std::string all_lines;
    for (const std::string& line : lines) all_lines += line;
    return all_lines;
  });
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the cards of a star all lead to one switch") {
  CHECK(wires(with(Star(), 3), 3) == Lines{"nic-0_DOWN: switch-0 -> host-0", "nic-0_UP: host-0 -> switch-0",
                                           "nic-1_DOWN: switch-0 -> host-1", "nic-1_UP: host-1 -> switch-0",
                                           "nic-2_DOWN: switch-0 -> host-2", "nic-2_UP: host-2 -> switch-0"});
}

TEST_CASE("hosts of a ring are joined to each other, without switches") {
  CHECK(wires(with(RingOfHosts(), 3), 3) == Lines{"ring-0_DOWN: host-1 -> host-0", "ring-0_UP: host-0 -> host-1",
                                                  "ring-1_DOWN: host-2 -> host-1", "ring-1_UP: host-1 -> host-2",
                                                  "ring-2_DOWN: host-0 -> host-2", "ring-2_UP: host-2 -> host-0"});
}

TEST_CASE("racks are switches of their own, joined by their uplinks") {
  TwoTier racks;
  racks.hosts_per_rack = 2;
  const Lines all = wires(with(std::move(racks), 4), 4);
  const auto end_of = [&](const std::string& start) {
    for (const std::string& line : all)
      if (line.starts_with(start)) return line.substr(start.size());
    return std::string("none");
  };
  CHECK(end_of("nic-0_UP: host-0 -> ") == end_of("nic-1_UP: host-1 -> "));
  CHECK(end_of("nic-2_UP: host-2 -> ") == end_of("nic-3_UP: host-3 -> "));
  CHECK(end_of("nic-0_UP: host-0 -> ") != end_of("nic-2_UP: host-2 -> "));
  CHECK(end_of("rack-0_UP: " + end_of("nic-0_UP: host-0 -> ") + " -> ") ==
        end_of("rack-1_UP: " + end_of("nic-2_UP: host-2 -> ") + " -> "));
}

TEST_CASE("a link that carries both directions is a place that the others hang on") {
  CHECK(wires(with(SharedMemory(), 2), 2) == Lines{"memory-0: host-0 -> memory-0", "memory-0: host-1 -> memory-0",
                                                   "memory-0: memory-0 -> host-0", "memory-0: memory-0 -> host-1"});
}

TEST_CASE("on a platform file shared links one after the other are a chain of places") {
  const Scratch scratch;
  Options options = with(Star(), 2);
  options.platform = scratch.write("p.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <link id="l" bandwidth="1GBps" latency="1us"/>
    <link id="m" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>
    <route src="a" dst="b"><link_ctn id="l"/><link_ctn id="m" direction="UP"/></route>
  </zone>
</platform>
)");
  CHECK(wires(options, 2) == Lines{"l: a -> l", "l: l -> a", "l: l -> switch-0", "l: switch-0 -> l",
                                   "m_DOWN: b -> switch-0", "m_UP: switch-0 -> b"});
}

}  // namespace wires_test
