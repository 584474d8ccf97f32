/// Blocks of the parameters that replicas synchronise one by one, and the steps in which each of them is due.
///
/// By movement: with m_b how far a step moved block b before its last synchronisation, and m the most of all blocks,
/// the block is due again after floor(c m / m_b) steps, 1 at least and `longest` at most. c is 1, or the least power
/// of 1.1 at which the blocks' parameters / periods are at most `budget` of all parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/cut_model.h"
#include "models/model.h"
#include "record/record.h"
#include "training/state.h"

namespace simgrad::strategies {

using Block = models::ParameterStretch;

/// The rule by which blocks are synchronised.
enum class BlockRule : unsigned char { round_robin, list, movement };
/// How far a block has moved.
enum class Measure : unsigned char {
  number,  ///< the root mean square of its numbers' changes
  norm     ///< the norm of its change over its norm
};

struct BlockOptions {
  std::optional<std::int64_t> blocks = 4;  ///< none: a layer each
  BlockRule rule = BlockRule::round_robin;
  std::int64_t blocks_a_step = 1;
  std::vector<double> periods = {};
  std::int64_t longest = 16;
  Measure measure = Measure::number;
  std::optional<double> budget = {};
};

/// Layers, or so many stretches of nearly equal length, in the order of the parameters.
std::vector<Block> blocks_of(const BlockOptions& options, std::span<const models::Layer> layers,
                             std::int64_t parameters);

class BlockSchedule {
 public:
  /// state: of a replica at the beginning, or restored. A restored schedule goes on where it was.
  /// optimizer_vectors: whether the optimizer keeps vectors, which replicas do not exchange.
  BlockSchedule(const BlockOptions& options, std::vector<Block> blocks, bool optimizer_vectors,
                const training::State& state);

  const std::vector<Block>& blocks() const { return blocks_; }
  bool measures() const { return options_.rule == BlockRule::movement; }
  /// Whether the block is synchronised at the end of the next step; equal on all replicas.
  bool due(std::size_t b) const;
  /// Whether replicas have the same block and the same vectors of the optimizer for it now. Then the sum of their
  /// gradients makes the same update on all of them.
  bool agrees(std::size_t b) const { return agrees_[b]; }
  /// The block's movement at its last synchronisation; 0 before one.
  double movement(std::size_t b) const { return movements_[b]; }
  /// How far a step moved the block from `before` to `after`, since its last synchronisation.  Waits for the numbers.
  double moved(std::size_t b, const values::Tensor& before, const values::Tensor& after) const;

  /// The step is over.  movements: of the blocks that were due, by block; empty where none are measured.
  void step(const std::vector<double>& movements);
  /// The step's part of the record, as Worker::count_blocks takes it; to be called before step().
  std::vector<record::BlockUse> uses(const std::vector<double>& movements) const;
  /// Keeps the schedule in the state, for a checkpoint.
  void keep(training::State& state) const;

 private:
  std::int64_t period(std::size_t b) const;
  double share_of(double factor) const;
  void find_factor();
  void restore(const std::vector<double>& numbers);

  BlockOptions options_;
  std::vector<Block> blocks_;
  bool optimizer_vectors_;
  std::int64_t step_;               ///< updates so far
  std::vector<std::int64_t> last_;  ///< step of the last synchronisation, by block
  std::vector<std::int64_t> next_;  ///< the step at whose end the block is due
  std::vector<bool> agrees_;
  std::vector<bool> always_;  ///< synchronised in every step so far
  std::vector<double> movements_;
  double factor_ = 1.0;
};

}  // namespace simgrad::strategies
