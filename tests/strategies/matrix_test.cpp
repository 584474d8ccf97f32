// Every strategy under every kind of straggler, with every recovery that it allows, and kills at random times.
#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "share.h"
#include "strategies/compressed.h"
#include "strategies/fragile.h"
#include "strategies/gossip/ad_psgd.h"
#include "strategies/gossip/sgp.h"
#include "strategies/replicas/local_sgd.h"

namespace matrix_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

struct Entry {
  std::string name;
  std::shared_ptr<const strategies::Strategy> strategy;
  bool remembers_codes = false;  ///< parts left out are kept; a new generation of ranks has none

  training::Program program() const { return strategies::program(strategy); }
};

template <class Strategy, class... Changes>
Entry entry(const std::string& name, const Changes&... changes) {
  auto made = around_a_ring<Strategy>();
  (changes(*made), ...);
  return {name, made, false};
}

std::vector<Entry> every_strategy() {
  using strategies::ParameterServer;
  std::vector<Entry> all;
  for (const auto& each : strategies::registry().entries())
    if (each.about.kind != "multitask" && each.about.kind != "sparse_parameter_server")  // need data of their own
      all.push_back({std::string(each.about.kind), each.make(), false});
  all.push_back(entry<ParameterServer>("bsp, three shards", [](auto& ps) { ps.shards = 3; }));
  all.push_back(entry<ParameterServer>("asp", [](auto& ps) { ps.consistency = Consistency::asp; }));
  all.push_back(entry<ParameterServer>("asp, two shards", [](auto& ps) {
    ps.consistency = Consistency::asp;
    ps.shards = 2;
  }));
  all.push_back(entry<ParameterServer>("ssp", [](auto& ps) {
    ps.consistency = Consistency::ssp;
    ps.shards = 2;
  }));
  all.push_back(entry<ParameterServer>("backup worker", [](auto& ps) { ps.backup_workers = 1; }));
  all.push_back(entry<ParameterServer>("backup worker, cancelled", [](auto& ps) {
    ps.backup_workers = 1;
    ps.when_late = strategies::Late::cancel;
  }));
  all.push_back(entry<ParameterServer>("K-batch-sync", [](auto& ps) { ps.k_batch = 3; }));
  all.push_back(entry<strategies::MapReduce>("mapreduce, splits", [](auto& mr) {
    mr.splits = 3;
    mr.speculative = true;
  }));
  all.push_back(entry<strategies::Gossip>("gossip, complete", [](auto& gossip) { gossip.graph.choose("complete"); }));
  all.push_back(entry<strategies::Gossip>("gossip, hypercube, overlapped", [](auto& gossip) {
    gossip.graph.choose("hypercube");
    gossip.overlap = true;
  }));
  all.push_back(entry<strategies::Sgp>("sgp, overlapped", [](auto& sgp) { sgp.overlap = true; }));
  all.push_back(entry<strategies::Sgp>("sgp, path, all", [](auto& sgp) {
    sgp.graph.choose("path");
    sgp.one_peer = false;
  }));
  all.push_back(entry<strategies::AdPsgd>("ad_psgd, star", [](auto& ad_psgd) { ad_psgd.graph.choose("star"); }));
  using tests::Compressor;
  all.push_back(entry<strategies::Allreduce>("allreduce, top_k with memory", [](auto& allreduce) {
    allreduce.compression = Compressor("top_k", {.error_feedback = true, .k = 2}).slot();
  }));
  all.push_back(entry<ParameterServer>("asp, codes both ways", [](auto& ps) {
    ps.consistency = Consistency::asp;
    ps.shards = 2;
    ps.compression = Compressor("sign", {.error_feedback = true}).slot();
    ps.parameter_compression = Compressor("int8").slot();
  }));
  all.push_back(entry<strategies::LocalSgd>("local_sgd, int8",
                                            [](auto& local) { local.compression = Compressor("int8").slot(); }));
  all.push_back(entry<strategies::Allreduce>(
      "allreduce, random_k", [](auto& allreduce) { allreduce.compression = Compressor("random_k", {.k = 4}).slot(); }));
  all.push_back(entry<ParameterServer>("bsp, qsgd both ways", [](auto& ps) {
    ps.compression = Compressor("qsgd").slot();
    ps.parameter_compression = Compressor("qsgd").slot();
  }));
  all.push_back(entry<strategies::Gossip>("gossip, float16",
                                          [](auto& gossip) { gossip.compression = Compressor("float16").slot(); }));
  all.push_back(entry<strategies::Gossip>(
      "gossip, copies", [](auto& gossip) { gossip.compression = Compressor("top_k", {.k = 2}).slot(); }));
  all.push_back(entry<strategies::GradientTracking>(
      "gradient_tracking, float16", [](auto& tracking) { tracking.compression = Compressor("float16").slot(); }));
  all.push_back(entry<strategies::Sgp>("sgp, overlapped, float16", [](auto& sgp) {
    sgp.overlap = true;
    sgp.compression = Compressor("float16").slot();
  }));
  all.push_back(entry<strategies::AdPsgd>("ad_psgd, int8",
                                          [](auto& ad_psgd) { ad_psgd.compression = Compressor("int8").slot(); }));
  all.push_back(entry<strategies::AsyncBroadcast>("async_broadcast, sign with memory", [](auto& broadcast) {
    broadcast.compression = Compressor("sign", {.error_feedback = true}).slot();
  }));
  for (Entry& each : all)
    each.remembers_codes = each.name == "allreduce, top_k with memory" || each.name == "gossip, copies";
  return all;
}

Trial short_trial(const Entry& entry, Recovery recovery) {
  Trial trial = fragile(entry.program());
  trial.workers = static_cast<int>(entry.strategy->workers(4));
  trial.stop.steps = entry.strategy->traits(4).lockstep() ? 12 : 48;
  trial.training.checkpoint_every_steps = 3;
  trial.cluster.failures.recovery = recovery;
  return trial;
}

/// One host's crash at that time: of worker or server number `which` modulo how many there are.
Crash kill(const Trial& trial, int which, double at_s, Recovery recovery) {
  const int servers = trial.program.traits(trial.workers).servers;
  const int rank = which % (trial.workers + servers);
  Crash one = crash(rank, at_s, recovery == Recovery::shrink ? std::nullopt : std::optional(repair_s));
  if (rank >= trial.workers) {
    one.rank = rank - trial.workers;
    one.role = cluster::Role::server;
  }
  return one;
}

/// With the only server gone for good there is nothing to shrink to.
bool fatal(const Trial& trial, const Crash& crash, Recovery recovery) {
  if (recovery != Recovery::shrink) return false;
  const int servers = trial.program.traits(trial.workers).servers;
  return (crash.role == cluster::Role::server && servers == 1) || trial.workers == 1;
}

bool keeps_all(Recovery recovery) {
  return recovery == Recovery::restart || recovery == Recovery::wait || recovery == Recovery::elastic;
}

void kills(int times) {
  Share share;
  for (const Entry& entry : every_strategy())
    for (const Recovery recovery : entry.strategy->traits(4).recoveries) {
      if (!share.next()) continue;
      Trial trial = short_trial(entry, recovery);
      const Outcome undisturbed = trial.run();
      base::Stream stream({.seed = 4, .purpose = base::Purpose::test});
      for (int i = 0; i < times; ++i) {
        const double at_s = stream.uniform() * undisturbed.record.simulated_s;
        const Crash one = kill(trial, i, at_s, recovery);
        CAPTURE(entry.name, name(recovery), i, at_s, one.rank, one.role == cluster::Role::server);
        trial.cluster.failures.crashes = {one};
        const Outcome outcome = trial.run();
        if (fatal(trial, one, recovery)) {
          CHECK(outcome.record.status == record::Status::failed);
          CHECK(outcome.record.error.find(" is left: ") != std::string::npos);
          continue;
        }
        CAPTURE(outcome.record.error);
        check_sound(outcome.record);
        CHECK(outcome.record.steps == trial.stop.steps);
        // Ranks that go on without the lost worker's rows learn less of them; most is learnt all the same.
        CHECK(*outcome.record.final_loss < 0.5 * *outcome.record.curve.front().loss);
        if (keeps_all(recovery)) CHECK(*outcome.record.final_loss < 1.6 * *undisturbed.record.final_loss);
        if (recovery == Recovery::restart && trial.program.traits(trial.workers).lockstep() && !entry.remembers_codes)
          CHECK(outcome.final_parameters() == undisturbed.final_parameters());
      }
    }
}

}  // namespace

TEST_CASE("every strategy under every kind of straggler and every recovery it allows comes to a sensible end") {
  Share share;
  for (const auto& straggler : cluster::stragglers().entries()) {
    if (straggler.about.kind == "trace") continue;  // a file of any of the others
    for (const Entry& entry : every_strategy())
      for (const Recovery recovery : entry.strategy->traits(4).recoveries) {
        if (!share.next()) continue;
        CAPTURE(straggler.about.kind, entry.name, name(recovery));
        Trial trial = short_trial(entry, recovery);
        trial.cluster.stragglers.choose(straggler.about.kind);
        std::vector<Crash> crashes{kill(trial, 2, 7e-3, recovery)};
        if (recovery != Recovery::shrink) crashes.push_back(kill(trial, 4, 0.02, recovery));
        trial.cluster.failures.crashes = crashes;
        trial.cluster.watchdog.simulated_s = 1e6;
        const Outcome outcome = trial.run();
        if (fatal(trial, crashes[0], recovery)) continue;
        CAPTURE(outcome.record.error);
        check_sound(outcome.record);
        CHECK(outcome.record.steps == trial.stop.steps);
        CHECK(*outcome.record.final_loss < 0.5 * *outcome.record.curve.front().loss);
      }
  }
}

TEST_CASE("a kill at random times leaves every strategy with a sensible result") {
  kills(Share().whole() ? 24 : 12);  // the gate, which has a share of the strategies, looks at fewer times
}

TEST_CASE("with a recovery that keeps all data the excess loss is the undisturbed run's") {
  Trial optimum = fragile(single());
  optimum.workers = 1;
  optimum.stop.steps = 5000;
  const double least = *optimum.run().record.final_loss;
  Share share;
  for (const Entry& entry : every_strategy())
    for (const Recovery recovery : entry.strategy->traits(4).recoveries) {
      if (!keeps_all(recovery) || !share.next()) continue;
      CAPTURE(entry.name, name(recovery));
      Trial trial = short_trial(entry, recovery);
      *trial.stop.steps *= 2;
      const Outcome undisturbed = trial.run();
      trial.cluster.failures.crashes = {crash(trial.workers - 1, 0.43 * undisturbed.record.simulated_s, 0.01)};
      const Outcome outcome = trial.run();
      check_sound(outcome.record);
      // Synchronous strategies do the same steps. Others apply, drop or mix gradients in another order, and easgd's
      // replicas begin again at the centre, and what compressors left out is lost: of what there was to learn a
      // hundredth may be missing.
      const double missing = trial.program.traits(trial.workers).lockstep() && !entry.remembers_codes
                                 ? 0.0
                                 : 0.01 * (*outcome.record.curve.front().loss - least);
      CHECK(*outcome.record.final_loss - least <= 1.05 * (*undisturbed.record.final_loss - least) + missing);
    }
}

}  // namespace matrix_test
