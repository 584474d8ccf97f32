/// The gradient of a rank's part of a model, as its segments complete it.
#pragma once

#include <cstddef>
#include <vector>

#include "models/model_part.h"
#include "training/worker.h"

namespace simgrad::strategies {

/// Zeros in the format of activations and gradients, with so many bytes beside them.
values::Tensor zeros_on_the_wire(const training::Learning& learning, double numbers, double bytes = 0.0);

class PartGradient {
 public:
  /// followed: false where only lengths are seen; then nothing is added, and stretches are of their lengths.
  PartGradient(const training::Worker& worker, bool followed);

  /// Adds a micro-batch's gradient of a segment: of its parameters as models::PlacedChunk lists them. A product that
  /// makes it adds it to the sum, so that it takes no time.
  void add(std::size_t chunk, std::size_t segment, const values::Tensor& g);
  /// Replaces a stretch of the part's gradient.
  void replace(const models::ParameterStretch& stretch, const values::Tensor& g);
  values::Tensor stretch(const models::ParameterStretch& stretch) const;
  /// Drops what has been added of a segment's own parameters.
  void drop(std::size_t chunk, std::size_t segment);
  /// The gradient of the whole part, with zeros where nothing has been added.
  values::Tensor whole() const;

 private:
  /// A stretch that is added to as one.
  struct Piece {
    models::ParameterStretch place;
    values::Tensor sum;
  };
  values::Tensor of_length(std::int64_t numbers) const;
  void add_to(const models::ParameterStretch& stretch, const values::Tensor& g);
  /// The number of the piece that it is in.
  std::size_t piece_of(const models::ParameterStretch& stretch) const;

  const training::Worker& worker_;
  const models::ModelPart& part_;
  bool followed_;
  std::vector<Piece> pieces_;  ///< in the order of w, which they cover
};

}  // namespace simgrad::strategies
