// One rank of each stage simulated for all that are alike, against the simulation of every rank.
#include "cluster/topologies/gpu_hosts.h"
#include "strategies/mesh_trial.h"
#include "strategies/sharded/zero.h"

namespace stand_ins_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Parallel;
using strategies::Simulate;

namespace {

void set_workers(MeshTrial& trial, int data) {
  trial.workers = data * static_cast<int>(trial.parallel.ranks_a_replica());
  trial.cluster.workers = trial.workers;
}

MeshTrial mesh_of(std::int64_t tensor, std::int64_t pipeline, int data,
                  std::shared_ptr<const strategies::Strategy> strategy) {
  MeshTrial trial = transformer_trial(4, true);
  trial.data = {};
  trial.training.numbers = false;
  trial.strategy = std::move(strategy);
  trial.parallel.tensor = tensor;
  trial.parallel.pipeline = pipeline;
  trial.parallel.micro_batches = 4;
  set_workers(trial, data);
  return trial;
}

std::shared_ptr<strategies::Allreduce> in_buckets() {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->bucket_bytes = 3000.0;
  return strategy;
}

bool stands_in(const record::Record& record) {
  return std::ranges::any_of(
      record.notes, [](const std::string& note) { return note.find("ranks were simulated") != std::string::npos; });
}

void check_equal(const record::Record& some, const record::Record& all) {
  REQUIRE(some.error.empty());
  REQUIRE(all.error.empty());
  CHECK(some.simulated_s == Approx(all.simulated_s).epsilon(1e-9));
  CHECK(some.bytes == all.bytes);
  CHECK(some.messages == all.messages);
  CHECK(some.samples_seen == all.samples_seen);
  REQUIRE(some.ranks.size() == all.ranks.size());
  for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
    CAPTURE(rank);
    const record::RankUse &a = some.ranks[rank], &b = all.ranks[rank];
    CHECK(a.compute_s == Approx(b.compute_s).epsilon(1e-9).margin(1e-12));
    CHECK(a.communicate_s == Approx(b.communicate_s).epsilon(1e-9).margin(1e-12));
    CHECK(a.wait_s == Approx(b.wait_s).epsilon(1e-9).margin(1e-12));
    CHECK(a.bytes_sent == b.bytes_sent);
    CHECK(a.bytes_received == b.bytes_received);
    CHECK(a.memory_bytes == b.memory_bytes);
  }
  REQUIRE(some.links.size() == all.links.size());
  for (std::size_t i = 0; i < all.links.size(); ++i) {
    const auto same = std::ranges::find(some.links, all.links[i].link, &record::LinkUse::link);
    REQUIRE(same != some.links.end());
    CHECK(same->bytes == all.links[i].bytes);
  }
  REQUIRE(some.curve.size() == all.curve.size());
  CHECK(some.curve.back().bytes == all.curve.back().bytes);
  CHECK(*some.curve.back().flops == Approx(*all.curve.back().flops).epsilon(1e-9));
  CHECK(*some.curve.back().hosts_busy_s == Approx(*all.curve.back().hosts_busy_s).epsilon(1e-9));
}

}  // namespace

TEST_CASE(
    "one rank of each stage stands for all that are alike: times, bytes, links and memory are those of every rank") {
  auto zero = std::make_shared<strategies::Zero>();
  zero->bucket_bytes = 3000.0;
  struct Case {
    std::int64_t tensor, pipeline;
    int data;
    std::shared_ptr<const strategies::Strategy> strategy;
    bool sequence_parallel;
  };
  const auto plain = around_a_ring<strategies::Allreduce>();
  const std::vector<Case> cases{{2, 2, 2, plain, false},        {4, 3, 2, in_buckets(), true},
                                {1, 3, 4, in_buckets(), false}, {2, 1, 2, in_buckets(), true},
                                {2, 2, 4, zero, false},         {4, 1, 1, plain, false}};
  for (const Case& test_case : cases)
    for (const bool on_hosts : {false, true}) {
      CAPTURE(test_case.tensor, test_case.pipeline, test_case.data, on_hosts);
      MeshTrial trial = mesh_of(test_case.tensor, test_case.pipeline, test_case.data, test_case.strategy);
      trial.parallel.sequence_parallel = test_case.sequence_parallel;
      trial.parallel.scatter_gather = test_case.strategy == zero;
      if (on_hosts) {
        auto hosts = std::make_unique<cluster::GpuHosts>();
        hosts->devices = 4;
        hosts->nics = 4;
        trial.cluster.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
      }
      const record::Record some = trial.run().record;
      trial.parallel.simulate = Simulate::all;
      const record::Record all = trial.run().record;
      CHECK(stands_in(some));
      CHECK_FALSE(stands_in(all));
      check_equal(some, all);
    }
}

TEST_CASE("ranks along context and expert are all simulated, for those along tensor that are like them") {
  for (const auto& [context, expert] : {std::pair{2, 1}, {1, 2}, {2, 2}}) {
    CAPTURE(context, expert);
    MeshTrial trial = mesh_of(2, 2, 2, in_buckets());
    if (expert > 1) trial.model = experts_trial(4, true).model;
    trial.parallel.expert = expert;
    trial.parallel.context = context;
    set_workers(trial, 2);
    const record::Record some = trial.run().record;
    trial.parallel.simulate = Simulate::all;
    const record::Record all = trial.run().record;
    CHECK(stands_in(some));
    check_equal(some, all);
    for (std::size_t rank = 0; rank < all.ranks.size(); ++rank) {
      CHECK(some.ranks[rank].mesh.context == all.ranks[rank].mesh.context);
      CHECK(some.ranks[rank].mesh.expert == all.ranks[rank].mesh.expert);
      const auto seconds = [&](const record::Record& record) {
        const record::MeshUse& mesh_use = record.ranks[rank].mesh;
        return expert > 1 ? *mesh_use.expert_s : *mesh_use.context_s;
      };
      CHECK(seconds(some) == Approx(seconds(all)).epsilon(1e-9));
    }
  }
}

TEST_CASE("ranks whose messages may meet on a link are simulated one by one") {
  MeshTrial trial = mesh_of(4, 2, 1, in_buckets());
  trial.model = transformer_trial(4, false).model;  // no sum between hosts, so that collectives can be computed
  auto hosts = std::make_unique<cluster::GpuHosts>();
  hosts->devices = 4;
  hosts->nics = 1;  // hops of four devices go through one
  trial.cluster.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(hosts));
  CHECK_FALSE(stands_in(trial.run().record));
}

TEST_CASE("ranks whose messages pass over more links than those of the ranks before them are simulated one by one") {
  // On a torus of 3 x 2 hosts a stage of the first replica sends to the next stage over one cable, and of the second
  // replica over two.
  MeshTrial trial = mesh_of(1, 3, 2, in_buckets());
  trial.cluster.topology.choose("torus");
  const record::Record one_by_one = trial.run().record;
  CHECK_FALSE(stands_in(one_by_one));
  trial.parallel.simulate = Simulate::all;
  check_equal(one_by_one, trial.run().record);
}

TEST_CASE("ranks are simulated one by one where numbers are computed, or a host differs") {
  MeshTrial numbers = mesh_of(2, 2, 2, in_buckets());
  numbers.training.numbers = true;
  numbers.data = text_data(numbers.rows, 8, 12);
  CHECK_FALSE(stands_in(numbers.run().record));
  MeshTrial slow = mesh_of(2, 2, 2, in_buckets());
  slow.cluster.relative_speeds = {1.0, 0.5};
  CHECK_FALSE(stands_in(slow.run().record));
}

}  // namespace stand_ins_test
