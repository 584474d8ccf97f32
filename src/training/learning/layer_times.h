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

/// The peak of products whose factors both follow from a sample, as attention's do. Those of float8 are of bfloat16.
double attention_peak(const cluster::Device& device, Precision precision);

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

/// The memory that a pass of a step reads and writes for its layers' parameters, beside what its products do.
struct ParameterPasses {
  double sum_bytes = 0.0;    ///< a parameter, in which the backward pass adds its gradient to that of other passes
  bool in_products = false;  ///< the products that make gradients add them, and write none of their own besides
  double casts = 1.0;  ///< of the parameters to the format of products, in a forward pass; a mean may be a fraction
  double casts_again = 0.0;  ///< likewise in a forward pass that is repeated to recompute
};

/// The passes of a strategy with such gradients.  adds: the rank has the gradient of earlier passes of the step.
ParameterPasses parameter_passes(const NumberBytes& bytes, MainGradients main, bool adds);

/// Times of one device, which has a peak for the precision's products.
///
/// A product of (m x k) by (k x n) takes max(2 m n k / (peak x efficiency(min(m, n, k))), bytes / memory bandwidth),
/// its bytes being those of both factors as the matrix units read them and of the result as it is kept. The rows of all
/// samples stand in m if the second factor is parameters; else each sample has products of its own. The backward pass
/// has two of them: the gradient of the first factor, (m x n) by (n x k), and of the second, (k x m) by (m x n); a
/// layer whose backward flops are as many as its forward ones has the second alone.
///
/// A fused attention's products, on a device that says what such a kernel reaches (attention_efficiency), take
/// max(flops / (peak x attention_efficiency), bytes / memory bandwidth): the flops of what its mask leaves, and the
/// bytes of queries, keys, values and results, since scores never leave the kernel. Its backward pass is five products
/// for the forward pass's two: the scores again, and two gradients of each product. On other devices they are products
/// as all others, mask and all. T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work
/// Partitioning", 2023, section 4.
///
/// float8 is the format of products by parameters, but for those that keep half precision (Product::half); attention
/// multiplies in bfloat16. Each forward pass casts the activations that such a product multiplies, the backward pass
/// the results' gradients, and the first forward pass of a step the parameters (each one where they are gathered anew):
/// two bytes of a number are read, with their maximum, and one byte is written for this product and one, transposed,
/// for the next. Large products in float8 reach the device's float8_efficiency. P. Micikevicius et al., "FP8 Formats
/// for Deep Learning", 2022, section 3; NVIDIA, Transformer Engine, fp8_cast_transpose, and "FP8 weight caching" in its
/// user guide.
///
/// A backward pass adds its gradients to main_grad, where the strategy has it (MainGradients): four bytes a parameter
/// are read and four written. A product does so in its epilogue, in place of writing a gradient, so that these are
/// among its bytes; parameters that no product multiplies by, as those of an embedding, a norm or a bias, are added up
/// behind the pass. D. Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
/// Megatron-LM", SC 2021; Megatron-LM, gradient_accumulation_fusion. Elsewhere a gradient of as many bytes as passes
/// make it in is read, with the sum, which is written: three times these bytes, in all micro-batches but the first. A
/// matrix that a tied head multiplies by is added to by the head and by the embedding.
///
/// Elementwise numbers take their bytes / memory bandwidth: in the backward pass half as many again, since it reads two
/// numbers and writes one where the forward pass reads one and writes one. A layer without products is one large
/// product of its flops. Each pass takes the device's launch besides; half of the backward pass's is for the gradients
/// of the parameters, if there are any. Layers with measured seconds take these alone, on any host.
class LayerTimes {
 public:
  LayerTimes(const cluster::Device& device, Precision precision, const ParameterPasses& passes = {});

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
  /// Whether a product multiplies numbers in the training's narrow format, and not as activations are kept.
  static bool narrow(const models::Product& product) { return product.parameters && !product.half; }
  double sum_s(const models::Layer& layer, double rows) const;
  double launch_s(double rows) const { return rows > 0.0 ? device_->launch_s : 0.0; }
  double product_s(double m, double n, double k, double result_bytes, bool narrow = true) const;
  bool fused(const models::Product& product) const { return product.fused > 0.0 && device_->attention; }
  double fused_s(const models::Product& product) const;
  double cast_s(const models::Product& product, double numbers) const;
  double forward_s(const models::Product& product, double rows) const;
  double backward_s(const models::Product& product, double rows, bool of_first_factor) const;

  const cluster::Device* device_;
  NumberBytes bytes_;
  double peak_;
  double attention_peak_;  ///< of products whose factors both follow from the sample, or that keep half precision
  double narrow_share_;    ///< of large products' efficiency, that products in the training's format reach
  ParameterPasses passes_;
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
