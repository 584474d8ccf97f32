/// The seconds that a device takes for a layer's passes, and for an optimizer's update.
#pragma once

#include <cstdint>
#include <span>

#include "cluster/fabric/device.h"
#include "models/model.h"
#include "training/precision.h"

namespace simgrad::training {

/// The format in which a device multiplies.
cluster::ProductFormat multiplies_in(Precision precision);

/// Seconds of layers by the kind of their work.
struct KindTimes {
  double products = 0.0;     ///< by parameters, and flops of no known shape
  double attention = 0.0;    ///< of two factors that both follow from the sample
  double elementwise = 0.0;  ///< bytes of the device's memory
  double measured = 0.0;     ///< of layers with measured seconds, whose kinds are not known
  double launches = 0.0;     ///< a fixed time of each layer and pass

  double sum() const { return products + attention + elementwise + measured + launches; }
  KindTimes& operator+=(const KindTimes& other) {
    products += other.products;
    attention += other.attention;
    elementwise += other.elementwise;
    measured += other.measured;
    launches += other.launches;
    return *this;
  }
  KindTimes operator*(double factor) const {
    return {products * factor, attention * factor, elementwise * factor, measured * factor, launches * factor};
  }
};

/// Times of one device, which has a peak for the precision's products.
///
/// A product of (m x k) by (k x n) takes max(2 m n k / (peak x efficiency(min(m, n, k))), bytes / memory bandwidth),
/// its bytes being those of both factors as the matrix units read them and of the result as it is kept. The rows of all
/// samples stand in m if the second factor is parameters; else each sample has products of its own. The backward pass
/// has two of them: the gradient of the first factor, (m x n) by (n x k), and of the second, (k x m) by (m x n); a
/// layer whose backward flops are as many as its forward ones has the second alone. Elementwise numbers take their
/// bytes / memory bandwidth: in the backward pass half as many again, since it reads two numbers and writes one where
/// the forward pass reads one and writes one. A layer without products is one large product of its flops. Each pass
/// takes the device's launch besides; half of the backward pass's is for the gradients of the parameters, if there are
/// any. Layers with measured seconds take these alone, on any host.
class LayerTimes {
 public:
  LayerTimes(const cluster::Device& device, Precision precision);

  double forward_s(const models::Layer& layer, double rows) const;
  double backward_s(const models::Layer& layer, double rows) const;
  /// The seconds of the backward pass that are for the gradients of the parameters.
  double weights_s(const models::Layer& layer, double rows) const;
  /// The seconds of both passes by kind.
  KindTimes forward_by_kind(const models::Layer& layer, double rows) const;
  KindTimes backward_by_kind(const models::Layer& layer, double rows) const;
  /// Seconds to compute the selective part again.
  KindTimes selective_by_kind(const models::Layer& layer, double rows) const;
  /// Forwards and backwards through all layers.
  double gradient_s(std::span<const models::Layer> layers, double rows) const;
  /// Flops of no known shape: at the efficiency of large products.
  double flops_s(double flops) const;

 private:
  double launch_s(double rows) const { return rows > 0.0 ? device_->launch_s : 0.0; }
  double product_s(double m, double n, double k, double result_bytes) const;
  double forward_s(const models::Product& product, double rows) const;
  double backward_s(const models::Product& product, double rows, bool of_first_factor) const;

  const cluster::Device* device_;
  NumberBytes bytes_;
  double peak_;
};

/// Bytes of the device's memory that an update of one parameter reads and writes: the gradient, the parameter or its
/// master copy, the optimizer's vectors; a half-precision parameter is written besides.
double update_bytes(Precision precision, std::size_t optimizer_vectors);

/// A sample's measured seconds for the gradients of the parameters; half of the backward pass where they were not
/// measured apart, and none in a layer without parameters.
double measured_weights_s(const models::Layer& layer);

/// Whether any layer has measured seconds.
bool any_measured(std::span<const models::Layer> layers);

}  // namespace simgrad::training
