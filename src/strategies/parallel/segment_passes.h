/// The passes of a micro-batch through segments of a part, among the ranks that share products.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "models/model_part.h"
#include "strategies/strategy.h"
#include "training/part_passes.h"

namespace simgrad::strategies {

/// A micro-batch that has gone forward through a chunk, and not back.
struct MicroBatchPass {
  training::PartPasses passes;
  Tensor w;                       ///< the version of the weights that it sees, forward and back
  std::int64_t version = 0;       ///< how many updates that version has seen
  std::vector<Tensor> in;         ///< of each segment
  std::vector<Tensor> gradients;  ///< of each segment, once its backward pass is done
};

class SegmentPasses {
 public:
  /// tensor: the ranks that share this one's products; nothing: it has whole ones.
  SegmentPasses(const Worker& worker, std::optional<cluster::Communicator> tensor);

  /// Returns what goes out of the segment.  Virtual time: of its layers, and of the collectives that its steps name.
  Tensor forward(int chunk, std::size_t segment, MicroBatchPass& micro);
  /// Returns the derivatives by what came in, and leaves the gradient in `micro`.
  Tensor backward(int chunk, std::size_t segment, MicroBatchPass& micro, const Tensor& d_out,
                  training::BackwardPiece piece);
  /// Whether tensors have numbers, or are followed by their lineages; else only their lengths are seen.
  bool followed() const;

 private:
  /// A tensor that travels as so many numbers a row, and so many bytes a row beside them.
  Tensor of_length(double numbers, double bytes, std::int64_t rows) const;
  Tensor combined(models::Step::Then then, Tensor numbers, std::int64_t rows) const;
  Tensor parameters(int chunk, std::size_t segment, const Tensor& w) const;

  const Worker& worker_;
  std::optional<cluster::Communicator> tensor_;
  std::optional<cluster::SideStream> gathers_;  ///< of the tensor ranks, beside their products
};

}  // namespace simgrad::strategies
