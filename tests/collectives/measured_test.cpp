// Collectives that take measured times: their times, accounts, numbers and bytes.
#include "cluster/topologies/gpu_hosts.h"
#include "collectives/allreduce.h"
#include "collectives/group.h"
#include "collectives/ring.h"
#include "scratch.h"

namespace measured_collectives_test {

using namespace simgrad;
using namespace simgrad::tests;
using cluster::Communicator;
using values::Dispatcher;

namespace {

Group::Outcome allreduce(const Group& group, std::string_view algorithm, std::int64_t d) {
  const auto chosen = collectives::allreduces().find(algorithm)->make();
  return group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    return (*chosen)(comm, contributed(dispatcher, comm.rank(), d));
  });
}

}  // namespace

TEST_CASE("a measured allreduce ends so long after the last arrival, with the algorithm's numbers and bytes") {
  const Scratch scratch;
  const std::string file = scratch.write("t.csv", "ranks,bytes,seconds\n4,8000,0.25\n4,80000,0.5\n");
  for (const std::string_view algorithm : {"ring", "recursive_doubling", "double_binary_tree"})
    for (const auto way : {cluster::Collectives::messages, cluster::Collectives::automatic})
      for (const auto model : {cluster::NetworkModel::ideal, cluster::NetworkModel::tcp}) {
        CAPTURE(algorithm, way, model);
        Group group{.P = 4, .arrivals = {0.0, 0.125, 0.0, 0.5}, .collectives = way, .network_model = model};
        const Group::Outcome simulated = allreduce(group, algorithm, 1000);
        group.measured = file;
        const Group::Outcome measured = allreduce(group, algorithm, 1000);
        for (std::size_t r = 0; r < 4; ++r) {
          const auto& member = measured.members[r];
          CHECK(member.end_s == Approx(0.5 + 0.25).epsilon(1e-9));
          CHECK(member.communicate_s == Approx(0.25).epsilon(1e-9));
          CHECK(member.wait_s == Approx(0.5 - group.arrivals[r]).margin(1e-9));
          CHECK(member.result == simulated.members[r].result);
          CHECK(member.bytes_sent == simulated.members[r].bytes_sent);
        }
        CHECK(measured.bytes == simulated.bytes);
        CHECK(measured.messages == simulated.messages);
      }
}

TEST_CASE("the links of a measured allreduce carry its bytes, and an end in the middle counts what has begun") {
  const Scratch scratch;
  Group group{.P = 8, .numbers = false, .collectives = cluster::Collectives::automatic};
  auto hosts = std::make_unique<cluster::GpuHosts>();
  hosts->devices = 4;
  group.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
  const Group::Outcome simulated = allreduce(group, "ring", 8000);
  group.measured = scratch.write("t.csv", "ranks,bytes,seconds\n8,64000,0.25\n");
  const Group::Outcome measured = allreduce(group, "ring", 8000);
  REQUIRE(measured.links.size() == simulated.links.size());
  for (std::size_t link = 0; link < measured.links.size(); link += 2)  // bytes, utilisation
    CHECK(measured.links[link] == simulated.links[link]);
  group.end_s = 0.125;
  const Group::Outcome cut = allreduce(group, "ring", 8000);
  for (const auto& member : cut.members) CHECK(member.communicate_s == Approx(0.125).epsilon(1e-9));
  CHECK(cut.bytes == simulated.bytes);
}

TEST_CASE("a hierarchical allreduce is measured whole, and collectives without a table are simulated") {
  const Scratch scratch;
  Group group{.P = 8, .charge_reductions = false, .numbers = false, .devices = 4};
  group.measured =
      scratch.write("t.csv", "ranks,bytes,seconds,collective\n8,64000,0.25,allreduce\n8,64000,1,all_gather\n");
  CHECK(allreduce(group, "hierarchical", 8000).members[3].end_s == Approx(0.25).epsilon(1e-9));
  const auto halves = group.run([&](const Communicator& comm, Dispatcher& dispatcher) {
    const auto chunk = collectives::reduce_scatter(comm, dispatcher.zeros(8000));
    return collectives::all_gather(comm, chunk, 8000);
  });
  // Simulated in rounds of the slowest hop, then measured.
  CHECK(halves.members[0].end_s == Approx(7 * (alpha + 8000.0 / B) + 1.0).epsilon(1e-9));
}

}  // namespace measured_collectives_test
