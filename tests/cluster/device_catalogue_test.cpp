// The catalogue's devices against the vendors' data sheets, number by number.
#include "catch.h"
#include "cluster/fabric/device.h"

namespace device_catalogue_test {

using namespace simgrad;

namespace {

/// TF of float64, float32, float16, bfloat16 and float8 products, without sparsity; GB of memory, and GB/s of memory,
/// host link and NVLink (or its like), each direction. 0: there is none.
struct Row {
  const char* kind;
  double float64, float32, float16, bfloat16, float8, memory, memory_bandwidth, host_link, nvlink;
};
constexpr Row sheets[] = {
    {"v100_32gb", 7.8, 15.7, 125, 0, 0, 32, 900, 16, 150},
    {"a100_40gb", 19.5, 19.5, 312, 312, 0, 40, 1555, 32, 300},
    {"a100_80gb", 19.5, 19.5, 312, 312, 0, 80, 2039, 32, 300},
    {"h100", 67, 67, 989, 989, 1979, 80, 3350, 64, 450},
    {"h200", 67, 67, 989, 989, 1979, 141, 4800, 64, 450},
    {"b200", 37, 75, 2250, 2250, 4500, 180, 8000, 64, 900},
    {"mi300x", 163.4, 163.4, 1307.4, 1307.4, 2614.9, 192, 5300, 64, 448},
    // Without NVLink: PCI Express 4.0 (T4: 3.0) with 16 lanes.
    {"rtx_3090", 0.56, 35.6, 71, 71, 0, 24, 936, 32, 32},
    {"rtx_4090", 1.29, 82.6, 165.2, 165.2, 330.3, 24, 1008, 32, 32},
    {"a10g", 0.55, 35, 70, 70, 0, 24, 600, 32, 32},
    {"l4", 0.47, 30.3, 121, 121, 242.5, 24, 300, 32, 32},
    {"l40s", 1.43, 91.6, 362.05, 362.05, 733, 48, 864, 32, 32},
    {"t4", 0.25, 8.1, 65, 0, 0, 16, 320, 16, 16},
    {"tpu_v4", 0, 0, 0, 275, 0, 34.359738368, 1200, 0, 300},  // 32 GiB; six links of 50
    {"cpu_host", 5, 10, 0, 0, 0, 512, 409.6, 0, 0},           // 16 channels of 25.6
};

}  // namespace

TEST_CASE("the catalogue's devices have the numbers of their data sheets") {
  std::size_t seen = 0;
  for (const Row& row : sheets) {
    CAPTURE(row.kind);
    const auto* const entry = cluster::devices().find(row.kind);
    REQUIRE(entry);
    ++seen;
    const auto device = entry->make();
    CHECK(device->float64_flops_per_s.value_or(0) == Approx(row.float64 * 1e12));
    CHECK(device->float32_flops_per_s.value_or(0) == Approx(row.float32 * 1e12));
    CHECK(device->float16_flops_per_s.value_or(0) == Approx(row.float16 * 1e12));
    CHECK(device->bfloat16_flops_per_s.value_or(0) == Approx(row.bfloat16 * 1e12));
    CHECK(device->float8_flops_per_s.value_or(0) == Approx(row.float8 * 1e12));
    CHECK(device->memory_bytes == Approx(row.memory * 1e9));
    CHECK(device->memory_bandwidth_bytes_per_s == Approx(row.memory_bandwidth * 1e9));
    CHECK(device->host_link_bytes_per_s.value_or(0) == Approx(row.host_link * 1e9));
    CHECK(device->nvlink_bytes_per_s.value_or(0) == Approx(row.nvlink * 1e9));
  }
  CHECK(seen + 2 == cluster::devices().entries().size());  // none, and custom
}

}  // namespace device_catalogue_test
