/// Parameter servers whose workers push and pull buckets of layers beside their passes.
#include <fmt/format.h>

#include "strategies/servers/bucket_service.h"
#include "strategies/servers/parameter_server.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

void ParameterServer::describe_buckets(base::Describer& d) {
  describe_bucket_options(d,
                          "smallest bucket, in bytes on the wire; buckets of gradients are pushed while the backward "
                          "pass continues, and parameters pulled as the next forward pass needs them; every server "
                          "holds a stretch of each bucket; \"none\": everything at once");
  describe_pulls(d, pull, bucket_bytes);
  if (bucket_bytes && restarts())
    d.refuse(
        "bucket_size",
        fmt::format("bucket_size pushes a gradient while it is computed, but {} gives it up when new parameters come; "
                    "leave one of them out",
                    k_batch ? "k_batch under bsp" : "late = \"cancel\""));
  if (bucket_bytes && dealt_by == Sharding::hash)
    d.refuse(
        "sharding",
        "sharding = \"hash\" tears layers apart, but with bucket_size every server holds a stretch of each bucket; "
        "leave one of them out");
}

UnitBuckets ParameterServer::buckets(const training::Learning& learning) const {
  return buckets_of_units(learning, *compression);
}

BucketTravel ParameterServer::travel() const { return {.credits = credits, .pulls_whole = pull == Pulls::at_once}; }

Bucketing ParameterServer::bucketing(const Server& server) const {
  if (!bucket_bytes) return {};
  return {.buckets = buckets(server.learning()).count(), .travel = travel()};
}

std::function<std::vector<std::int64_t>(const training::Learning&)> ParameterServer::dealt_in_buckets() const {
  if (!bucket_bytes) return nullptr;
  return [options = *this](const training::Learning& learning) {
    return lengths_of(options.buckets(learning).stretches());
  };
}

void ParameterServer::work_in_buckets(Worker& worker) const {
  const UnitBuckets all = buckets(worker.learning());
  strategies::work_in_buckets(worker, all, travel(), *compression, *parameter_compression, backup_workers > 0);
}

void ParameterServer::serve_bsp_in_buckets(Server& server) const {
  const int P = server.workers();
  const auto count_fresh = [&] {
    for (int worker = 0; worker < P; ++worker) server.count_staleness(worker, 0);
  };
  serve_in_buckets(server,
                   {.gradients = *compression,
                    .parameters = *parameter_compression,
                    .reduce = reduce,
                    .bucketing = bucketing(server),
                    .weight = part == Part::mean ? P : 1.0,
                    .after_step = consistency == Consistency::ssp ? std::function<void()>(count_fresh) : nullptr});
}

}  // namespace simgrad::strategies
