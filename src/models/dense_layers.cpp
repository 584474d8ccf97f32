#include "models/dense_layers.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace simgrad::models {

namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::RowVectorXd;
using Eigen::Index;

constexpr std::int64_t rows_a_block = 64;

/// Sets Eigen's blocking, which would follow this machine's caches: the order of additions must not depend on them.
void fix_eigen_blocking() {
  static const bool fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 2 << 20);
    return true;
  }();
  static_cast<void>(fixed);
}

struct DenseLayer {
  Matrix W;  // (out, in)
  Vector b;  // (out); empty without bias
  Matrix a;  // (rows of the block, out): the layer's activations, then the loss's derivatives with respect to z
  Matrix dW;
  Vector db;
};

class Network {
 public:
  Network(const DenseShape& shape, std::span<const double> w) : shape_(shape) {
    fix_eigen_blocking();
    const double* next = w.data();
    for (std::size_t l = 0; l + 1 < shape.widths.size(); ++l) {
      DenseLayer& layer = layers_.emplace_back();
      const Index in = shape.widths[l], out = shape.widths[l + 1];
      layer.W = Eigen::Map<const Matrix>(next, out, in);
      next += out * in;
      if (!shape.bias) continue;
      layer.b = Eigen::Map<const Vector>(next, out);
      next += out;
    }
  }

  OutputBlock forward(const Samples& rows, std::int64_t first) {
    const std::int64_t count = std::min(rows_a_block, rows.count - first);
    take_rows(rows, first, count);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      DenseLayer& layer = layers_[l];
      layer.a.resize(count, layer.W.rows());
      layer.a.noalias() = input(l) * layer.W.transpose();
      if (shape_.bias) layer.a.rowwise() += layer.b;
      if (l + 1 < layers_.size()) answer(layer.a);
    }
    Matrix& z = layers_.back().a;
    return {{z.data(), static_cast<std::size_t>(z.size())}, first, count};
  }

  /// Adds this block's gradients to dW and db. The last layer's `a` holds the loss's derivatives by then.
  void backward() {
    for (std::size_t l = layers_.size(); l-- > 0;) {
      DenseLayer& layer = layers_[l];
      if (layer.dW.size() == 0) layer.dW = Matrix::Zero(layer.W.rows(), layer.W.cols());
      layer.dW.noalias() += layer.a.transpose() * input(l);
      if (shape_.bias && layer.db.size() == 0) layer.db = Vector::Zero(layer.b.size());
      if (shape_.bias) layer.db += layer.a.colwise().sum();
      if (l > 0) to_layer_below(layer, layers_[l - 1].a);
    }
  }

  /// The loss's derivatives with respect to the block's inputs; call it after backward().
  OutputBlock input_derivatives(std::int64_t first) {
    const DenseLayer& layer = layers_.front();
    carried_.resize(layer.a.rows(), layer.W.cols());
    carried_.noalias() = layer.a * layer.W;
    return {{carried_.data(), static_cast<std::size_t>(carried_.size())}, first, carried_.rows()};
  }

  void add_gradient(std::span<double> g) const {
    double* next = g.data();
    for (const DenseLayer& layer : layers_) {
      if (layer.dW.size() == 0) return;  // there was no row
      Eigen::Map<Matrix>(next, layer.W.rows(), layer.W.cols()) += layer.dW;
      next += layer.dW.size();
      if (!shape_.bias) continue;
      Eigen::Map<Vector>(next, layer.db.size()) += layer.db;
      next += layer.db.size();
    }
  }

 private:
  const Matrix& input(std::size_t l) const { return l == 0 ? x_ : layers_[l - 1].a; }

  void take_rows(const Samples& rows, std::int64_t first, std::int64_t count) {
    x_.resize(count, rows.columns);
    for (std::int64_t i = 0; i < count; ++i) {
      const double* const x = rows.features + rows.row(first + i) * rows.columns;
      std::copy(x, x + rows.columns, x_.data() + i * rows.columns);
    }
  }

  /// Replaces z by f(z). NaN stays NaN.
  void answer(Matrix& z) const {
    double* const numbers = z.data();
    const bool relu = shape_.activation == Activation::relu;
    for (Index i = 0; i < z.size(); ++i)
      numbers[i] = relu ? (numbers[i] < 0.0 ? 0.0 : numbers[i]) : std::tanh(numbers[i]);
  }

  /// Replaces the activations of the layer below by the derivatives with respect to its z: da = dz W, dz = f'(z) da,
  /// with f' computed from f(z).
  void to_layer_below(const DenseLayer& layer, Matrix& below) {
    carried_.resize(below.rows(), below.cols());
    carried_.noalias() = layer.a * layer.W;
    double* const a = below.data();
    const double* const da = carried_.data();
    const bool relu = shape_.activation == Activation::relu;
    for (Index i = 0; i < below.size(); ++i) a[i] = relu ? (a[i] <= 0.0 ? 0.0 : da[i]) : (1.0 - a[i] * a[i]) * da[i];
  }

  const DenseShape& shape_;
  Matrix x_;
  Matrix carried_;
  std::vector<DenseLayer> layers_;
};

}  // namespace

void pass_forward(const DenseShape& shape, const Samples& rows, std::span<const double> w,
                  const std::function<void(const OutputBlock&)>& visit) {
  Network network(shape, w);
  for (std::int64_t first = 0; first < rows.count; first += rows_a_block) visit(network.forward(rows, first));
}

void pass_backward(const DenseShape& shape, const Samples& rows, std::span<const double> w, std::span<double> g,
                   const std::function<void(const OutputBlock&)>& visit,
                   const std::function<void(const OutputBlock& derivatives)>& inputs) {
  Network network(shape, w);
  for (std::int64_t first = 0; first < rows.count; first += rows_a_block) {
    visit(network.forward(rows, first));
    network.backward();
    if (inputs) inputs(network.input_derivatives(first));
  }
  network.add_gradient(g);
}

}  // namespace simgrad::models
