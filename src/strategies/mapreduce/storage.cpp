#include "strategies/mapreduce/storage.h"

namespace simgrad::strategies {

void DiskStorage::describe(base::Describer& d) {
  d.quantity("bandwidth", bandwidth_bytes_per_s, base::Unit::bytes_per_second,
             "bandwidth of each host's disk, reading or writing",
             base::Bounds{.least = 0.0, .most = 1e15, .positive = true});
}

const base::Registry<Storage>& storages() {
  static const base::Registry<Storage> table({
      base::entry<Storage, MemoryStorage>(),
      base::entry<Storage, DiskStorage>(),
  });
  return table;
}

}  // namespace simgrad::strategies
