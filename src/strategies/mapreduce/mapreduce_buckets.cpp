/// MapReduce whose workers send sums in buckets of layers while the backward pass makes them.
#include <fmt/format.h>

#include "collectives/flat.h"
#include "strategies/mapreduce/mapreduce.h"
#include "strategies/servers/bucket_service.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

void MapReduce::describe_buckets(base::Describer& d) {
  describe_bucket_options(
      d,
      "smallest bucket, in bytes on the wire; sums are sent in buckets of layers while the backward pass continues, "
      "and each bucket is reduced and broadcast by itself; \"none\": one sum after it");
  if (!bucket_bytes) return;
  const auto refuse = [&](const char* option, const std::string& written) {
    d.refuse(option, fmt::format("bucket_size sends a worker's sum while the backward pass makes it, which {} does not "
                                 "allow; leave one of them out",
                                 written));
  };
  if (job != Job::gradient) refuse("job", "job = \"k_means\"");
  if (!combiner) refuse("combiner", "combiner = false");
  if (splits > 1) refuse("splits", fmt::format("splits = {}", splits));
  if (storage.kind() != "memory") refuse("storage", fmt::format("storage = \"{}\"", storage.kind()));
  if (broadcast.kind() != collectives::FlatBroadcast::about.kind)
    refuse("broadcast", fmt::format("broadcast = \"{}\"", broadcast.kind()));
}

UnitBuckets MapReduce::buckets(const training::Learning& learning) const {
  return buckets_of_units(learning, *compression);
}

std::function<std::vector<std::int64_t>(const training::Learning&)> MapReduce::dealt_in_buckets() const {
  if (!bucket_bytes) return nullptr;
  return [options = *this](const training::Learning& learning) {
    return lengths_of(options.buckets(learning).stretches());
  };
}

void MapReduce::map_in_buckets(Worker& worker) const {
  work_in_buckets(worker, buckets(worker.learning()), {.credits = credits}, *compression, *parameter_compression);
}

void MapReduce::reduce_in_buckets(Server& server) const {
  serve_in_buckets(server,
                   {.gradients = *compression,
                    .parameters = *parameter_compression,
                    .reduce = reduce,
                    .bucketing = {.buckets = buckets(server.learning()).count(), .travel = {.credits = credits}}});
}

}  // namespace simgrad::strategies
