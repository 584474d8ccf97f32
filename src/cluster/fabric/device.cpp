#include "cluster/fabric/device.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace simgrad::cluster {

using base::Bounds;
using base::Unit;

namespace {

constexpr std::array product_formats{ProductFormat::float64, ProductFormat::float32, ProductFormat::float16,
                                     ProductFormat::bfloat16, ProductFormat::float8};

}  // namespace

std::string_view name(ProductFormat format) {
  constexpr std::array<std::string_view, 5> names{"float64", "float32", "float16", "bfloat16", "float8"};
  return names.at(static_cast<std::size_t>(format));
}

std::optional<double> Device::peak(ProductFormat format) const {
  switch (format) {
    case ProductFormat::float64:
      return float64_flops_per_s;
    case ProductFormat::float32:
      return float32_flops_per_s;
    case ProductFormat::float16:
      return float16_flops_per_s;
    case ProductFormat::bfloat16:
      return bfloat16_flops_per_s;
    case ProductFormat::float8:
      return float8_flops_per_s;
  }
  return {};
}

std::optional<double> Device::half_precision_flops_per_s() const {
  return bfloat16_flops_per_s ? bfloat16_flops_per_s : float16_flops_per_s;
}

double Device::efficiency_of(double smallest, double peak_flops_per_s) const {
  const double half_precision = half_precision_flops_per_s().value_or(peak_flops_per_s);
  return large_products() * (smallest / (smallest + half_size * peak_flops_per_s / half_precision));
}

std::string Device::formats() const {
  std::vector<std::string> all;
  for (const ProductFormat format : product_formats)
    if (peak(format)) all.emplace_back(name(format));
  return base::joined(all, ", ");
}

void Device::describe(base::Describer& d) {
  constexpr Bounds flops{.least = 0.0, .most = 1e21, .positive = true};
  constexpr Bounds bandwidths{.least = 0.0, .most = 1e15, .positive = true};
  constexpr Unit flops_per_s = Unit::flops_per_second, bytes_per_s = Unit::bytes_per_second;
  d.quantity("float64", float64_flops_per_s, flops_per_s, "peak of products of float64 numbers", flops);
  d.quantity("float32", float32_flops_per_s, flops_per_s, "peak of products of float32 numbers", flops);
  d.quantity("float16", float16_flops_per_s, flops_per_s, "peak of products of float16 numbers", flops);
  d.quantity("bfloat16", bfloat16_flops_per_s, flops_per_s, "peak of products of bfloat16 numbers", flops);
  d.quantity("float8", float8_flops_per_s, flops_per_s, "peak of products of float8 numbers", flops);
  d.quantity("memory", memory_bytes, Unit::bytes, "size of its memory", Bounds::between(0, 1e18));
  d.quantity("memory_bandwidth", memory_bandwidth_bytes_per_s, bytes_per_s, "bandwidth of its memory",
             Bounds{.least = 0.0, .most = 1e18, .positive = true});
  d.quantity("host_link", host_link_bytes_per_s, bytes_per_s,
             "bandwidth between the device and its host's memory, each direction", bandwidths);
  d.quantity("nvlink_bandwidth", nvlink_bytes_per_s, bytes_per_s,
             "bandwidth to the other devices of its host, each direction; the default of the topology's own option",
             bandwidths);
  d.quantity("nic_bandwidth", nic_bytes_per_s, bytes_per_s,
             "bandwidth to other hosts, each direction; the default of cluster.bandwidth", bandwidths);
  if (d.given("efficiency")) {  // the catalogue's others are fitted beside its own
    half_size = 0.0;
    attention.reset();
    float8_efficiency.reset();
  }
  constexpr Bounds shares{.least = 0.0, .most = 1.0, .positive = true};
  d.number_or(
      "efficiency", efficiency, "peak_product",
      "the share of a peak that large products reach in trainings; \"peak_product\": the share that the largest "
      "measured product reached. An efficiency of your own replaces half_size, "
      "attention_efficiency and float8_efficiency, too, unless you give them",
      shares);
  if (!efficiency) float8_efficiency = float8_peak_product;
  d.number(
      "half_size", half_size,
      "a product in half precision whose smallest dimension is x reaches efficiency x / (x + half_size) of the "
      "peak; in other formats it is as much smaller or larger as their peak, and the same on a device without half "
      "precision",
      Bounds::between(0, 1e9));
  d.number("attention_efficiency", attention,
           "the share of a peak that fused attention reaches, forward and backward, counting the work that its mask "
           "leaves; default: its products are like all others, and masked entries are computed, too",
           shares);
  d.number("float8_efficiency", float8_efficiency,
           "the share of the peak that large products in float8 reach; default: efficiency", shares);
  if (d.given("float8_efficiency") && !float8_flops_per_s)
    d.refuse("float8_efficiency", fmt::format("the device multiplies no float8 numbers, but {}; leave it out, or give "
                                              "the peak, as in float8 = \"1979TF\"",
                                              formats()));
  if (!efficiency && !peak_product)
    d.refuse("efficiency", "no largest product of this device is known; give a number, as in efficiency = 0.7");
  d.quantity("launch", launch_s, Unit::seconds,
             "additional time of a forward or a backward pass through a layer, for example for launching kernels; "
             "`simgrad explain layers` shows the layers",
             Bounds::between(0, 1e3));
}

}  // namespace simgrad::cluster
