/// The part of a model that one rank of a mesh holds, as a model of its own: its parameters and its layers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/cut_model.h"

namespace simgrad::models {

/// One chunk of a part.
struct PlacedChunk {
  Chunk chunk;
  std::int64_t first = 0;       ///< where its parameters begin in the part's w
  std::int64_t count = 0;       ///< how many they are, a copy of what another part holds not counted
  ParameterStretch copy = {};   ///< that copy, in the chunk's w; empty: none
  std::int64_t copy_first = 0;  ///< where the copy begins in the part's w
  bool has_original = false;    ///< the copy is the original itself, which another chunk of this part has as its own
  std::size_t first_layer = 0;  ///< of the part's layers
  std::vector<Segment> segments;
  /// By segment: the stretches of the part's w that make up StepInputs::w. Where Segment::shared is not empty, it is
  /// the last one, which an earlier segment of the chunk has as its own.
  std::vector<std::vector<ParameterStretch>> parameters;

  /// The stretches of a segment's parameters that no other segment has.
  std::vector<ParameterStretch> own_parameters(std::size_t segment) const;
};

/// w holds the copy of a tied matrix first, if there is one, then the chunks' parameters. So the copy is complete last
/// in a backward pass, when its gradient is summed with the original's. The layers of the chunks follow each other in
/// forward order; the copy is a layer without work before them. Losses and gradients are the whole model's.
class ModelPart final : public Model {
 public:
  /// whole: cut between its operators (models/operators.h).  chunks: in forward order; none in a part without units.
  /// units: of the whole model's layers; 0: it is asked for them.
  ModelPart(std::shared_ptr<const Model> whole, const Problem& problem, const std::vector<Chunk>& chunks,
            std::int64_t units = 0);

  const Model& whole() const { return *whole_; }
  const CutModel& cut_model() const { return *cut_; }
  const std::vector<PlacedChunk>& chunks() const { return chunks_; }
  /// Where the part's w stands in the whole's, in order. Costly: for runs with numbers.
  std::vector<ParameterStretch> stretches() const;
  /// Stretches of the part's w: the tied one, whose gradient is summed with another part's (empty: none); those whose
  /// gradient is summed over the ranks among which units are shared; those that each of these ranks holds.
  ParameterStretch tied() const { return tied_; }
  const std::vector<ParameterStretch>& partial(Among among) const { return partial_[index(among)]; }
  const std::vector<ParameterStretch>& replicated(Among among) const { return replicated_[index(among)]; }
  /// Whether this part ends with the loss; else other ranks have the layers behind.
  bool has_loss() const { return has_loss_; }
  /// Whether this part has the copy of what is tied, and not the original.
  bool holds_copy() const { return copied_ > 0; }

  Predicts predicts() const override { return whole_->predicts(); }
  std::int64_t parameters(const Problem&) const override { return parameters_; }
  std::vector<Layer> layers(const Problem&) const override { return layers_; }
  double tokens_a_sample(const Problem& problem) const override { return whole_->tokens_a_sample(problem); }
  std::int64_t sequence() const override { return whole_->sequence(); }
  std::int64_t sample_bytes(const Problem& problem) const override { return whole_->sample_bytes(problem); }
  /// The initial values of the whole model, at the places that the part's w has in it.
  void initial_values(const Problem&, std::uint64_t seed, std::span<double> w) const override;
  void gradient(const Problem&, const Samples&, std::span<const double>, double, double,
                std::span<double>) const override;
  Score score(const Problem&, const Samples&, std::span<const double>) const override;

 private:
  static std::size_t index(Among among) { return static_cast<std::size_t>(among); }
  std::int64_t units_of_whole(std::int64_t known) const;
  void add_copy(const Chunk& chunk);
  void add(const Chunk& chunk);

  std::shared_ptr<const Model> whole_;
  std::shared_ptr<const CutModel> cut_;
  Problem problem_;
  std::vector<PlacedChunk> chunks_;
  std::vector<Layer> layers_;
  std::int64_t parameters_ = 0;
  ParameterStretch tied_ = {};
  bool has_loss_ = false;
  std::int64_t copied_ = 0;  ///< numbers of the copy
  std::array<std::vector<ParameterStretch>, kinds_of_shares> partial_, replicated_;
};

}  // namespace simgrad::models
