// hosts_first: the devices of a host as one worker. Its numbers are those of the strategy with as many workers as there
// are hosts; its times follow a recurrence.
#include "strategies/hosts/hosts_first.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/topologies/star.h"
#include "record/record.h"
#include "strategies/fragile.h"
#include "strategies/replicas/block_sync.h"
#include "strategies/replicas/diloco.h"
#include "strategies/sharded/zero.h"
#include "strategies/timed_layers.h"

namespace hosts_first_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Allreduce;
using strategies::DataParallel;
using strategies::HostsFirst;
using strategies::ParameterServer;
using strategies::Strategy;
using strategies::Zero;

namespace {

constexpr int g = 4;  // devices of a host
constexpr int hosts = 2;
constexpr double device_B = 1e10;
constexpr double device_alpha = 5e-6;

struct Case {
  std::string name;
  std::shared_ptr<const Strategy> strategy;

  training::Program plain() const { return strategies::program(strategy); }
  training::Program on_hosts(int devices = g) const {
    return strategies::program(std::make_shared<HostsFirst>(strategy, devices));
  }
};

template <class Kind>
Case named(
    const std::string& name, const std::function<void(Kind&)>& change = [](Kind&) {}) {
  auto strategy = std::make_shared<Kind>();
  change(*strategy);
  return {name, strategy};
}

/// Hosts of several devices, whose links are faster than the network.
Trial on_devices(Trial trial, training::Program program, int devices = g) {
  trial.workers *= devices;
  trial.cluster.workers = trial.workers;
  trial.program = std::move(program);
  auto star = std::make_unique<cluster::Star>();
  star->devices_per_host = devices;
  star->device_bandwidth_bytes_per_s = device_B;
  star->device_latency_s = device_alpha;
  trial.cluster.topology = base::Slot<cluster::Topology>(cluster::topologies(), std::move(star));
  return trial;
}

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
  for (const Case& its : in_lockstep())
    for (const char* const optimizer : {"sgd", "adam"}) {
      CAPTURE(its.name, optimizer);
      Trial workers = small(its.plain());
      workers.training.optimizer.choose(optimizer);
      const Outcome one_device = workers.run();
      const Outcome several = on_devices(workers, its.on_hosts()).run();
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
  for (const Case& its : in_lockstep()) {
    CAPTURE(its.name);
    Trial trial = on_devices(small(its.plain()), its.on_hosts());
    const record::Record in_float64 = trial.run().record;
    trial.training.wire = training::Wire::float32;
    const record::Record in_float32 = trial.run().record;
    REQUIRE(in_float32.error.empty());
    // Beside numbers that are rounded: rows that are dealt, a host's to its first device and from there to the others;
    // and the weight in each push of sgp.
    const std::int64_t rows_dealt = (hosts - 1) * trial.rows / hosts + trial.rows * (g - 1) / g;
    const std::int64_t whole = its.strategy->traits(hosts).deals_rows ? rows_dealt * 8 * (12 + 1)
                               : its.name == "sgp"                    ? 8 * hosts
                                                                      : 0;
    CHECK(2 * in_float32.bytes - in_float64.bytes == *trial.stop.steps * whole);
  }
}

TEST_CASE("all devices of a host read their rows at one time") {
  for (const bool in_buckets : {false, true})
    for (const std::int64_t prefetch : {0, 2}) {
      CAPTURE(in_buckets, prefetch);
      const Case its = named<ParameterServer>("parameter_server", [&](ParameterServer& options) {
        if (in_buckets) options.bucket_bytes = 8.0;
      });
      constexpr std::int64_t updates = 3;
      Trial trial = on_devices(timed_layers(its.plain(), hosts, 1'000, 1, updates), its.on_hosts());
      trial.rows *= g;
      const double without_s = trial.run().record.simulated_s;
      trial.training.input.from = training::InputFrom::local;
      trial.training.input.bytes_per_sample = 1e6;
      trial.training.input.bandwidth_bytes_per_s = 1e9;
      trial.training.input.prefetch = prefetch;
      const double read_s = 2 * 1e6 / 1e9;  // two rows a device
      const double more_s = trial.run().record.simulated_s - without_s;
      CHECK(more_s <= updates * read_s * (1.0 + 1e-9));
      if (prefetch == 0) CHECK(more_s == Approx(updates * read_s).epsilon(1e-9));
    }
}

TEST_CASE("a clipped gradient is clipped by the norm of all devices' sum") {
  for (const Case& its : {named<Allreduce>("allreduce"), named<Zero>("zero")}) {
    CAPTURE(its.name);
    Trial workers = small(its.plain());
    workers.training.clip_norm = 0.1;
    const Outcome one_device = workers.run(), several = on_devices(workers, its.on_hosts()).run();
    CHECK(relative_distance(several.evaluated.back(), one_device.evaluated.back()) < 1e-12);
  }
}

TEST_CASE("hosts of one device each are workers as they are") {
  const Case its = named<ParameterServer>("parameter_server");
  const Trial workers = small(its.plain());
  const Outcome plain = workers.run(), on_hosts = on_devices(workers, its.on_hosts(1), 1).run();
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
  for (const Case& its : all) {
    CAPTURE(its.name);
    Trial trial = small(its.plain());
    trial.training.desynchronise = 0.05;
    trial.stop.steps = 40;
    const Outcome outcome = on_devices(trial, its.on_hosts()).run();
    const Outcome again = on_devices(trial, its.on_hosts()).run();
    REQUIRE(outcome.record.error.empty());
    CHECK(outcome.record.final_loss < 0.5 * outcome.record.curve.front().loss.value());
    CHECK(outcome.record.samples % (trial.rows / hosts) == 0);
    CHECK(outcome.evaluated == again.evaluated);
  }
}

TEST_CASE("a step costs a chain around the host before the gradient, and one after it") {
  // 8 d bytes: below half a MiB one piece, then one each.
  for (const std::int64_t d : {1'000, 65'536, 200'000, 6'000'000}) {
    CAPTURE(d);
    const Case its = named<ParameterServer>("parameter_server");
    const Trial workers = timed_layers(its.plain(), hosts, d, 1, 3);
    Trial devices = on_devices(workers, its.on_hosts());
    devices.rows = g * workers.rows;  // each device has as many as a worker had
    const double M = 8.0 * static_cast<double>(d), c = std::clamp(std::ceil(M / (512.0 * 1024)), 1.0, 64.0);
    const double around_s = (g - 2 + c) * (device_alpha + M / c / device_B);
    const double alone_s = workers.run().record.simulated_s, step_s = devices.run().record.simulated_s - alone_s;
    CHECK(step_s == Approx(3 * 2 * around_s).epsilon(1e-9));
  }
}

TEST_CASE("rows that come with the parameters go from the first device to each of its host") {
  for (const bool in_buckets : {false, true}) {
    CAPTURE(in_buckets);
    const Case its = named<DataParallel>("data_parallel", [&](DataParallel& options) {
      if (in_buckets) options.bucket_bytes = 8.0;
    });
    constexpr std::int64_t d = 1'000, updates = 3;
    const Trial workers = timed_layers(its.plain(), hosts, d, 1, updates);
    Trial devices = on_devices(workers, its.on_hosts());
    devices.rows = g * workers.rows;            // each device has as many as a worker had
    const double a_device = 8.0 * (d + 1) * 2;  // bytes of its two rows, with their targets
    const double around_s = (g - 1) * (device_alpha + 8.0 * d / device_B);
    const double inside_s = device_alpha + (g - 1) * a_device / device_B, between_s = (g - 1) * a_device / B;
    const double difference_s = devices.run().record.simulated_s - workers.run().record.simulated_s;
    CHECK(difference_s == Approx(updates * (between_s + inside_s + 2 * around_s)).epsilon(1e-9));
  }
}

TEST_CASE("additions inside a host take the time of a pass over each piece") {
  constexpr std::int64_t d = 1'000;
  const Case its = named<ParameterServer>("parameter_server");
  Trial workers = timed_layers(its.plain(), hosts, d, 1, 3);
  workers.cluster.charge_reductions = true;
  Trial devices = on_devices(workers, its.on_hosts());
  devices.rows = g * workers.rows;
  const double around_s = (g - 1) * (2 * (device_alpha + 8.0 * d / device_B) + d / speed);
  CHECK(devices.run().record.simulated_s - workers.run().record.simulated_s == Approx(3 * around_s).epsilon(1e-9));
}

TEST_CASE("sums of layers inside a host are beside the backward pass") {
  constexpr int L = 4, steps_timed = 3;
  for (const std::int64_t layer_numbers : {2'000, 60'000, 655'360}) {
    CAPTURE(layer_numbers);
    const std::int64_t d = L * layer_numbers;
    const Case its = named<Allreduce>("allreduce", [](Allreduce& options) { options.bucket_bytes = 8.0; });
    Trial workers = timed_layers(its.plain(), hosts, d, L, steps_timed);
    Trial devices = on_devices(workers, its.on_hosts());
    devices.rows = g * workers.rows;
    const double m = 8.0 * static_cast<double>(layer_numbers);
    const auto pieces = [](double bytes) { return std::clamp(std::ceil(bytes / (512.0 * 1024)), 1.0, 64.0); };
    const auto piece_s = [&](double bytes) { return device_alpha + bytes / pieces(bytes) / device_B; };
    const auto around_s = [&](double bytes) { return (g - 2 + pieces(bytes)) * piece_s(bytes); };
    // The first device begins once it has sent all pieces; the last, where each sum begins, has them later. Half of a
    // gradient is its forward pass.
    const double first_s = pieces(L * m) * piece_s(L * m), last_s = around_s(L * m);
    const double t_c = 2 * 4e6 / speed, allreduce_s = 2 * (alpha + m / 2 / B);
    std::vector<double> through, summed;  // the ends of a layer's backward pass, and of its sum inside the host
    for (int i = 0; i < L; ++i) {
      through.push_back(first_s + t_c / 2 * (1.0 + (i + 1.0) / L));
      summed.push_back(through.back() - first_s + last_s + around_s(m));
    }
    double over_s = 0.0;
    for (std::size_t i = 0; i < L; ++i) {
      // The pass looks for sums that have come whenever it is through with a layer; at the end it waits for them.
      const auto look = std::find_if(through.begin(), through.end(), [&](double at) { return at >= summed[i]; });
      over_s = std::max(over_s, look == through.end() ? std::max(summed[i], through.back()) : *look) + allreduce_s;
    }
    CHECK(devices.run().record.simulated_s == Approx(steps_timed * over_s).epsilon(1e-9));
  }
}

TEST_CASE("only the first devices of hosts send over the network") {
  const Case its = named<ParameterServer>("parameter_server");
  Trial trial = on_devices(small(its.plain()), its.on_hosts());
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

TEST_CASE("a crash of any device leaves the parameters that the training would have had") {
  for (const Recovery recovery : {Recovery::restart, Recovery::wait})
    for (const Case& its : {named<ParameterServer>("parameter_server"), named<Allreduce>("allreduce"),
                            named<DataParallel>("data_parallel"), named<strategies::Gossip>("gossip")}) {
      Trial workers = fragile(its.plain());
      workers.workers = hosts;
      const Trial trial = on_devices(workers, its.on_hosts());
      const Outcome undisturbed = trial.run();
      REQUIRE(undisturbed.record.error.empty());
      const double step_s = undisturbed.record.simulated_s / steps;
      for (int part = 0; part < 12; ++part) {
        CAPTURE(its.name, part, static_cast<int>(recovery));
        const Outcome outcome =
            with_crashes(trial, {crash(part % (hosts * g), (5.0 + part / 12.0) * step_s)}, recovery).run();
        REQUIRE(outcome.record.error.empty());
        CHECK(outcome.record.simulated_s > undisturbed.record.simulated_s);
        if (its.name == "gossip" && recovery == Recovery::wait) continue;  // a lost replica is another's
        CHECK(relative_distance(outcome.evaluated.back(), undisturbed.evaluated.back()) < 1e-12);
      }
    }
}

TEST_CASE("a device that crashes while others have messages under way stops a training, and ends none") {
  for (const Case& its : in_lockstep())
    for (const Recovery recovery : {Recovery::restart, Recovery::wait}) {
      Trial workers = fragile(its.plain());
      workers.workers = hosts;
      const Trial trial = on_devices(workers, its.on_hosts());
      const double step_s = trial.run().record.simulated_s / steps;
      for (int part = 0; part < 16; ++part) {
        CAPTURE(its.name, part, static_cast<int>(recovery));
        const Outcome outcome =
            with_crashes(trial, {crash(part % (hosts * g), (2.0 + part / 8.0) * step_s)}, recovery).run();
        REQUIRE(outcome.record.error.empty());
        CHECK(outcome.record.status == record::Status::stopped);
        CHECK(outcome.record.final_loss < outcome.record.curve.front().loss.value());
      }
    }
}

TEST_CASE("parameters and sums go around a host once a step, whatever the micro-batches") {
  const auto simulated = [](std::int64_t micro_batches, bool no_sync, std::int64_t& bytes) {
    const Case its = named<Allreduce>("allreduce", [&](Allreduce& options) {
      options.micro_batches = micro_batches;
      options.no_sync = no_sync;
    });
    Trial workers = timed_layers(its.plain(), hosts, 60'000, 1, 3);
    workers.rows = 24;
    const record::Record record = on_devices(workers, its.on_hosts()).run().record;
    REQUIRE(record.error.empty());
    bytes = record.bytes;
    return record.simulated_s;
  };
  std::int64_t one_bytes = 0, three_bytes = 0, each_bytes = 0;
  const double one_s = simulated(1, false, one_bytes), three_s = simulated(3, true, three_bytes);
  CHECK(three_s == Approx(one_s).epsilon(1e-9));
  CHECK(three_bytes == one_bytes);
  // Without no_sync the first devices sum each micro-batch's gradient, and hosts still their own once.
  const double M = 8.0 * 60'000, allreduce_s = 2 * (alpha + M / 2 / B);
  // The other devices go on meanwhile, so that their sums are there when the first one's last pass is over.
  const double each_s = simulated(3, false, each_bytes);
  CHECK(each_s <= one_s + 3 * 2 * allreduce_s);
  CHECK(each_s > one_s + 3 * allreduce_s);
  CHECK(static_cast<double>(each_bytes - one_bytes) == 3 * 2 * 2 * M);
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
  for (const Case& its : all) {
    CAPTURE(its.name);
    Trial workers{.program = its.plain(), .workers = hosts, .rows = 96, .features = d};
    workers.batch = 48;
    workers.layers = 8;
    workers.kept = 40;
    workers.flops_a_row = 1e6;
    workers.training.numbers = false;
    workers.training.optimizer.choose("adam");
    workers.stop.steps = 2;
    const Trial trial = on_devices(workers, its.on_hosts());
    const record::Record record = trial.run().record;
    const training::MemoryTerms terms{.layers = trial.watched()->layers(trial.problem()),
                                      .bytes = {},
                                      .workers = hosts * g,
                                      .rows = 48 / (hosts * g),
                                      .optimizer_vectors = 2};
    const double formula = HostsFirst(its.strategy, g).memory(terms).sum();
    CHECK(record.ranks.at(0).memory_bytes.value() == Approx(formula).epsilon(0.02));
    for (int rank = 0; rank < hosts * g; ++rank)
      CHECK(record.ranks[static_cast<std::size_t>(rank)].memory_bytes.value() <= record.ranks[0].memory_bytes.value());
  }
}

TEST_CASE("hosts first is the same on any number of threads") {
  const Case its = named<Allreduce>("allreduce", [](Allreduce& options) { options.bucket_bytes = 8.0; });
  Trial trial = on_devices(small(its.plain()), its.on_hosts());
  const Outcome on_one = trial.run();
  trial.threads = 4;
  CHECK(trial.run().evaluated == on_one.evaluated);
}

}  // namespace hosts_first_test
