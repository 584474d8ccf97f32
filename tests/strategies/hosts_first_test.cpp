// hosts_first: the devices of a host as one worker. Its numbers are those of the strategy with as many workers as there
// are hosts.
#include <memory>
#include <string>
#include <vector>

#include "record/record.h"
#include "share.h"
#include "strategies/fragile.h"
#include "strategies/hosts_of_devices.h"
#include "strategies/replicas/block_sync.h"
#include "strategies/replicas/diloco.h"
#include "strategies/sharded/zero.h"

namespace hosts_first_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Allreduce;
using strategies::DataParallel;
using strategies::HostsFirst;
using strategies::ParameterServer;
using strategies::Zero;

namespace {

constexpr int hosts = 2;

Trial small(training::Program program) {
  Trial trial{.program = std::move(program), .workers = hosts, .rows = 48, .features = 12};
  trial.flops_a_row = 1e5;
  trial.layers = 4;
  trial.stop.steps = 8;
  trial.evaluate.every_steps = 1;
  return trial;
}

/// Strategies in lockstep, each as it sends in one piece and in several.
std::vector<Case> in_lockstep() {
  const auto in_buckets = [](auto& options) { options.bucket_bytes = 8.0; };  // a layer each
  const auto slow_average = [](strategies::LocalSgd& options) { options.local_steps = 3; };
  return {
      named<strategies::MapReduce>("mapreduce"),
      named<strategies::MapReduce>("mapreduce in buckets", in_buckets),
      named<ParameterServer>("parameter_server"),
      named<ParameterServer>("parameter_server in buckets", in_buckets),
      named<ParameterServer>("colocated servers",
                             [](ParameterServer& options) {
                               options.shards = 2;
                               options.placement = strategies::Placement::colocated;
                             }),
      named<strategies::BytePs>("byteps"),
      named<strategies::BytePs>("byteps in buckets", in_buckets),
      named<Allreduce>("allreduce"),
      named<Allreduce>("allreduce in buckets", in_buckets),
      named<Allreduce>("micro-batches",
                       [](Allreduce& options) {
                         options.micro_batches = 3;
                         options.bucket_bytes = 8.0;
                         options.no_sync = true;
                       }),
      named<DataParallel>("data_parallel"),
      named<DataParallel>("data_parallel in buckets", in_buckets),
      named<Zero>("zero 1"),
      named<Zero>("zero 2", [](Zero& options) { options.stage = 2; }),
      named<strategies::LocalSgd>("local_sgd", slow_average),
      named<strategies::LocalSgd>("local_sgd in buckets",
                                  [&](strategies::LocalSgd& options) {
                                    slow_average(options);
                                    in_buckets(options);
                                  }),
      named<strategies::DiLoCo>("diloco", [](strategies::DiLoCo& options) { options.local_steps = 2; }),
      named<strategies::BlockSync>("block_sync"),
      named<strategies::BlockSync>("block_sync beside the passes",
                                   [](strategies::BlockSync& options) { options.send = strategies::SendOrder::ready; }),
      named<strategies::Gossip>("gossip"),
      named<strategies::Gossip>("gossip in buckets", in_buckets),
      named<strategies::D2>("d2"),
      named<strategies::GradientTracking>("gradient_tracking"),
      named<strategies::Sgp>("sgp"),
      named<strategies::FederatedAveraging>("federated_averaging")};
}

}  // namespace

TEST_CASE("the devices of a host train as one worker with all of their rows") {
  for (const Case& test_case : in_lockstep())
    for (const char* const optimizer : {"sgd", "adam"}) {
      CAPTURE(test_case.name, optimizer);
      Trial workers = small(test_case.plain());
      workers.training.optimizer.choose(optimizer);
      const Outcome one_device = workers.run();
      const Outcome several = on_devices(workers, test_case.on_hosts()).run();
      REQUIRE(one_device.record.error.empty());
      REQUIRE(several.record.error.empty());
      CHECK(several.record.status == record::Status::stopped);
      CHECK(several.record.samples == one_device.record.samples);
      CHECK(several.record.ranks.size() == one_device.record.ranks.size() + hosts * (g - 1));
      REQUIRE(several.evaluated.size() == one_device.evaluated.size());
      for (std::size_t row = 0; row < several.evaluated.size(); ++row)
        CHECK(relative_distance(several.evaluated[row], one_device.evaluated[row]) < 1e-12);
    }
}

TEST_CASE("numbers travel in the format of the wire inside hosts and between them") {
  for (const Case& test_case : in_lockstep()) {
    CAPTURE(test_case.name);
    Trial trial = on_devices(small(test_case.plain()), test_case.on_hosts());
    const record::Record in_float64 = trial.run().record;
    trial.training.wire = training::Wire::float32;
    const record::Record in_float32 = trial.run().record;
    REQUIRE(in_float32.error.empty());
    // Beside numbers that are rounded: rows that are dealt, a host's to its first device and from there to the others;
    // and the weight in each push of sgp.
    const std::int64_t rows_dealt = (hosts - 1) * trial.rows / hosts + trial.rows * (g - 1) / g;
    const std::int64_t whole = test_case.strategy->traits(hosts).deals_rows ? rows_dealt * 8 * (12 + 1)
                               : test_case.name == "sgp"                    ? 8 * hosts
                                                                            : 0;
    CHECK(2 * in_float32.bytes - in_float64.bytes == *trial.stop.steps * whole);
  }
}

TEST_CASE("a clipped gradient is clipped by the norm of all devices' sum") {
  for (const Case& test_case : {named<Allreduce>("allreduce"), named<Zero>("zero")}) {
    CAPTURE(test_case.name);
    Trial workers = small(test_case.plain());
    workers.training.clip_norm = 0.1;
    const Outcome one_device = workers.run(), several = on_devices(workers, test_case.on_hosts()).run();
    CHECK(relative_distance(several.evaluated.back(), one_device.evaluated.back()) < 1e-12);
  }
}

TEST_CASE("hosts of one device each are workers as they are") {
  const Case test_case = named<ParameterServer>("parameter_server");
  const Trial workers = small(test_case.plain());
  const Outcome plain = workers.run(), on_hosts = on_devices(workers, test_case.on_hosts(1), 1).run();
  CHECK(on_hosts.record.simulated_s == plain.record.simulated_s);
  CHECK(on_hosts.evaluated == plain.evaluated);
}

TEST_CASE("asynchronous servers and replicas take the gradients of whole hosts") {
  const std::vector<Case> all{
      named<ParameterServer>("asp", [](ParameterServer& o) { o.consistency = Consistency::asp; }),
      named<ParameterServer>("ssp in buckets",
                             [](ParameterServer& o) {
                               o.consistency = Consistency::ssp;
                               o.bucket_bytes = 8.0;
                             }),
      named<strategies::Easgd>("easgd"), named<strategies::AdPsgd>("ad_psgd"),
      named<strategies::AsyncBroadcast>("async_broadcast")};
  for (const Case& test_case : all) {
    CAPTURE(test_case.name);
    Trial trial = small(test_case.plain());
    trial.training.desynchronise = 0.05;
    trial.stop.steps = 40;
    const Outcome outcome = on_devices(trial, test_case.on_hosts()).run();
    const Outcome again = on_devices(trial, test_case.on_hosts()).run();
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.final_loss < 0.5 * outcome.record.curve.front().loss.value());
    CHECK(outcome.record.samples % (trial.rows / hosts) == 0);
    CHECK(outcome.evaluated == again.evaluated);
  }
}

TEST_CASE("only the first devices of hosts send over the network") {
  const Case test_case = named<ParameterServer>("parameter_server");
  Trial trial = on_devices(small(test_case.plain()), test_case.on_hosts());
  trial.training.numbers = false;
  trial.stop.steps = 5;
  const record::Record record = trial.run().record;
  const double M = 8.0 * 12, all_steps = 5;
  for (int rank = 0; rank < hosts * g; ++rank) {
    CAPTURE(rank);
    const int device = rank % g;
    // The parameters go from device to device, but the last has nobody behind it; sums go back.
    const double around = (device + 1 < g ? M : 0.0) + (device > 0 ? M : 0.0), pushed = device == 0 ? M : 0.0;
    CHECK(static_cast<double>(record.ranks.at(static_cast<std::size_t>(rank)).bytes_sent) ==
          all_steps * (around + pushed));
  }
}

TEST_CASE("a crash of any host leaves the parameters that the training would have had") {
  for (const Recovery recovery : {Recovery::restart, Recovery::wait})
    for (const Case& test_case : {named<ParameterServer>("parameter_server"), named<Allreduce>("allreduce"),
                                  named<DataParallel>("data_parallel"), named<strategies::Gossip>("gossip")}) {
      Trial workers = fragile(test_case.plain());
      workers.workers = hosts;
      const Trial trial = on_devices(workers, test_case.on_hosts());
      const Outcome undisturbed = trial.run();
      REQUIRE(undisturbed.record.error.empty());
      const double step_s = undisturbed.record.simulated_s / steps;
      for (int part = 0; part < 12; ++part) {
        CAPTURE(test_case.name, part, static_cast<int>(recovery));
        const Outcome outcome =
            with_crashes(trial, {crash(part % (hosts * g), (5.0 + part / 12.0) * step_s)}, recovery).run();
        REQUIRE(outcome.record.error.empty());
        CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s);
        if (test_case.name == "gossip" && recovery == Recovery::wait) continue;  // a lost replica is another's
        CHECK(relative_distance(outcome.evaluated.back(), undisturbed.evaluated.back()) < 1e-12);
      }
    }
}

TEST_CASE("a host that crashes while others have messages under way stops a training, and ends none") {
  Share share(7);  // each share has crashes of all hosts
  for (const Case& test_case : in_lockstep())
    for (const Recovery recovery : {Recovery::restart, Recovery::wait}) {
      Trial workers = fragile(test_case.plain());
      workers.workers = hosts;
      const Trial trial = on_devices(workers, test_case.on_hosts());
      const double step_s = trial.run().record.simulated_s / steps;
      for (int part = 0; part < 16; ++part) {
        if (!share.next()) continue;
        CAPTURE(test_case.name, part, static_cast<int>(recovery));
        const Outcome outcome =
            with_crashes(trial, {crash(part % (hosts * g), (2.0 + part / 8.0) * step_s)}, recovery).run();
        REQUIRE(outcome.record.error.empty());
        CHECK(outcome.record.status == record::Status::stopped);
        CHECK(outcome.record.final_loss < outcome.record.curve.front().loss.value());
      }
    }
}

TEST_CASE("the first device holds what the formula says, and the others no more") {
  constexpr std::int64_t d = 1'600;
  const std::vector<Case> all{
      named<Allreduce>("allreduce"),
      named<Allreduce>("in buckets", [](Allreduce& options) { options.bucket_bytes = 8.0 * d / 4; }),
      named<Zero>("zero"),
      named<ParameterServer>("parameter_server"),
      named<strategies::LocalSgd>("local_sgd"),
      named<strategies::Gossip>("gossip")};
  for (const Case& test_case : all) {
    CAPTURE(test_case.name);
    Trial workers{.program = test_case.plain(), .workers = hosts, .rows = 96, .features = d};
    workers.batch = 48;
    workers.layers = 8;
    workers.kept = 40;
    workers.flops_a_row = 1e6;
    workers.training.numbers = false;
    workers.training.optimizer.choose("adam");
    workers.stop.steps = 2;
    const Trial trial = on_devices(workers, test_case.on_hosts());
    const record::Record record = trial.run().record;
    const training::MemoryTerms terms{.layers = trial.watched()->layers(trial.problem()),
                                      .bytes = {},
                                      .workers = hosts * g,
                                      .rows = 48 / (hosts * g),
                                      .optimizer_vectors = 2};
    const double formula = HostsFirst(test_case.strategy, g).memory(terms).sum();
    CHECK(record.ranks.at(0).memory_bytes.value() == Approx(formula).epsilon(0.02));
    for (int rank = 0; rank < hosts * g; ++rank)
      CHECK(record.ranks[static_cast<std::size_t>(rank)].memory_bytes.value() <= record.ranks[0].memory_bytes.value());
  }
}

TEST_CASE("hosts first is the same on any number of threads") {
  const Case test_case = named<Allreduce>("allreduce", [](Allreduce& options) { options.bucket_bytes = 8.0; });
  Trial trial = on_devices(small(test_case.plain()), test_case.on_hosts());
  const Outcome on_one = trial.run();
  trial.threads = 4;
  CHECK(trial.run().evaluated == on_one.evaluated);
}

}  // namespace hosts_first_test
