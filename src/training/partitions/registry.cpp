#include "training/partitions/by_label.h"
#include "training/partitions/dirichlet.h"
#include "training/partitions/plain.h"
#include "training/partitions/quantity.h"
#include "training/partitions/stream.h"

namespace simgrad::training {

const base::Registry<Partition>& partitions() {
  static const base::Registry<Partition> table({
      base::entry<Partition, Iid>(),
      base::entry<Partition, Contiguous>(),
      base::entry<Partition, ByLabel>(),
      base::entry<Partition, Dirichlet>(),
      base::entry<Partition, Quantity>(),
      base::entry<Partition, Stream>(),
  });
  return table;
}

}  // namespace simgrad::training
