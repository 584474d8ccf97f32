#include "training/partitions/stream.h"

namespace simgrad::training {

void Stream::describe(base::Describer& d) {
  d.quantity("duration", duration_s, base::Unit::seconds,
             "the simulated time in which the training rows come in, all but the last window, in their order and at an "
             "even rate",
             {.least = 0.0, .most = 1e9, .positive = true});
  d.integer("window", window, "how many of the last rows a batch is drawn from; as many are there at the beginning",
            base::Bounds::at_least(1));
}

DataShards Stream::shards(const Owned& owned, int parts) const {
  DataShards shards;
  for (int part = 0; part <= parts; ++part) shards.starts.push_back(stretch(owned.rows, part, parts));
  return shards;
}

}  // namespace simgrad::training
