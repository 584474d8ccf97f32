/// Models that are known by their layers alone: their runs are timed, and compute no numbers.
#pragma once

#include <vector>

#include "models/cut_model.h"
#include "models/model.h"

namespace simgrad::models {

/// Cut between units alone, unless a model tells more: a segment is a unit. What comes into a unit whose layers tell
/// bytes alone (a table of layers) is what the table says, or else what its first layer keeps.
class ProfiledModel : public Model, public CutModel {
 public:
  Predicts predicts() const final { return Predicts::number; }
  std::string_view metric(const Problem&) const final { return {}; }
  bool constant_feature() const final { return false; }
  std::string numbers_refusal() const final;
  std::optional<Problem> own_problem() const final { return Problem{.features = 1}; }
  std::int64_t sample_bytes(const Problem&) const override { return 0; }

  std::int64_t parameters(const Problem& problem) const final;
  std::vector<Layer> layers(const Problem&) const final { return profile(); }
  /// The layers in forward order.
  virtual std::vector<Layer> profile() const = 0;

  /// Errors: InvariantError; such a model has no numbers.
  void gradient(const Problem&, const Samples&, std::span<const double>, double, double, std::span<double>) const final;
  Score score(const Problem&, const Samples&, std::span<const double>) const final;

  using Model::refusal;
  const CutModel* cut() const final { return this; }
  std::string refusal(const Problem& problem, const Shares& shares) const override;
  std::vector<Layer> layers(const Problem& problem, const Chunk& chunk) const override;
  std::vector<Segment> segments(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> parameters_of(const Problem& problem, const Chunk& chunk) const override;
  std::vector<ParameterStretch> replicated(const Problem&, const Chunk&, Among) const override { return {}; }
  /// Errors: InvariantError, as for gradient.
  void run(const Problem&, const Chunk&, std::size_t, bool, std::size_t, const StepInputs&,
           std::span<double>) const final;

 protected:
  /// Bytes of a sample that come into a layer, of profile(), whose entrance is not known in numbers.
  virtual double entrance_bytes(const std::vector<Layer>& layers, std::size_t layer) const;
  /// The model's kind, for errors.
  virtual std::string_view kind() const = 0;
};

/// Sums over the layers.
struct LayerTotals {
  std::int64_t parameters = 0;
  double forward_flops = 0.0;
  double backward_flops = 0.0;
  double forward_s = 0.0;
  double backward_s = 0.0;
  Kept kept;
};
LayerTotals totals(const std::vector<Layer>& layers);

}  // namespace simgrad::models
