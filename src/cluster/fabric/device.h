/// Devices: the peaks, the memory and the links of the accelerator, or of the processors, on which a host computes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::cluster {

/// The formats whose products a device has peaks for.
enum class ProductFormat : unsigned char { float64, float32, float16, bfloat16, float8 };
std::string_view name(ProductFormat format);

/// A device. Peaks are those of dense products, without sparsity.
///
/// A product takes max(flops / (peak x efficiency(x)), bytes / memory bandwidth), x being the smallest of its three
/// dimensions, and other work takes its bytes / memory bandwidth. A pass through a layer takes `launch` besides.
/// Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model", CACM 52, 2009.
struct Device : base::Described {
  std::optional<double> float64_flops_per_s, float32_flops_per_s, float16_flops_per_s, bfloat16_flops_per_s,
      float8_flops_per_s;
  double memory_bytes = 0.0;
  double memory_bandwidth_bytes_per_s = 0.0;
  std::optional<double> host_link_bytes_per_s;  ///< each direction, between the device and its host's memory
  std::optional<double> nvlink_bytes_per_s;     ///< each direction, to its host's other devices, NVLink or PCI Express
  std::optional<double> nic_bytes_per_s;        ///< each direction, to other hosts
  std::optional<double> peak_product = {};      ///< the share of a peak that the largest measured product reached
  std::optional<double> float8_peak_product = {};  ///< likewise in float8
  /// The share of a peak that large products reach in trainings; nothing: peak_product.
  std::optional<double> efficiency = 0.8;
  double half_size = 0.0;           ///< the size at which products reach half of it; 0: all sizes are alike
  std::optional<double> attention;  ///< the share that fused attention reaches; nothing: it is products as all others
  std::optional<double> float8_efficiency = {};  ///< of large products in float8; nothing: efficiency
  /// The measurements that the catalogue's efficiency and attention were fitted to; empty: the two are assumed.
  std::string_view fitted_to = {}, attention_fitted_to = {};
  double launch_s = 0.0;  ///< of each layer and pass: kernels that are started one by one

  void describe(base::Describer& d) override;

  /// Whether there is a device: false for `none`.
  virtual bool there() const { return true; }
  /// Peak flop/s of products of such numbers; nothing where the device has none.
  std::optional<double> peak(ProductFormat format) const;
  double large_products() const { return efficiency ? *efficiency : peak_product.value(); }
  double attention_efficiency() const { return attention.value_or(large_products()); }
  /// The efficiency of large products in float8 over that of other formats.
  double float8_share() const { return float8_efficiency ? *float8_efficiency / large_products() : 1.0; }
  /// The peak of bfloat16, else of float16.
  std::optional<double> half_precision_flops_per_s() const;
  /// efficiency x / (x + h) of a product whose smallest dimension is x. h is half_size in half precision, and in
  /// another format as much smaller or larger as its peak: what keeps small products from their peak is as long in all
  /// formats. Where a device has no half precision, h is half_size in every format.
  double efficiency_of(double smallest, double peak_flops_per_s) const;
  /// Time of reading and writing so many bytes of the device's memory.
  double memory_s(double bytes) const { return bytes / memory_bandwidth_bytes_per_s; }
  /// Additions of float64 numbers a second, each of which reads two and writes one: the speed of its host.
  double additions_per_s() const { return memory_bandwidth_bytes_per_s / (3.0 * 8.0); }
  /// The formats that it has peaks for: "float64, float32".
  std::string formats() const;
};

/// none, v100_32gb, a100_40gb, a100_80gb, h100, h200, b200, mi300x, rtx_3090, rtx_4090, a10g, l4, l40s, t4, tpu_v4,
/// cpu_host, custom
const base::Registry<Device>& devices();

}  // namespace simgrad::cluster
