#include "training/learning/layer_times.h"

#include <algorithm>

#include "base/errors.h"
#include "training/learning/units.h"

namespace simgrad::training {

cluster::ProductFormat multiplies_in(Precision precision) {
  switch (precision) {
    case Precision::float64:
      break;
    case Precision::float32:
      return cluster::ProductFormat::float32;
    case Precision::bfloat16:
      return cluster::ProductFormat::bfloat16;
    case Precision::float16:
      return cluster::ProductFormat::float16;
    case Precision::float8:
      return cluster::ProductFormat::float8;
  }
  return cluster::ProductFormat::float64;
}

double attention_peak(const cluster::Device& device, Precision precision) {
  const double peak = device.peak(multiplies_in(precision)).value_or(0.0);
  return precision == Precision::float8 ? device.half_precision_flops_per_s().value_or(peak) : peak;
}

ParameterPasses parameter_passes(const NumberBytes& bytes, MainGradients main, bool adds) {
  if (bytes.in_buffer(main)) return {.sum_bytes = 2.0 * bytes.of_gradients(main).kept_gradient, .in_products = true};
  return {.sum_bytes = adds ? 3.0 * bytes.gradient : 0.0};
}

LayerTimes::LayerTimes(const cluster::Device& device, Precision precision, const ParameterPasses& passes)
    : device_(&device),
      bytes_(number_bytes(precision)),
      peak_(device.peak(multiplies_in(precision)).value_or(0.0)),
      attention_peak_(attention_peak(device, precision)),
      narrow_share_(precision == Precision::float8 ? device.float8_share() : 1.0),
      passes_(passes) {
  base::check(peak_ > 0.0, "the device multiplies numbers of that precision");
}

double LayerTimes::product_s(double m, double n, double k, double result_bytes, bool narrow) const {
  if (!(m * n * k > 0.0)) return 0.0;
  const double peak = narrow ? peak_ : attention_peak_, share = narrow ? narrow_share_ : 1.0;
  const double computing_s = 2.0 * m * n * k / (peak * share * device_->efficiency_of(std::min({m, n, k}), peak));
  const double factors = (m * k + k * n) * (narrow ? bytes_.product : bytes_.activation);
  return std::max(computing_s, device_->memory_s(factors + m * n * result_bytes));
}

/// The forward pass of a product in a fused attention, of one sample. The scores are the larger of the two matrices
/// with a row for each query, since there are more keys than numbers in a head.
double LayerTimes::fused_s(const models::Product& product) const {
  const double m = product.m, n = product.n, k = product.k;
  const double outside = m * k + k * n + m * n - m * std::max(k, n);
  return std::max(product.fused * 2.0 * m * n * k / (attention_peak_ * device_->attention_efficiency()),
                  device_->memory_s(outside * bytes_.activation));
}

/// Casts of so many numbers that a product by parameters multiplies in a narrower format than they are kept in.
double LayerTimes::cast_s(const models::Product& product, double numbers) const {
  if (!narrow(product) || bytes_.product == bytes_.activation) return 0.0;
  return device_->memory_s(numbers * (bytes_.activation + 2.0 * bytes_.product));
}

double LayerTimes::forward_s(const models::Product& product, double rows) const {
  if (fused(product)) return product.count * rows * fused_s(product);
  const double m = product.parameters ? product.m * rows : product.m;
  const double times = product.parameters ? product.count : product.count * rows;
  const double cast = m * product.k + passes_.casts * product.k * product.n;
  return times * (cast_s(product, cast) + product_s(m, product.n, product.k, bytes_.activation, narrow(product)));
}

double LayerTimes::backward_s(const models::Product& product, double rows, bool of_first_factor) const {
  constexpr double fused_products = 2.5;  // five for two
  if (fused(product)) return fused_products * forward_s(product, rows);
  const bool by = product.parameters, is_narrow = narrow(product);
  const double gradient_bytes = passes_.in_products ? passes_.sum_bytes : bytes_.gradient;
  const double m = by ? product.m * rows : product.m, times = by ? product.count : product.count * rows;
  double seconds = cast_s(product, m * product.n) +
                   product_s(product.k, product.n, m, by ? gradient_bytes : bytes_.activation, is_narrow);
  if (of_first_factor) seconds += product_s(m, product.k, product.n, bytes_.activation, is_narrow);
  return times * seconds;
}

double LayerTimes::flops_s(double flops) const { return flops / (peak_ * narrow_share_ * device_->large_products()); }

/// The sums of the layer's gradient with those of other passes, but for what products add.
double LayerTimes::sum_s(const models::Layer& layer, double rows) const {
  if (!(rows > 0.0) || passes_.sum_bytes == 0.0) return 0.0;
  auto parameters = static_cast<double>(layer.count + layer.tied);
  if (passes_.in_products)
    for (const models::Product& product : layer.products)
      if (product.parameters) parameters -= product.count * product.n * product.k;
  return device_->memory_s(passes_.sum_bytes * std::max(0.0, parameters));
}

double LayerTimes::forward_s(const models::Layer& layer, double rows) const {
  if (layer.forward_s > 0.0) return layer.forward_s * rows;
  double seconds = launch_s(rows) + (layer.products.empty() ? flops_s(layer.forward_flops * rows) : 0.0);
  for (const models::Product& product : layer.products) seconds += forward_s(product, rows);
  return seconds + device_->memory_s(layer.elementwise * rows * bytes_.activation);
}

double LayerTimes::backward_s(const models::Layer& layer, double rows) const {
  if (layer.backward_s > 0.0) return layer.backward_s * rows;
  const bool of_first_factor = of_both_factors(layer);
  double seconds = launch_s(rows) + (layer.products.empty() ? flops_s(layer.backward_flops * rows) : 0.0);
  for (const models::Product& product : layer.products)
    seconds += backward_s(product, rows, of_first_factor || !product.parameters);
  return seconds + device_->memory_s(1.5 * layer.elementwise * rows * bytes_.activation) + sum_s(layer, rows);
}

double LayerTimes::weights_s(const models::Layer& layer, double rows) const {
  if (layer.backward_s > 0.0) return measured_weights_s(layer) * rows;
  double seconds = sum_s(layer, rows) + (layer.products.empty() ? flops_s(weight_flops(layer) * rows) : 0.0);
  if (layer.count > 0) seconds += 0.5 * launch_s(rows);
  for (const models::Product& product : layer.products)
    if (product.parameters) seconds += backward_s(product, rows, false);
  return seconds;
}

KindTimes LayerTimes::forward_by_kind(const models::Layer& layer, double rows) const {
  if (layer.forward_s > 0.0) return {.measured = layer.forward_s * rows};
  KindTimes times{.products = layer.products.empty() ? flops_s(layer.forward_flops * rows) : 0.0,
                  .elementwise = device_->memory_s(layer.elementwise * rows * bytes_.activation),
                  .launches = launch_s(rows)};
  for (const models::Product& product : layer.products)
    (product.parameters ? times.products : times.attention) += forward_s(product, rows);
  return times;
}

KindTimes LayerTimes::backward_by_kind(const models::Layer& layer, double rows) const {
  if (layer.backward_s > 0.0) return {.measured = layer.backward_s * rows};
  KindTimes times{
      .products = layer.products.empty() ? flops_s(layer.backward_flops * rows) : 0.0,
      .elementwise = device_->memory_s(1.5 * layer.elementwise * rows * bytes_.activation) + sum_s(layer, rows),
      .launches = launch_s(rows)};
  const bool of_first_factor = of_both_factors(layer);
  for (const models::Product& product : layer.products)
    (product.parameters ? times.products : times.attention) +=
        backward_s(product, rows, of_first_factor || !product.parameters);
  return times;
}

KindTimes LayerTimes::selective_by_kind(const models::Layer& layer, double rows) const {
  KindTimes times{.elementwise = device_->memory_s(layer.selective_elementwise * rows * bytes_.activation)};
  for (const models::Product& product : layer.products)
    if (!product.parameters) times.attention += forward_s(product, rows);
  if (times.attention == 0.0) times.attention = flops_s(layer.selective_flops * rows);
  return times;
}

double LayerTimes::gradient_s(std::span<const models::Layer> layers, double rows) const {
  double seconds = 0.0;
  for (const models::Layer& layer : layers) seconds += forward_s(layer, rows);
  for (const models::Layer& layer : layers) seconds += backward_s(layer, rows);
  return seconds;
}

double update_bytes(Precision precision, std::size_t optimizer_vectors) {
  const NumberBytes bytes = number_bytes(precision);
  const double kept = bytes.master > 0.0 ? bytes.master : bytes.parameter;
  const double written_besides = bytes.master > 0.0 ? bytes.parameter : 0.0;
  return bytes.gradient + 2.0 * kept + written_besides + 2.0 * bytes.moment * static_cast<double>(optimizer_vectors);
}

double measured_weights_s(const models::Layer& layer) {
  if (layer.count == 0) return 0.0;
  return layer.weights_s > 0.0 ? layer.weights_s : layer.backward_s / 2.0;
}

bool any_measured(std::span<const models::Layer> layers) {
  return std::ranges::any_of(
      layers, [](const models::Layer& layer) { return layer.forward_s > 0.0 || layer.backward_s > 0.0; });
}

}  // namespace simgrad::training
