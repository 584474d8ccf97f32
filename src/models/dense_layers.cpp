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
  DenseLayer(const DenseLayerShape& shape, const double* w)
      : W(Eigen::Map<const Matrix>(w, shape.outputs, shape.inputs)) {
    if (shape.bias) b = Eigen::Map<const Vector>(w + W.size(), shape.outputs);
  }

  /// a = W x + b, before the activation.
  void forward(const Matrix& x) {
    a.resize(x.rows(), W.rows());
    a.noalias() = x * W.transpose();
    if (b.size() > 0) a.rowwise() += b;
  }
  /// Adds this block's gradients. a: the loss's derivatives with respect to z.
  void add_gradients(const Matrix& x) {
    if (dW.size() == 0) dW = Matrix::Zero(W.rows(), W.cols());
    dW.noalias() += a.transpose() * x;
    if (b.size() == 0) return;
    if (db.size() == 0) db = Vector::Zero(b.size());
    db += a.colwise().sum();
  }
  /// The derivatives with respect to the inputs.
  void carry(Matrix& dx) const {
    dx.resize(a.rows(), W.cols());
    dx.noalias() = a * W;
  }
  /// Adds the gradients of all blocks to g.
  void write(double* g) const {
    if (dW.size() == 0) return;  // there was no row
    Eigen::Map<Matrix>(g, W.rows(), W.cols()) += dW;
    if (db.size() > 0) Eigen::Map<Vector>(g + W.size(), db.size()) += db;
  }

  Matrix W;  // (out, in)
  Vector b;  // (out); empty without bias
  Matrix a;  // (rows of the block, out): the layer's activations, then the loss's derivatives with respect to z
  Matrix dW;
  Vector db;
};

std::span<double> numbers_of(Matrix& matrix) { return {matrix.data(), static_cast<std::size_t>(matrix.size())}; }

class Network {
 public:
  Network(const DenseShape& shape, std::span<const double> w) : shape_(shape) {
    fix_eigen_blocking();
    const double* next = w.data();
    for (std::size_t l = 0; l + 1 < shape.widths.size(); ++l) {
      const DenseLayerShape of{shape.widths[l], shape.widths[l + 1], shape.bias};
      layers_.emplace_back(of, next);
      next += of.parameters();
    }
  }

  OutputBlock forward(const Samples& rows, std::int64_t first) {
    const std::int64_t count = std::min(rows_a_block, rows.count - first);
    take_rows(rows, first, count);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      layers_[l].forward(input(l));
      if (l + 1 < layers_.size()) activate(shape_.activation, numbers_of(layers_[l].a));
    }
    Matrix& z = layers_.back().a;
    return {{z.data(), static_cast<std::size_t>(z.size())}, first, count};
  }

  /// Adds this block's gradients to dW and db. The last layer's `a` holds the loss's derivatives by then.
  void backward() {
    for (std::size_t l = layers_.size(); l-- > 0;) {
      DenseLayer& layer = layers_[l];
      layer.add_gradients(input(l));
      if (l > 0) to_layer_below(layer, layers_[l - 1].a);
    }
  }

  /// The loss's derivatives with respect to the block's inputs; call it after backward().
  OutputBlock input_derivatives(std::int64_t first) {
    layers_.front().carry(carried_);
    return {{carried_.data(), static_cast<std::size_t>(carried_.size())}, first, carried_.rows()};
  }

  void add_gradient(std::span<double> g) const {
    double* next = g.data();
    for (const DenseLayer& layer : layers_) {
      layer.write(next);
      next += layer.W.size() + layer.b.size();
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

  /// Replaces the activations of the layer below by the derivatives with respect to its z: da = dz W, dz = f'(z) da,
  /// with f' computed from f(z).
  void to_layer_below(const DenseLayer& layer, Matrix& below) {
    layer.carry(carried_);
    derive_activation(shape_.activation, numbers_of(below), numbers_of(carried_));
    below.swap(carried_);
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

void dense_forward(const DenseLayerShape& shape, std::int64_t rows, std::span<const double> w,
                   std::span<const double> x, std::span<double> z) {
  fix_eigen_blocking();
  DenseLayer layer(shape, w.data());
  for (std::int64_t first = 0; first < rows; first += rows_a_block) {
    const std::int64_t count = std::min(rows_a_block, rows - first);
    layer.forward(Eigen::Map<const Matrix>(x.data() + first * shape.inputs, count, shape.inputs));
    std::ranges::copy(numbers_of(layer.a), z.data() + first * shape.outputs);
  }
}

void dense_backward(const DenseLayerShape& shape, std::int64_t rows, std::span<const double> w,
                    std::span<const double> x, std::span<const double> dz, std::span<double> g, std::span<double> dx) {
  fix_eigen_blocking();
  DenseLayer layer(shape, w.data());
  Matrix carried;
  for (std::int64_t first = 0; first < rows; first += rows_a_block) {
    const std::int64_t count = std::min(rows_a_block, rows - first);
    layer.a = Eigen::Map<const Matrix>(dz.data() + first * shape.outputs, count, shape.outputs);
    layer.add_gradients(Eigen::Map<const Matrix>(x.data() + first * shape.inputs, count, shape.inputs));
    if (dx.empty()) continue;
    layer.carry(carried);
    std::ranges::copy(numbers_of(carried), dx.data() + first * shape.inputs);
  }
  layer.write(g.data());
}

void activate(Activation activation, std::span<double> z) {
  const bool relu = activation == Activation::relu;
  for (double& number : z) number = relu ? (number < 0.0 ? 0.0 : number) : std::tanh(number);
}

void derive_activation(Activation activation, std::span<const double> a, std::span<double> da) {
  const bool relu = activation == Activation::relu;
  for (std::size_t i = 0; i < a.size(); ++i) da[i] = relu ? (a[i] <= 0.0 ? 0.0 : da[i]) : (1.0 - a[i] * a[i]) * da[i];
}

}  // namespace simgrad::models
