/// The passes of a perceptron through its dense layers, block by block of rows.
///
/// Matrix products are Eigen's. Their bits depend on nothing but the numbers: what goes in is first copied to where
/// Eigen aligns it, blocks have a fixed number of rows, and Eigen cuts its products for one fixed size of caches rather
/// than for this machine's. No thread is started, and nothing large is on the stack.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/model.h"
#include "models/perceptron.h"

namespace simgrad::models {

/// The shape of a network and how its hidden units answer.
struct DenseShape {
  std::vector<std::int64_t> widths;  ///< of the inputs, the hidden layers, the outputs
  bool bias = true;
  Activation activation = Activation::relu;
};

/// One block: `outputs` (rows x outputs, row-major) of the rows first, first + 1, ... of the samples.
struct OutputBlock {
  std::span<double> outputs;
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

/// Calls `visit` with every block's outputs at w.
void pass_forward(const DenseShape& shape, const Samples& rows, std::span<const double> w,
                  const std::function<void(const OutputBlock&)>& visit);

/// The same, and `visit` replaces the outputs by the loss's derivatives with respect to them; these are passed
/// backwards and g += their sum over all rows.  w, g: (parameters).
/// inputs: called with the derivatives with respect to a block's inputs (rows x inputs); null: nobody asks.
void pass_backward(const DenseShape& shape, const Samples& rows, std::span<const double> w, std::span<double> g,
                   const std::function<void(const OutputBlock&)>& visit,
                   const std::function<void(const OutputBlock& derivatives)>& inputs = {});

}  // namespace simgrad::models
