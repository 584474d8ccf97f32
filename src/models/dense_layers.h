/// The passes of a perceptron through its dense layers, block by block of rows.
///
/// Matrix products are Eigen's. Their bits depend on the numbers alone: operands are first copied to memory that Eigen
/// aligns, blocks have a fixed number of rows, and Eigen's blocking is set for one fixed size of caches instead of this
/// machine's. No thread is started, and nothing large is on the stack.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/model.h"
#include "models/perceptron.h"

namespace simgrad::models {

/// The widths of a network's layers and the activation of its hidden units.
struct DenseShape {
  std::vector<std::int64_t> widths;  ///< inputs, hidden layers, outputs
  bool bias = true;
  Activation activation = Activation::relu;
};

/// One block of rows: `outputs` is (rows x outputs), row-major, for the samples' rows first, first + 1, ...
struct OutputBlock {
  std::span<double> outputs;
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

/// Calls `visit` with every block's outputs at w.
void pass_forward(const DenseShape& shape, const Samples& rows, std::span<const double> w,
                  const std::function<void(const OutputBlock&)>& visit);

/// Runs the forward pass, in which `visit` replaces a block's outputs by the loss's derivatives with respect to them,
/// then the backward pass, which adds the gradient's sum over all rows to g.  w, g: (parameters).
/// inputs: called with the derivatives with respect to a block's inputs (rows x inputs); null: they are not computed.
void pass_backward(const DenseShape& shape, const Samples& rows, std::span<const double> w, std::span<double> g,
                   const std::function<void(const OutputBlock&)>& visit,
                   const std::function<void(const OutputBlock& derivatives)>& inputs = {});

}  // namespace simgrad::models
