#include "strategies/parallel/memory_balance.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include "models/model_part.h"
#include "training/learning/units.h"
#include "training/memory/formula.h"
#include "training/memory/pass_memory.h"

namespace simgrad::strategies {

using record::MemoryPart;
using training::MemoryTerms;
using training::ModelUnit;
using training::Recompute;

namespace {

using CostOfPiece = std::function<double(std::size_t first, std::size_t end, std::size_t piece)>;

/// The cut in which the largest cost of a piece is least: the first unit of each piece, and the number of units.
/// cost: does not fall with more units.
std::vector<std::int64_t> least_largest(std::size_t units, std::size_t pieces, const CostOfPiece& cost) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> before(units + 1, never);  // the largest cost of the pieces so far, by the unit behind them
  before[0] = 0.0;
  std::vector<std::vector<std::size_t>> first_of(pieces, std::vector<std::size_t>(units + 1));
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    std::vector<double> now(units + 1, never);
    for (std::size_t end = piece + 1; end <= units - (pieces - 1 - piece); ++end)
      for (std::size_t first = end; first-- > piece;) {
        const double own = cost(first, end, piece);
        if (own >= now[end]) break;  // and so are those of longer pieces
        const double largest = std::max(before[first], own);
        if (largest >= now[end]) continue;
        now[end] = largest;
        first_of[piece][end] = first;
      }
    before = std::move(now);
  }
  std::vector<std::int64_t> firsts{static_cast<std::int64_t>(units)};
  for (std::size_t piece = pieces; piece-- > 0;)
    firsts.push_back(static_cast<std::int64_t>(first_of[piece][static_cast<std::size_t>(firsts.back())]));
  std::ranges::reverse(firsts);
  return firsts;
}

/// Bytes a parameter that the strategy holds on a rank, gathered units aside.
double state_bytes(const Strategy& strategy, const MemoryTerms& terms, std::int64_t replicas) {
  constexpr std::int64_t numbers = 1'000'000;
  MemoryTerms of_one = terms;
  of_one.layers = {{.count = numbers}};
  of_one.workers = replicas;
  const training::MeshPasses passes{.moments = {{.made = 1.0, .complete = static_cast<double>(numbers)}},
                                    .visits = training::UnitVisits({})};
  of_one.mesh = &passes;
  return strategy.memory(of_one).sum() / static_cast<double>(numbers);
}

/// The most micro-batches at one time that a stage has forward and not back on a chunk.
double in_flight_on_chunk(const std::vector<PipelineTask>& tasks, int chunk) {
  int now = 0, most = 0;
  for (const PipelineTask& task : tasks) {
    if (task.chunk != chunk || task.piece == Piece::input_backward) continue;
    now += task.piece == Piece::forward ? 1 : -1;
    most = std::max(most, now);
  }
  return static_cast<double>(most);
}

}  // namespace

double UnitMemory::bytes(std::size_t first_unit, std::size_t end_unit, std::size_t piece) const {
  double numbers = first_unit > 0 && end_unit == parameters.size() ? copied : 0.0;
  double kept = 0.0, most_again = 0.0;
  for (std::size_t unit = first_unit; unit < end_unit; ++unit) {
    numbers += parameters[unit];
    kept += activations[unit];
    most_again = std::max(most_again, again[unit]);
  }
  return states[piece] * numbers + in_flight[piece] * kept + most_again;
}

std::vector<std::int64_t> balanced_by_memory(const UnitMemory& memory, std::span<const double> costs) {
  const std::size_t units = memory.parameters.size(), pieces = memory.in_flight.size();
  const auto bytes = [&](std::size_t first, std::size_t end, std::size_t piece) {
    return memory.bytes(first, end, piece);
  };
  const std::vector<std::int64_t> by_bytes = least_largest(units, pieces, bytes);
  double most = 0.0;
  for (std::size_t piece = 0; piece < pieces; ++piece)
    most = std::max(
        most, bytes(static_cast<std::size_t>(by_bytes[piece]), static_cast<std::size_t>(by_bytes[piece + 1]), piece));
  std::vector<double> sums{0.0};
  for (const double cost : costs) sums.push_back(sums.back() + cost);
  return least_largest(units, pieces, [&](std::size_t first, std::size_t end, std::size_t piece) {
    return bytes(first, end, piece) > most * (1.0 + 1e-12) ? std::numeric_limits<double>::infinity()
                                                           : sums[end] - sums[first];
  });
}

UnitMemory unit_memory(const Strategy& strategy, const Parallel& parallel, const PipelineTable& table,
                       const MemoryTerms& terms) {
  const std::int64_t replicas = terms.workers / parallel.ranks_a_replica();
  const std::int64_t micro_batches = replicas * parallel.micro_batch_count() * parallel.expert;
  const auto rows = static_cast<double>((terms.batch + micro_batches - 1) / micro_batches);
  const models::Shares shares = parallel.shares();
  const std::shared_ptr<const models::Model> whole(std::shared_ptr<const void>(), terms.model);
  const std::int64_t units = terms.layers.back().unit + 1;
  models::Chunk chunk_of_all{.first_unit = 0,
                             .end_unit = units,
                             .tensor = shares.tensor,
                             .sequence_parallel = shares.sequence_parallel,
                             .context = shares.context,
                             .expert = shares.expert};
  const models::ModelPart all_units(whole, *terms.problem, {chunk_of_all});
  const std::vector<models::Layer> layers = all_units.layers(*terms.problem);
  UnitMemory memory;
  chunk_of_all.first_unit = units - 1;
  memory.copied = static_cast<double>(all_units.cut_model().tied(*terms.problem, chunk_of_all).count);
  for (const ModelUnit& unit : training::units_of(layers)) {
    double kept = 0.0, all = 0.0;
    for (std::size_t i = unit.first_layer; i < unit.first_layer + unit.layers; ++i) {
      kept += training::kept_bytes(layers, i, terms.recompute, terms.bytes);
      all += training::kept_bytes(layers, i, Recompute::none, terms.bytes);
    }
    memory.parameters.push_back(static_cast<double>(unit.count));
    memory.activations.push_back(rows * kept);
    memory.again.push_back(rows * (all - kept));
  }
  const PipelineShape shape = parallel.shape();
  PipelineShape stream = shape;
  stream.micro_batches = 2 * shape.stages;
  const double of_parameter = state_bytes(strategy, terms, replicas);
  for (int chunk = 0; chunk < shape.chunks; ++chunk)
    for (int stage = 0; stage < shape.stages; ++stage) {
      const int versions = parallel.pipeline > 1 ? parallel.schedule->weight_versions(stream, stage) : 1;
      memory.states.push_back(of_parameter + (versions - 1) * terms.bytes.parameter);
      memory.in_flight.push_back(in_flight_on_chunk(table[static_cast<std::size_t>(stage)], chunk));
    }
  return memory;
}

}  // namespace simgrad::strategies
