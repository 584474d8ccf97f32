// The memory of ranks: what a run holds at its peak, against the formula of its strategy, and both against sums by
// hand.
#include "strategies/mesh_trial.h"
#include "strategies/programs.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"
#include "training/learning/layer_times.h"

namespace memory_test {

using namespace simgrad;
using namespace simgrad::tests;
using record::MemoryPart;
using record::MemoryParts;
using strategies::Fsdp;
using strategies::Zero;
using training::Recompute;

namespace {

constexpr int P = 4;
constexpr int U = 8;               // units, a layer each
constexpr std::int64_t d = 1'600;  // parameters
constexpr double n = 8.0;          // bytes of every number
constexpr double rows = 6;         // of a worker
constexpr double kept = 40;        // numbers and bytes of a row that a layer keeps: 9 x 40 bytes
constexpr double A = rows * 9 * kept;
constexpr double M = n * d;

struct Case {
  std::string name;
  std::shared_ptr<const strategies::Strategy> strategy;
};

template <class Strategy>
Case named(
    const std::string& name, const std::function<void(Strategy&)>& change = [](Strategy&) {}) {
  auto strategy = around_a_ring<Strategy>();
  change(*strategy);
  return {name, strategy};
}

Case zero(std::int64_t stage, std::optional<double> bucket_bytes = {}, std::int64_t micro_batches = 1,
          bool no_sync = false) {
  return named<Zero>(fmt::format("zero {} {} {} {}", stage, bucket_bytes.value_or(0.0), micro_batches, no_sync),
                     [&](Zero& z) {
                       z.stage = stage;
                       z.bucket_bytes = bucket_bytes;
                       z.micro_batches = micro_batches;
                       z.no_sync = no_sync;
                     });
}

Trial trial_of(const Case& test_case, Recompute recompute) {
  Trial trial{.program = strategies::program(test_case.strategy), .workers = P, .rows = 4 * 24, .features = d};
  trial.batch = P * static_cast<std::int64_t>(rows);
  trial.layers = U;
  trial.kept = kept;
  trial.flops_a_row = 1e6;
  trial.training.numbers = false;
  trial.training.optimizer.choose("adam");
  trial.training.recompute = recompute;
  trial.stop.steps = 2;
  return trial;
}

training::MemoryTerms terms(const Trial& trial) {
  return {.layers = trial.watched()->layers(trial.problem()),
          .bytes = {},
          .recompute = trial.training.recompute,
          .workers = P,
          .rows = static_cast<std::int64_t>(rows),
          .optimizer_vectors = 2};
}

/// The memory of rank 0, whose chunks are not shorter than others'.
MemoryParts held(const Trial& trial) {
  const record::Record record = trial.run().record;
  MemoryParts parts;
  for (std::size_t k = 0; k < record::memory_parts; ++k)
    parts[static_cast<MemoryPart>(k)] = record.ranks.at(0).memory[k].value();
  CHECK(parts.sum() == record.ranks[0].memory_bytes);
  CHECK(record.memory_bytes_max == parts.sum());
  return parts;
}

std::vector<Case> cases() {
  using strategies::Allreduce;
  std::vector<Case> all{named<Allreduce>("allreduce"),
                        named<Allreduce>("in buckets", [](Allreduce& a) { a.bucket_bytes = 2 * M / U; }),
                        named<Allreduce>("micro-batches", [](Allreduce& a) { a.micro_batches = 3; }),
                        named<strategies::DataParallel>("data_parallel"), named<strategies::LocalSgd>("local_sgd")};
  for (const std::int64_t micro_batches : {1, 2, 3})
    for (const bool no_sync : {false, true}) {
      if (no_sync && micro_batches == 1) continue;
      for (const std::optional<double> bucket : {std::optional<double>(), std::optional(2 * M / U)}) {
        all.push_back(zero(1, bucket, micro_batches, no_sync));
        all.push_back(zero(2, bucket, micro_batches, no_sync));
      }
      all.push_back(zero(3, {}, micro_batches, no_sync));
      for (const bool reshard : {false, true})
        for (const std::int64_t limit : {1, 2, 3})
          all.push_back(
              named<Fsdp>(fmt::format("fsdp {} {} {} {}", micro_batches, no_sync, reshard, limit), [&](Fsdp& f) {
                f.micro_batches = micro_batches;
                f.no_sync = no_sync;
                f.reshard_after_forward = reshard;
                f.limit = limit;
              }));
    }
  all.push_back(named<Fsdp>("groups", [](Fsdp& f) { f.shard_group = 2; }));
  return all;
}

}  // namespace

TEST_CASE("the memory that a run holds is its formula's, within 2 per cent, or 5 with recomputation") {
  for (const Case& test_case : cases())
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const Trial trial = trial_of(test_case, recompute);
      const MemoryParts formula = test_case.strategy->memory(terms(trial)), run = held(trial);
      CAPTURE(test_case.name, static_cast<int>(recompute));
      CHECK(run.sum() == Approx(formula.sum()).epsilon(recompute == Recompute::none ? 0.02 : 0.05));
      for (std::size_t k = 0; k < record::memory_parts; ++k) {
        const auto part = static_cast<MemoryPart>(k);
        CAPTURE(name(part));
        CHECK(run[part] == Approx(formula[part]).epsilon(recompute == Recompute::none ? 0.02 : 0.05));
      }
    }
}

TEST_CASE("a replica holds parameters, gradient, its copy in buckets, optimizer and activations") {
  const MemoryParts run = held(trial_of(named<strategies::Allreduce>("allreduce"), Recompute::none));
  CHECK(run[MemoryPart::parameters] == M);
  CHECK(run[MemoryPart::optimizer] == 2 * M);
  // U A > M: the sum is largest as the backward pass begins, with the last layer's gradient
  CHECK(run[MemoryPart::activations] == U * A);
  CHECK(run[MemoryPart::gradients] == M / U);
  CHECK(run[MemoryPart::buckets] == M);
  CHECK(run[MemoryPart::gathered] + run[MemoryPart::workspace] == 0.0);
}

TEST_CASE("zero divides the optimizer's vectors, then gradients, then parameters by the workers") {
  const auto of = [](std::int64_t stage) { return held(trial_of(zero(stage), Recompute::none)); };
  const MemoryParts first = of(1), second = of(2), third = of(3);
  for (const MemoryParts& each : {first, second, third}) CHECK(each[MemoryPart::optimizer] == 2 * M / P);
  CHECK(first[MemoryPart::parameters] == M);
  CHECK(second[MemoryPart::parameters] == M);
  CHECK(third[MemoryPart::parameters] == M / P);
  // as the backward pass begins: one unit's gradient, and two units' parameters
  CHECK(first[MemoryPart::gradients] == M / U);
  CHECK(second[MemoryPart::buckets] == M / U);
  CHECK(third[MemoryPart::buckets] == M / U);
  CHECK(third[MemoryPart::gathered] == 2 * M / U);
}

TEST_CASE("recomputed activations leave memory, and come back for one unit or layer at a time") {
  const auto activations = [](Recompute recompute) {
    Trial trial = trial_of(named<strategies::Allreduce>("allreduce"), recompute);
    trial.kept = 5 * kept;  // so much that memory is fullest as the backward pass begins
    return held(trial)[MemoryPart::activations];
  };
  CHECK(activations(Recompute::none) == U * 5 * A);
  // selective: half of the numbers and the bytes are computed again, in the last layer first
  const double selective = rows * (n * 5 * kept / 2);
  CHECK(activations(Recompute::selective) == (U - 1) * selective + 5 * A);
  // full: a quarter of the numbers comes in at each unit's entrance
  const double entrance = rows * n * 5 * kept / 4;
  CHECK(activations(Recompute::full) == (U - 1) * entrance + 5 * A);
}

TEST_CASE("micro-batches keep the activations of one at a time") {
  const Case thirds = named<strategies::Allreduce>("thirds", [](strategies::Allreduce& a) { a.micro_batches = 3; });
  CHECK(held(trial_of(thirds, Recompute::none))[MemoryPart::activations] == U * A / 3);
}

TEST_CASE("selective recomputation takes its flops once more in the backward pass") {
  Trial trial = trial_of(named<strategies::Allreduce>("allreduce"), Recompute::none);
  const double plain_s = trial.run().record.simulated_s;
  trial.training.recompute = Recompute::selective;
  // two steps; an eighth of the forward pass's flops, which are half of all
  CHECK(trial.run().record.simulated_s == Approx(plain_s + 2 * rows * 1e6 / 2 / 8 / speed).epsilon(1e-9));
}

namespace {

/// On devices of 1 TB/s with a link of 10 GB/s to their hosts, which update at 100 GB/s.
Trial on_devices(const Case& test_case) {
  Trial trial = trial_of(test_case, Recompute::none);
  cluster::Device device;
  device.float64_flops_per_s = 1e12;
  device.memory_bytes = 1e10;
  device.memory_bandwidth_bytes_per_s = 1e12;
  device.host_link_bytes_per_s = 1e10;
  trial.cluster.device = base::Slot<cluster::Device>(cluster::devices(), "custom");
  static_cast<cluster::Device&>(*trial.cluster.device.object()) = device;
  return trial;
}

template <class Strategy>
Case offloaded(const Case& test_case, strategies::Offload offload) {
  auto strategy = std::make_shared<Strategy>(dynamic_cast<const Strategy&>(*test_case.strategy));
  strategy->host.offload = offload;
  if (offload != strategies::Offload::none) strategy->host.bandwidth_bytes_per_s = 1e11;
  return {test_case.name, strategy};
}

}  // namespace

TEST_CASE("an offloaded optimizer takes gradients down, the update at the host's memory bandwidth, and parameters up") {
  using strategies::Offload;
  const double update_bytes = training::update_bytes(training::Precision::float64, 2) * d / P;
  for (const std::int64_t stage : {1, 2, 3}) {
    const Case plain = zero(stage);
    const auto seconds = [&](Offload offload) {
      return on_devices(offloaded<Zero>(plain, offload)).run().record.simulated_s;
    };
    // two steps: an update on the device; g d/P down and p d/P up, and the update on the host
    CHECK(seconds(Offload::optimizer) - seconds(Offload::none) ==
          Approx(2 * (update_bytes / 1e11 + 2 * M / P / 1e10 - update_bytes / 1e12)).epsilon(1e-9));
  }
  // Without prefetching every all-gather waits for its chunk: M/U/P a unit, forwards and backwards.
  const Case waits = named<Fsdp>("fsdp", [](Fsdp& f) { f.prefetch = false; });
  const auto seconds = [&](Offload offload) {
    return on_devices(offloaded<Fsdp>(waits, offload)).run().record.simulated_s;
  };
  CHECK(seconds(Offload::parameters) - seconds(Offload::none) >
        2 * (update_bytes / 1e11 + M / P / 1e10 - update_bytes / 1e12 + (M / P + M / P / U) / 1e10));
  const MemoryParts held_by_device = held(on_devices(offloaded<Fsdp>(waits, Offload::parameters)));
  CHECK(held_by_device[MemoryPart::optimizer] == 0.0);
  CHECK(held_by_device[MemoryPart::parameters] == 0.0);
  CHECK(held_by_device.sum() ==
        offloaded<Fsdp>(waits, Offload::parameters).strategy->memory(terms(trial_of(waits, Recompute::none))).sum());
}

TEST_CASE("where parameters are on the host, a tied embedding comes up with the head in each pass") {
  // Nothing is prefetched: each gather waits for its chunks. Parameters of an optimizer on the host come up once a
  // step.
  MeshTrial trial = transformer_trial(2, true);
  trial.data = {};
  trial.workers = P;
  trial.training.numbers = false;
  trial.cluster.device = on_devices(zero(1)).cluster.device;
  const auto seconds = [&](strategies::Offload offload) {
    auto fsdp = around_a_ring<Fsdp>();
    fsdp->prefetch = false;
    fsdp->host.offload = offload;
    trial.strategy = fsdp;
    const record::Record record = trial.run().record;
    REQUIRE(record.error.empty());
    return record.simulated_s;
  };
  // Forwards and backwards, all units, and the embedding of 12 x 16 numbers with the last one.
  const auto parameters = static_cast<double>(trial.model->parameters(trial.problem));
  const double numbers = 2 * (parameters + 12 * 16) - parameters;
  CHECK(seconds(strategies::Offload::parameters) - seconds(strategies::Offload::optimizer) ==
        Approx(static_cast<double>(trial.steps) * n * numbers / P / 1e10).epsilon(1e-9));
}

TEST_CASE("memory goes by the bytes of the format") {
  Trial trial = trial_of(zero(3), Recompute::none);
  trial.training.precision = training::Precision::bfloat16;
  const MemoryParts run = held(trial);
  CHECK(run[MemoryPart::parameters] == 2.0 * d / P);
  CHECK(run[MemoryPart::optimizer] == (4.0 + 2 * 4.0) * d / P);  // a master copy and two vectors
  training::MemoryTerms bfloat16_terms = terms(trial);
  bfloat16_terms.bytes = training::number_bytes(training::Precision::bfloat16);
  CHECK(run.sum() == Approx(zero(3).strategy->memory(bfloat16_terms).sum()).epsilon(1e-9));
}

namespace {

Trial in_bfloat16(const Case& test_case, training::GradientPrecision gradients) {
  Trial trial = trial_of(test_case, Recompute::none);
  trial.training.precision = training::Precision::bfloat16;
  trial.training.gradient_precision = gradients;
  return trial;
}

MemoryParts by_formula(const Case& test_case, const Trial& trial) {
  training::MemoryTerms of = terms(trial);
  of.bytes = trial.training.number_bytes();
  return test_case.strategy->memory(of);
}

}  // namespace

// megatron/training/theoretical_memory_usage.py: 6 + 12 / dp bytes a parameter with the distributed optimizer, 18
// without.
TEST_CASE("a gradient in float32 beside bfloat16 is one buffer, of which buckets are views") {
  using training::GradientPrecision;
  const auto check = [](const Case& test_case, GradientPrecision gradients, double kept, double in_buckets,
                        double states) {
    CAPTURE(test_case.name, static_cast<int>(gradients));
    const Trial trial = in_bfloat16(test_case, gradients);
    const MemoryParts run = held(trial), formula = by_formula(test_case, trial);
    CHECK(run[MemoryPart::gradients] == kept * d);
    CHECK(run[MemoryPart::buckets] == Approx(in_buckets * d));
    CHECK(run[MemoryPart::parameters] + run[MemoryPart::optimizer] == states * d);
    CHECK(run.sum() == Approx(formula.sum()).epsilon(1e-9));
  };
  const double of_unit = 2.0 / U;  // the last layer's gradient, as the backward pass begins
  for (const Case& test_case : {zero(1), zero(1, 4.0 * d / U)}) {
    check(test_case, GradientPrecision::framework, 4.0, 0.0, 2.0 + 12.0 / P);
    check(test_case, GradientPrecision::float32, 4.0, 0.0, 2.0 + 12.0 / P);
  }
  check(zero(1, 4.0 * d / U), GradientPrecision::as_made, of_unit, 2.0 * 2.0 / U, 2.0 + 12.0 / P);
  const Case replicas =
      named<strategies::Allreduce>("allreduce");  // PyTorch's DDP: gradients in the parameters' format
  check(replicas, GradientPrecision::framework, of_unit, 2.0, 14.0);
  check(replicas, GradientPrecision::as_made, of_unit, 2.0, 14.0);
  check(replicas, GradientPrecision::float32, 4.0, 0.0, 14.0);
  const Case at_once = named<strategies::Allreduce>("at once", [](strategies::Allreduce& a) { a.bucket_bytes = {}; });
  check(at_once, GradientPrecision::float32, 4.0, 0.0, 14.0);
}

TEST_CASE("in every strategy the memory in bfloat16 is its formula's, whatever gradient_precision says") {
  using training::GradientPrecision;
  for (const Case& test_case : cases())
    for (const auto gradients :
         {GradientPrecision::framework, GradientPrecision::as_made, GradientPrecision::float32}) {
      CAPTURE(test_case.name, static_cast<int>(gradients));
      const Trial trial = in_bfloat16(test_case, gradients);
      CHECK(held(trial).sum() == Approx(by_formula(test_case, trial).sum()).epsilon(0.02));
    }
}

TEST_CASE("float32 is the format of gradients of a framework beside bfloat16 and float8 alone") {
  using training::GradientPrecision, training::Precision;
  using enum training::MainGradients;
  const auto bytes = [](Precision precision, GradientPrecision gradients, training::MainGradients main) {
    return training::number_bytes(precision, training::Wire::as_precision, gradients).of_gradients(main).kept_gradient;
  };
  for (const Precision precision : {Precision::bfloat16, Precision::float8})
    CHECK(bytes(precision, GradientPrecision::framework, by_default) == 4.0);
  CHECK(bytes(Precision::float16, GradientPrecision::framework, by_default) == 2.0);
  CHECK(bytes(Precision::float64, GradientPrecision::framework, by_default) == 8.0);
  CHECK(bytes(Precision::bfloat16, GradientPrecision::framework, on_demand) == 2.0);
  CHECK(bytes(Precision::bfloat16, GradientPrecision::as_made, by_default) == 2.0);
  for (const auto main : {never, on_demand, by_default})
    CHECK(bytes(Precision::float16, GradientPrecision::float32, main) == 4.0);
}

TEST_CASE("a server holds its shard, and workers hold no vectors of the optimizer") {
  auto servers = std::make_shared<strategies::ParameterServer>();
  servers->shards = 2;
  const Trial trial = trial_of({"bsp", servers}, Recompute::none);
  const record::Record record = trial.run().record;
  const auto of = [&](std::size_t rank, MemoryPart part) {
    return record.ranks.at(rank).memory[static_cast<std::size_t>(part)].value();
  };
  CHECK(of(0, MemoryPart::parameters) == M);
  CHECK(of(0, MemoryPart::optimizer) == 0.0);
  for (const std::size_t server : {P, P + 1}) {
    CHECK(of(server, MemoryPart::parameters) == M / 2);
    CHECK(of(server, MemoryPart::gradients) == M / 2);
    CHECK(of(server, MemoryPart::optimizer) == 2 * M / 2);
  }
  CHECK(servers->memory(terms(trial))[MemoryPart::optimizer] == 0.0);
  CHECK(training::server_memory(terms(trial), 0.5, 1).sum() == 4 * M / 2);
}

TEST_CASE("a server that takes medians holds the gradients of all workers, whole or in buckets") {
  for (const std::optional<double> bucket_bytes : {std::optional<double>(), std::optional(2 * M / U)}) {
    auto servers = std::make_shared<strategies::ParameterServer>();
    servers->shards = 2;
    servers->bucket_bytes = bucket_bytes;
    servers->reduce.choose("median");
    const Trial trial = trial_of({"median", servers}, Recompute::none);
    const record::Record record = trial.run().record;
    const MemoryParts formula = training::server_memory(terms(trial), 0.5, servers->traits(P).gradients_held);
    CHECK(formula[MemoryPart::gradients] == P * M / 2);
    CAPTURE(bucket_bytes.has_value());
    for (std::size_t k = 0; k < record::memory_parts; ++k)
      CHECK(record.ranks.at(P).memory[k] == formula[static_cast<MemoryPart>(k)]);
  }
}

TEST_CASE("a run says how many of its ranks need more than their devices have, and by how much") {
  Trial trial = trial_of(named<strategies::Allreduce>("allreduce"), Recompute::none);
  const double needed_bytes = held(trial).sum();
  trial.training.memory = training::MemoryCheck::ignore;
  trial.cluster.memory_bytes = needed_bytes;
  CHECK(trial.run().record.notes.empty());
  trial.cluster.memory_bytes = 20e3;
  CHECK(trial.run().record.notes ==
        std::vector<std::string>{"4 of 4 ranks do not fit into the memory of their devices: one of them needs 70.08kB "
                                 "and has 20kB (training.memory = \"ignore\")"});
}

}  // namespace memory_test
