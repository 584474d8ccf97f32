// The record of a run that answers requests: the time and memory of its ranks, and the numbers of its service.
#include <fmt/format.h>

#include <algorithm>

#include "serving/service.h"

namespace simgrad::serving {

using record::TimePart;

/// The time of every rank of a group is known from its passes, whoever has gone through them for it.
void Service::fill_ranks(record::Record& record) const {
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const RankSeconds& rank_seconds = spent_[rank];
    record::RankUse& use = record.ranks[rank];
    use.compute_s = rank_seconds.compute_s;
    use.communicate_s = std::min(rank_seconds.communicate_s, record.simulated_s - rank_seconds.compute_s);
    use.wait_s = record.simulated_s - use.compute_s - use.communicate_s;
    use.parts = {};
    use.parts[TimePart::compute_other] = use.compute_s;
    use.parts[TimePart::communicate_transfer] = use.communicate_s;
    use.parts[TimePart::wait_other] = use.wait_s;
    record.hosts[static_cast<std::size_t>(use.host)].busy_s = use.compute_s;
  }
}

/// The parameters, and the keys and values of the most tokens for which there was ever room taken.
void Service::fill_memory(record::Record& record) const {
  record.memory_bytes_max = 0.0;
  record.serving.cache_bytes_max = 0.0;
  for (int r = 0; r < layout().replicas(); ++r) {
    const double tokens = replicas_[static_cast<std::size_t>(r)].reserved_most();
    for (const std::vector<int>& stage : layout().ranks[static_cast<std::size_t>(r)])
      for (const int rank : stage) {
        record::RankUse& use = record.ranks[static_cast<std::size_t>(rank)];
        const StageCosts& costs = setup_.fleet.costs[static_cast<std::size_t>(rank)];
        const double cache = tokens * costs.cache_bytes_a_token();
        use.memory_limit_bytes = setup_.fleet.memory_bytes[static_cast<std::size_t>(rank)];
        use.memory[static_cast<std::size_t>(record::MemoryPart::parameters)] = costs.parameter_bytes();
        use.memory[static_cast<std::size_t>(record::MemoryPart::workspace)] = cache;
        use.memory_bytes = costs.parameter_bytes() + cache;
        record.serving.cache_bytes_max = std::max(*record.serving.cache_bytes_max, cache);
        record.memory_bytes_max = std::max(*record.memory_bytes_max, *use.memory_bytes);
      }
  }
}

void Service::fill_serving(record::Record& record) {
  record::Serving& serving = record.serving;
  double busy = 0.0, memory = 0.0;
  for (const RankSeconds& rank_seconds : spent_) {
    busy += rank_seconds.compute_s;
    memory += rank_seconds.memory_s;
  }
  serving.iterations = iterations_;
  serving.batch_mean = static_cast<double>(slices_) / static_cast<double>(iterations_);
  serving.device_utilisation = busy / (record.simulated_s * static_cast<double>(spent_.size()));
  if (busy > 0.0) serving.memory_bound_share = memory / busy;
  double most = 0.0;
  for (int r = 0; r < layout().replicas(); ++r)
    most = std::max(most, replica(r).reserved_most() / room_tokens(setup_.fleet, r, setup_.options.memory_share));
  if (most > 0.0) serving.cache_share_max = most;
  serving.capacity_requests_per_s = capacity_requests_per_s();
}

void Service::note_interruptions(record::Record& record) const {
  if (interruptions_ == 0) return;
  std::int64_t again = 0;
  for (const Replica& each : replicas_) again += each.passed_again();
  record.notes.push_back(
      fmt::format("a full cache interrupted requests {} times; {} tokens passed again", interruptions_, again));
}

record::Record Service::take_record() {
  record::Record record;
  world_.end();
  world_.fill(record);
  record.network_model = name(cluster_.options().network_model);
  record.steps = iterations_;
  if (!complete()) return record;
  fill_ranks(record);
  fill_memory(record);
  fill_serving(record);
  note_interruptions(record);
  record.requests = std::move(served_);
  summarise(record, setup_.options, tokens_, record.simulated_s);
  if (!setup_.options.keep_requests) record.requests.clear();
  return record;
}

}  // namespace simgrad::serving
