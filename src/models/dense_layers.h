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

/// One layer of a network by itself, whose rows are taken in the same blocks.
struct DenseLayerShape {
  std::int64_t inputs = 0, outputs = 0;
  bool bias = true;

  std::int64_t parameters() const { return outputs * (inputs + (bias ? 1 : 0)); }
};

/// z = W x + b.  w: W, (outputs x inputs), then b.  x: (rows x inputs).  z: (rows x outputs).
void dense_forward(const DenseLayerShape& shape, std::int64_t rows, std::span<const double> w,
                   std::span<const double> x, std::span<double> z);
/// Adds the gradient's sum over the rows to g.  dz: the loss's derivatives by z.  dx: those by x; empty: not computed.
void dense_backward(const DenseLayerShape& shape, std::int64_t rows, std::span<const double> w,
                    std::span<const double> x, std::span<const double> dz, std::span<double> g, std::span<double> dx);
/// Replaces z by f(z). NaN stays NaN.
void activate(Activation activation, std::span<double> z);
/// Replaces the derivatives with respect to a = f(z) by those with respect to z.
void derive_activation(Activation activation, std::span<const double> a, std::span<double> da);

}  // namespace simgrad::models
