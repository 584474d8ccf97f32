/// The parts of a cut model: which rank trains which, and how the whole is put together from them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/model_part.h"
#include "training/learning/learning.h"
#include "training/parts/mesh.h"

namespace simgrad::training {

/// A mesh, and the chunks of the model that each of its parts has, in forward order.
struct MeshLayout {
  Mesh mesh;
  std::vector<std::vector<models::Chunk>> chunks;  ///< by part
  /// The dimensions along which ranks are workers of a strategy, and train the same parameters; and those along which
  /// it sums gradients.
  std::vector<Dimension> workers_along{Dimension::data}, sums_along{Dimension::data};
};

class ModelParts {
 public:
  /// whole: the learning of the uncut model. It outlives this object.
  ModelParts(const Learning& whole, MeshLayout layout);

  const Mesh& mesh() const { return layout_.mesh; }
  /// The learning of that rank's part: its parameters and layers, on the data of the whole.
  const Learning& learning(int rank) const { return *part(rank).learning; }
  const models::ModelPart& model(int rank) const { return *part(rank).model; }
  /// Whether all tensor ranks of a chunk hold as many parameters: of a padded vocabulary, the last ones hold fewer.
  bool tensor_ranks_are_alike() const;
  /// Whether ranks that differ along that dimension are workers that train the same parameters; and whether the
  /// strategy sums gradients over them.
  bool workers_along(Dimension dimension) const { return contains(layout_.workers_along, dimension); }
  bool sums_along(Dimension dimension) const { return contains(layout_.sums_along, dimension); }
  const std::vector<Dimension>& sums_along() const { return layout_.sums_along; }
  /// The ranks that train the same parameters, ascending; one list for all of them.
  const std::shared_ptr<const std::vector<int>>& workers_with(int rank) const { return part(rank).ranks; }

  /// The part of that rank.  w: the whole model's parameters.
  values::Tensor of_whole(int rank, const values::Tensor& w) const;
  /// The whole model's parameters.  states: by rank.  of_part: makes a part's parameters of those of its data group.
  using OfPart = std::function<values::Tensor(const std::vector<values::Tensor>& states, const Learning& learning)>;
  values::Tensor whole(std::span<const values::Tensor> states, const OfPart& of_part) const;
  /// The whole model's parameters by each replica of the first stage: of the k-th rank of each data group, or of the
  /// one to which the k-th micro-batch goes where another stage has fewer. Empty for a single replica.
  std::vector<values::Tensor> replicas(std::span<const values::Tensor> states) const;

 private:
  struct Part {
    std::shared_ptr<const models::ModelPart> model;
    std::unique_ptr<const Learning> learning;
    std::shared_ptr<const std::vector<int>> ranks;
    std::shared_ptr<const std::vector<models::ParameterStretch>> stretches;  ///< null in a run of times alone
  };
  static bool contains(const std::vector<Dimension>& all, Dimension dimension) {
    return std::ranges::find(all, dimension) != all.end();
  }
  const Part& part(int rank) const { return parts_[static_cast<std::size_t>(layout_.mesh.part(rank))]; }

  const Learning& whole_;
  MeshLayout layout_;
  std::vector<Part> parts_;
};

}  // namespace simgrad::training
