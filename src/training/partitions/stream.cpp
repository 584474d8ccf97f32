#include "training/partitions/stream.h"

namespace simgrad::training {

void Stream::describe(base::Describer& d) {
  d.quantity(
      "duration", duration_s, base::Unit::seconds,
      "the simulated time in which the training rows arrive, all but the last window, in order and at a constant rate",
      {.least = 0.0, .most = 1e9, .positive = true});
  d.integer("window", window,
            "the number of latest rows from which a batch is drawn; as many rows are there at the beginning",
            base::Bounds::at_least(1));
}

DataShards Stream::shards(const Owned& owned, int parts) const {
  DataShards shards;
  for (int part = 0; part <= parts; ++part) shards.starts.push_back(stretch(owned.rows, part, parts));
  return shards;
}

}  // namespace simgrad::training
