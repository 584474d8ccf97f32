// The memory of ranks: what a run holds at its peak, against the formula of its strategy, and both against sums by
// hand.
#include "strategies/programs.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"

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
  auto strategy = std::make_shared<Strategy>();
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

Trial trial_of(const Case& its, Recompute recompute) {
  Trial trial{.program = strategies::program(its.strategy), .workers = P, .rows = 4 * 24, .features = d};
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

/// Of rank 0, whose chunks are not shorter than others'.
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
  for (const std::int64_t micro_batches : {1, 3})
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
  for (const Case& its : cases())
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const Trial trial = trial_of(its, recompute);
      const MemoryParts formula = its.strategy->memory(terms(trial)), run = held(trial);
      CAPTURE(its.name, static_cast<int>(recompute));
      CHECK(run.sum() == Approx(formula.sum()).epsilon(recompute == Recompute::none ? 0.02 : 0.05));
      for (std::size_t k = 0; k < record::memory_parts; ++k) {
        const auto part = static_cast<MemoryPart>(k);
        CAPTURE(name(part));
        CHECK(run[part] == Approx(formula[part]).epsilon(recompute == Recompute::none ? 0.02 : 0.05));
      }
    }
}

TEST_CASE("a replica holds parameters, gradient, optimizer and activations") {
  const MemoryParts run = held(trial_of(named<strategies::Allreduce>("allreduce"), Recompute::none));
  CHECK(run[MemoryPart::parameters] == M);
  CHECK(run[MemoryPart::optimizer] == 2 * M);
  // U A > M: the sum is largest as the backward pass begins, with the last layer's gradient
  CHECK(run[MemoryPart::activations] == U * A);
  CHECK(run[MemoryPart::gradients] == M / U);
  CHECK(run[MemoryPart::gathered] + run[MemoryPart::buckets] + run[MemoryPart::workspace] == 0.0);
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
  CHECK(training::server_memory(terms(trial), 0.5).sum() == 4 * M / 2);
}

}  // namespace memory_test
