#include "strategies/buckets/bucket_options.h"

#include <fmt/format.h>

#include <cmath>

#include "strategies/circumstances.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

void BucketOptions::describe_bucket_options(base::Describer& d, std::string_view meaning) {
  describe_bucket_size(d, bucket_bytes, meaning);
  d.integer("credits", credits,
            "the most buckets of a rank that are under way at a time; of the waiting ones, the bucket of the earliest "
            "layers goes first, and a receiver takes a sender's buckets in the order in which they began",
            base::Bounds::between(1, 10'000));
  d.flag("split_layers", split_layers,
         "whether a large layer, whose bucket would have more bytes than bucket_size, is cut into equal buckets of at "
         "most bucket_size, as ByteScheduler and BytePS cut tensors; false: a layer travels whole");
  if (bucket_bytes) return;
  if (credits != default_credits)
    d.refuse("credits",
             "credits bounds the buckets that are under way, but without bucket_size there are none; give bucket_size, "
             "or leave credits out");
  if (split_layers)
    d.refuse("split_layers",
             "split_layers cuts buckets, but without bucket_size there are none; give bucket_size, or leave "
             "split_layers out");
}

std::optional<Refusal> BucketOptions::split_refusal(const Circumstances& circumstances) const {
  constexpr double most = 10'000;
  if (!bucket_bytes || !split_layers) return {};
  const double number_bytes = training::number_bytes(circumstances.precision, circumstances.wire).wire;
  const double buckets = number_bytes * static_cast<double>(circumstances.parameters) / *bucket_bytes;
  if (buckets <= most) return {};
  return Refusal{"bucket_size",
                 fmt::format("split_layers = true makes up to {:.0f} buckets of the model's {} parameters; "
                             "expected at most {:.0f}; give a larger bucket_size",
                             std::ceil(buckets), circumstances.parameters, most)};
}

UnitBuckets BucketOptions::buckets_of_units(const training::Learning& learning,
                                            const training::Compressor& compressor) const {
  return {learning.units(), *bucket_bytes, bytes_on_wire(learning.number_bytes(), compressor), split_layers};
}

}  // namespace simgrad::strategies
