#include "strategies/mapreduce/storage.h"

namespace simgrad::strategies {

using base::Bounds;
using base::Unit;

namespace {

constexpr Bounds disk_bandwidths{.least = 0.0, .most = 1e15, .positive = true};

}  // namespace

training::RowsOnDisk IntermediateStorage::disk_of(double bandwidth_bytes_per_s) const {
  return {.bandwidth_bytes_per_s = bandwidth_bytes_per_s,
          .bytes_per_sample = bytes_per_sample,
          .flops_per_sample = flops_per_sample,
          .cached = in_memory()};
}

std::optional<training::RowsOnDisk> MemoryStorage::disk() const {
  return bandwidth_bytes_per_s ? std::optional(disk_of(*bandwidth_bytes_per_s)) : std::nullopt;
}

void IntermediateStorage::describe_rows(base::Describer& d) {
  d.quantity(
      "bytes_per_sample", bytes_per_sample, Unit::bytes,
      "bytes of a row on disk; default: 8 bytes per feature, 1 per colour of an image's pixel, 2 per token of text",
      Bounds::above_zero());
  d.number("flops_per_sample", flops_per_sample, "flops of parsing and scaling a row, each time after it is read",
           Bounds::at_least(0));
}

void MemoryStorage::describe(base::Describer& d) {
  d.quantity_or("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second, "none",
                "bandwidth of each host's disk, from which rows are read into memory; \"none\": rows are there at no "
                "cost",
                disk_bandwidths);
  describe_rows(d);
  if (bandwidth_bytes_per_s) return;
  const auto refuse = [&](const std::string& key) {
    d.refuse(key,
             key + " is of rows that are read from disk, but bandwidth = \"none\" reads none; leave one of them out");
  };
  if (bytes_per_sample) refuse("bytes_per_sample");
  if (flops_per_sample > 0.0) refuse("flops_per_sample");
}

void DiskStorage::describe(base::Describer& d) {
  d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second,
             "bandwidth of each host's disk, reading or writing", disk_bandwidths);
  describe_rows(d);
}

const base::Registry<IntermediateStorage>& storages() {
  static const base::Registry<IntermediateStorage> table({
      base::entry<IntermediateStorage, MemoryStorage>(),
      base::entry<IntermediateStorage, DiskStorage>(),
  });
  return table;
}

}  // namespace simgrad::strategies
