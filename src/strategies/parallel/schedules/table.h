/// A pipeline's schedule as a table: which stage does which piece of which micro-batch, in which order.
///
/// The model is cut into stages * chunks pieces of consecutive layers; stage i holds the pieces i, stages + i,
/// 2 stages + i, ..., its chunks 0, 1, 2, ...  A micro-batch goes forward through the pieces in their order and
/// backward in the opposite one.
#pragma once

#include <string>
#include <vector>

namespace simgrad::strategies {

/// A part of a micro-batch's work on one chunk of a stage.
enum class Piece {
  forward,
  backward,         ///< the gradients of the inputs and of the weights, together
  input_backward,   ///< the gradients of the inputs, for which the stage before waits
  weight_backward,  ///< the gradients of the weights, for which nobody waits before the end of the step
};

struct PipelineTask {
  Piece piece = Piece::forward;
  int micro = 0;
  int chunk = 0;  ///< of this stage
  friend bool operator==(const PipelineTask&, const PipelineTask&) = default;
};

struct PipelineShape {
  int stages = 1;
  int micro_batches = 1;
  int chunks = 1;                  ///< of each stage
  std::vector<int> replicas = {};  ///< the ranks of each stage, where they are unlike; empty: as many

  int pieces() const { return stages * chunks; }
  /// The piece of the model that is this chunk of the stage; the other way round: stage piece % stages, chunk
  /// piece / stages.
  int piece(int stage, int chunk) const { return chunk * stages + stage; }
  /// The micro-batches that a rank of the stage has under way under 1F1B, at most: with R ranks in this stage and those
  /// behind it, r of them in this one, R / r, rounded up, so that all of these ranks have work. Of the first stage it
  /// is PipeDream's NOAM.
  int under_way(int stage) const;
};

/// By stage: its tasks in their order.
using PipelineTable = std::vector<std::vector<PipelineTask>>;

/// "forward of micro-batch 3", with " on chunk 1" where a stage has several.
std::string name(const PipelineTask& task, const PipelineShape& shape);

/// The first thing that is wrong with a table; empty if each stage does each task once, each task stands behind those
/// of its stage that it needs, and no stages wait for each other in a circle.
std::string fault(const PipelineTable& table, const PipelineShape& shape);

/// The most pairs of a micro-batch and a chunk at one time whose activations the stage holds: the forward is done, and
/// the backward of the weights (or the one backward) is not.
int in_flight(const PipelineTable& table, int stage);

/// The most pairs at one time that wait for the gradient of their output: the forward is done, and the backward of the
/// inputs (or the one backward) is not.
int awaiting_gradient(const PipelineTable& table, int stage);

}  // namespace simgrad::strategies
