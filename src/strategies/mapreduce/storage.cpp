#include "strategies/mapreduce/storage.h"

namespace simgrad::strategies {

void DiskStorage::describe(base::Describer& d) {
  d.quantity("bandwidth", bandwidth_bytes_per_s, base::Unit::bytes_per_second,
             "bandwidth of each host's disk, reading or writing",
             base::Bounds{.least = 0.0, .most = 1e15, .positive = true});
}

const base::Registry<IntermediateStorage>& storages() {
  static const base::Registry<IntermediateStorage> table({
      base::entry<IntermediateStorage, MemoryStorage>(),
      base::entry<IntermediateStorage, DiskStorage>(),
  });
  return table;
}

}  // namespace simgrad::strategies
