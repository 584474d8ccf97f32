/// The devices that a scenario can name.
///
/// Sources: the vendors' data sheets, named at each device. Peak products, where one is known: the largest that was
/// measured over the peak (S. Bekman, Machine Learning Engineering, accelerator benchmarks, 2024 and 2025). The shares
/// of the peak that trainings reach are fitted to published ones, of scenarios/published. In float8 they are as much
/// smaller as the largest product's (1402.6 of 1979 TF for 794.5 of 989 on H100, 3432.5 of 4500 for 1745 of 2250 on
/// B200).
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "cluster/fabric/device.h"
#include "cluster/fabric/host_nics.h"

namespace simgrad::cluster {

namespace {

constexpr double TF = 1e12, GB = 1e9;

/// A host without a device computes at its speed.
struct NoDevice final : Device {
  static constexpr base::About about{
      .kind = "none", .summary = "no device: a host computes all flops at its speed", .cost = "", .source = ""};

  void describe(base::Describer&) override {}
  bool there() const override { return false; }
};

/// A device whose numbers the scenario gives.
struct CustomDevice final : Device {
  static constexpr base::About about{.kind = "custom",
                                     .summary = "a device of your own: give the peaks, memory and memory_bandwidth",
                                     .cost = "",
                                     .source = ""};

  void describe(base::Describer& d) override {
    Device::describe(d);
    if (!(memory_bandwidth_bytes_per_s > 0.0))
      d.refuse("memory_bandwidth", "a custom device needs a memory_bandwidth, as in memory_bandwidth = \"2039GB/s\"");
    if (formats().empty())
      d.refuse("float32", "a custom device needs a peak, as in float32 = \"19.5TF\" or bfloat16 = \"312TF\"");
  }
};

constexpr std::string_view rows_on_a100 = "MosaicML, llm-foundry: three rows of FSDP on A100 of 80 GB";
constexpr std::string_view products_on_b200 = "Moore Threads, SimuMax: products measured on B200";
constexpr std::string_view rows_on_h100 = "MosaicML, llm-foundry: three rows of FSDP on H100";

/// The shares of a device's peaks that trainings reach, and the published trainings that they are fitted to.
struct Trained {
  double efficiency, attention;
  std::string_view fitted_to = {}, attention_fitted_to = {};
  std::optional<double> float8 = {};
};

/// Numbers of a device in the catalogue. 0: it has no such thing.
struct Sheet {
  base::About about;
  double float64, float32, float16, bfloat16, float8;  ///< flop/s
  double memory_bytes, memory_bandwidth, host_link, nvlink, nic;
  std::int64_t devices_per_nic;  ///< that share a NIC of their host
  std::optional<double> peak_product = {}, float8_peak_product = {};
  Trained trained = {.efficiency = 0.7, .attention = 0.4};  ///< assumed, where no training is known
};

std::optional<double> unless_zero(double number) { return number > 0.0 ? std::optional(number) : std::nullopt; }

/// Half of a large product's share is reached a little below the size from which products are not bound by memory: the
/// factor is assumed.
double half_size_of(const Device& device) {
  constexpr double part = 0.85;
  const std::optional<double> half_precision = device.half_precision_flops_per_s();
  return half_precision ? std::round(part * *half_precision / device.memory_bandwidth_bytes_per_s) : 0.0;
}

base::Registry<Device>::Entry entry_of(const Sheet& sheet) {
  Device device;
  device.float64_flops_per_s = unless_zero(sheet.float64);
  device.float32_flops_per_s = unless_zero(sheet.float32);
  device.float16_flops_per_s = unless_zero(sheet.float16);
  device.bfloat16_flops_per_s = unless_zero(sheet.bfloat16);
  device.float8_flops_per_s = unless_zero(sheet.float8);
  device.memory_bytes = sheet.memory_bytes;
  device.memory_bandwidth_bytes_per_s = sheet.memory_bandwidth;
  device.host_link_bytes_per_s = unless_zero(sheet.host_link);
  device.nvlink_bytes_per_s = unless_zero(sheet.nvlink);
  device.nic_bytes_per_s = unless_zero(sheet.nic);
  device.peak_product = sheet.peak_product;
  device.float8_peak_product = sheet.float8_peak_product;
  device.efficiency = sheet.trained.efficiency;
  device.half_size = half_size_of(device);
  device.attention = sheet.trained.attention;
  device.float8_efficiency = sheet.trained.float8;
  device.fitted_to = sheet.trained.fitted_to;
  device.attention_fitted_to = sheet.trained.attention_fitted_to;
  return {sheet.about, [device] { return std::make_unique<Device>(device); }};
}

constexpr Sheet v100{.about = {.kind = "v100_32gb",
                               .summary = "NVIDIA V100 SXM2, 32 GB; efficiency fitted to a step of BERT-large",
                               .cost = "",
                               .source = "NVIDIA V100 data sheet, 2020; NIC: DGX-1, 100 Gbit/s for two GPUs"},
                     .float64 = 7.8 * TF,
                     .float32 = 15.7 * TF,
                     .float16 = 125.0 * TF,
                     .bfloat16 = 0.0,
                     .float8 = 0.0,
                     .memory_bytes = 32.0 * GB,
                     .memory_bandwidth = 900.0 * GB,
                     .host_link = 16.0 * GB,
                     .nvlink = 150.0 * GB,
                     .nic = 12.5 * GB,
                     .devices_per_nic = 2,
                     .trained = {.efficiency = 0.275,
                                 .attention = 0.275,
                                 .fitted_to = "Microsoft, DeepSpeed with 1-bit Adam, 2020: BERT-large on one V100"}};

constexpr Sheet a100_40gb{
    .about = {.kind = "a100_40gb",
              .summary = "NVIDIA A100 SXM, 40 GB; efficiency fitted to trainings; 271 TF is the largest product",
              .cost = "",
              .source = "NVIDIA A100 data sheet, 2021; NIC: DGX A100, 200 Gbit/s a GPU"},
    .float64 = 19.5 * TF,
    .float32 = 19.5 * TF,
    .float16 = 312.0 * TF,
    .bfloat16 = 312.0 * TF,
    .float8 = 0.0,
    .memory_bytes = 40.0 * GB,
    .memory_bandwidth = 1555.0 * GB,
    .host_link = 32.0 * GB,
    .nvlink = 300.0 * GB,
    .nic = 25.0 * GB,
    .devices_per_nic = 1,
    .peak_product = 0.87,
    .trained = {
        .efficiency = 0.7059, .attention = 0.3941, .fitted_to = rows_on_a100, .attention_fitted_to = rows_on_a100}};

constexpr Sheet a100_80gb_of(Sheet sheet) {
  sheet.about.kind = "a100_80gb";
  sheet.about.summary = "NVIDIA A100 SXM, 80 GB; efficiency fitted to trainings; 271 TF is the largest product";
  sheet.memory_bytes = 80.0 * GB;
  sheet.memory_bandwidth = 2039.0 * GB;
  return sheet;
}

constexpr Sheet h100{
    .about = {.kind = "h100",
              .summary = "NVIDIA H100 SXM, 80 GB; efficiency fitted to trainings; largest products 795, float8 1403 TF",
              .cost = "",
              .source = "NVIDIA H100 data sheet, 2023; NIC: DGX H100, 400 Gbit/s a GPU"},
    .float64 = 67.0 * TF,
    .float32 = 67.0 * TF,
    .float16 = 989.0 * TF,
    .bfloat16 = 989.0 * TF,
    .float8 = 1979.0 * TF,
    .memory_bytes = 80.0 * GB,
    .memory_bandwidth = 3350.0 * GB,
    .host_link = 64.0 * GB,
    .nvlink = 450.0 * GB,
    .nic = 50.0 * GB,
    .devices_per_nic = 1,
    .peak_product = 0.8,
    .float8_peak_product = 0.71,
    .trained = {.efficiency = 0.5772,
                .attention = 0.2056,
                .fitted_to = rows_on_h100,
                .attention_fitted_to = rows_on_h100,
                .float8 = 0.5092}};

constexpr Sheet h200_of(Sheet sheet) {
  sheet.about.kind = "h200";
  sheet.about.summary = "NVIDIA H200 SXM, 141 GB; its efficiency is assumed to be the H100's";
  sheet.about.source = "NVIDIA H200 data sheet, 2024; NIC: 400 Gbit/s a GPU";
  sheet.trained.fitted_to = sheet.trained.attention_fitted_to = {};
  sheet.peak_product = sheet.float8_peak_product = {};
  sheet.memory_bytes = 141.0 * GB;
  sheet.memory_bandwidth = 4800.0 * GB;
  return sheet;
}

constexpr Sheet b200{
    .about = {.kind = "b200",
              .summary = "NVIDIA B200, 180 GB; efficiency of measured products; 1745 TF is the largest",
              .cost = "",
              .source = "NVIDIA HGX B200 and DGX B200 data sheets, 2024; NIC: 400 Gbit/s a GPU"},
    .float64 = 37.0 * TF,
    .float32 = 75.0 * TF,
    .float16 = 2250.0 * TF,
    .bfloat16 = 2250.0 * TF,
    .float8 = 4500.0 * TF,
    .memory_bytes = 180.0 * GB,
    .memory_bandwidth = 8000.0 * GB,
    .host_link = 64.0 * GB,
    .nvlink = 900.0 * GB,
    .nic = 50.0 * GB,
    .devices_per_nic = 1,
    .peak_product = 0.78,
    .float8_peak_product = 0.76,
    .trained = {.efficiency = 0.5, .attention = 0.21, .fitted_to = products_on_b200, .float8 = 0.4918}};

constexpr Sheet mi300x{
    .about = {.kind = "mi300x",
              .summary = "AMD MI300X, 192 GB, seven 64 GB/s links; efficiency assumed; 668 TF is the largest product",
              .cost = "",
              .source = "AMD Instinct MI300X data sheet, 2023; NIC: 400 Gbit/s a GPU"},
    .float64 = 163.4 * TF,
    .float32 = 163.4 * TF,
    .float16 = 1307.4 * TF,
    .bfloat16 = 1307.4 * TF,
    .float8 = 2614.9 * TF,
    .memory_bytes = 192.0 * GB,
    .memory_bandwidth = 5300.0 * GB,
    .host_link = 64.0 * GB,
    .nvlink = 448.0 * GB,
    .nic = 50.0 * GB,
    .devices_per_nic = 1,
    .peak_product = 0.51,
    .trained = {.efficiency = 0.36, .attention = 0.21}};

// Cards without NVLink reach the other devices of their host through PCI Express. Their peaks are those of products
// that are summed up in float32.

constexpr Sheet rtx_3090{
    .about = {.kind = "rtx_3090",
              .summary = "NVIDIA GeForce RTX 3090, 24 GB, behind PCI Express; its efficiency is assumed",
              .cost = "",
              .source = "NVIDIA Ampere GA102 GPU Architecture, white paper, 2021; it names no NIC"},
    .float64 = 0.56 * TF,
    .float32 = 35.6 * TF,
    .float16 = 71.0 * TF,
    .bfloat16 = 71.0 * TF,
    .float8 = 0.0,
    .memory_bytes = 24.0 * GB,
    .memory_bandwidth = 936.0 * GB,
    .host_link = 32.0 * GB,
    .nvlink = 32.0 * GB,
    .nic = 0.0,
    .devices_per_nic = 0};

constexpr Sheet rtx_4090{
    .about = {.kind = "rtx_4090",
              .summary = "NVIDIA GeForce RTX 4090, 24 GB, behind PCI Express; its efficiency is assumed",
              .cost = "",
              .source = "NVIDIA Ada GPU Architecture, white paper, 2022; it names no NIC"},
    .float64 = 1.29 * TF,
    .float32 = 82.6 * TF,
    .float16 = 165.2 * TF,
    .bfloat16 = 165.2 * TF,
    .float8 = 330.3 * TF,
    .memory_bytes = 24.0 * GB,
    .memory_bandwidth = 1008.0 * GB,
    .host_link = 32.0 * GB,
    .nvlink = 32.0 * GB,
    .nic = 0.0,
    .devices_per_nic = 0};

constexpr Sheet a10g{
    .about = {.kind = "a10g",
              .summary = "NVIDIA A10G, 24 GB, behind PCI Express; its efficiency is assumed",
              .cost = "",
              .source = "NVIDIA A10G data sheet, 2022; NIC: Amazon EC2 g5.48xlarge, 100 Gbit/s for eight GPUs"},
    .float64 = 0.55 * TF,
    .float32 = 35.0 * TF,
    .float16 = 70.0 * TF,
    .bfloat16 = 70.0 * TF,
    .float8 = 0.0,
    .memory_bytes = 24.0 * GB,
    .memory_bandwidth = 600.0 * GB,
    .host_link = 32.0 * GB,
    .nvlink = 32.0 * GB,
    .nic = 12.5 * GB,
    .devices_per_nic = 8};

constexpr Sheet l4{
    .about = {.kind = "l4",
              .summary = "NVIDIA L4, 24 GB, behind PCI Express; its efficiency is assumed",
              .cost = "",
              .source = "NVIDIA L4 data sheet, 2023; NIC: Amazon EC2 g6.48xlarge, 100 Gbit/s for eight GPUs"},
    .float64 = 0.47 * TF,
    .float32 = 30.3 * TF,
    .float16 = 121.0 * TF,
    .bfloat16 = 121.0 * TF,
    .float8 = 242.5 * TF,
    .memory_bytes = 24.0 * GB,
    .memory_bandwidth = 300.0 * GB,
    .host_link = 32.0 * GB,
    .nvlink = 32.0 * GB,
    .nic = 12.5 * GB,
    .devices_per_nic = 8};

constexpr Sheet l40s{
    .about = {.kind = "l40s",
              .summary = "NVIDIA L40S, 48 GB, behind PCI Express; its efficiency is assumed",
              .cost = "",
              .source = "NVIDIA L40S data sheet, 2023; NIC: Amazon EC2 g6e.48xlarge, 400 Gbit/s for eight GPUs"},
    .float64 = 1.43 * TF,
    .float32 = 91.6 * TF,
    .float16 = 362.05 * TF,
    .bfloat16 = 362.05 * TF,
    .float8 = 733.0 * TF,
    .memory_bytes = 48.0 * GB,
    .memory_bandwidth = 864.0 * GB,
    .host_link = 32.0 * GB,
    .nvlink = 32.0 * GB,
    .nic = 12.5 * GB,
    .devices_per_nic = 2};

constexpr Sheet t4{
    .about = {.kind = "t4",
              .summary = "NVIDIA T4, 16 GB, behind PCI Express; its efficiency is assumed",
              .cost = "",
              .source = "NVIDIA T4 data sheet, 2019; NIC: Amazon EC2 g4dn.metal, 100 Gbit/s for eight GPUs"},
    .float64 = 0.25 * TF,
    .float32 = 8.1 * TF,
    .float16 = 65.0 * TF,
    .bfloat16 = 0.0,
    .float8 = 0.0,
    .memory_bytes = 16.0 * GB,
    .memory_bandwidth = 320.0 * GB,
    .host_link = 16.0 * GB,
    .nvlink = 16.0 * GB,
    .nic = 12.5 * GB,
    .devices_per_nic = 8};

constexpr Sheet tpu_v4{.about = {.kind = "tpu_v4",
                                 .summary = "Google TPU v4 chip, 32 GiB; products of bfloat16 only, six links to "
                                            "neighbours, each of 50 GB/s, as a torus has them; its efficiency is "
                                            "assumed",
                                 .cost = "",
                                 .source = "N. P. Jouppi et al., TPU v4: An Optically Reconfigurable Supercomputer for "
                                           "Machine Learning with Hardware Support for Embeddings, ISCA 2023"},
                       .float64 = 0.0,
                       .float32 = 0.0,
                       .float16 = 0.0,
                       .bfloat16 = 275.0 * TF,
                       .float8 = 0.0,
                       .memory_bytes = 32.0 * 1024.0 * 1024.0 * 1024.0,
                       .memory_bandwidth = 1200.0 * GB,
                       .host_link = 0.0,
                       .nvlink = 300.0 * GB,
                       .nic = 50.0 * GB,
                       .devices_per_nic = 0};

/// 128 cores at 2.45 GHz, each with two fused multiply-adds of four float64 numbers a cycle; 16 channels of DDR4-3200.
constexpr Sheet cpu_host{
    .about = {.kind = "cpu_host",
              .summary = "two AMD EPYC 7763 with 512 GB, without an accelerator; the efficiency is assumed",
              .cost = "",
              .source = "AMD EPYC 7763 data sheet, 2021; NIC: 100 Gbit/s"},
    .float64 = 5.0 * TF,
    .float32 = 10.0 * TF,
    .float16 = 0.0,
    .bfloat16 = 0.0,
    .float8 = 0.0,
    .memory_bytes = 512.0 * GB,
    .memory_bandwidth = 409.6 * GB,
    .host_link = 0.0,
    .nvlink = 0.0,
    .nic = 12.5 * GB,
    .devices_per_nic = 1,
    .trained = {.efficiency = 0.8, .attention = 0.8}};

constexpr std::array sheets{v100,
                            a100_40gb,
                            a100_80gb_of(a100_40gb),
                            h100,
                            h200_of(h100),
                            b200,
                            mi300x,
                            rtx_3090,
                            rtx_4090,
                            a10g,
                            l4,
                            l40s,
                            t4,
                            tpu_v4,
                            cpu_host};

}  // namespace

const base::Registry<Device>& devices() {
  static const base::Registry<Device> table = [] {
    std::vector<base::Registry<Device>::Entry> entries{base::entry<Device, NoDevice>()};
    for (const Sheet& sheet : sheets) entries.push_back(entry_of(sheet));
    entries.push_back(base::entry<Device, CustomDevice>());
    return base::Registry<Device>(std::move(entries));
  }();
  return table;
}

std::optional<std::int64_t> nics_of_host(std::string_view device, std::int64_t devices) {
  const auto* const sheet = std::ranges::find(sheets, device, [](const Sheet& each) { return each.about.kind; });
  if (sheet == sheets.end() || sheet->devices_per_nic == 0) return {};
  return std::max<std::int64_t>(1, devices / sheet->devices_per_nic);
}

}  // namespace simgrad::cluster
