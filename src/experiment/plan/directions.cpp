#include "experiment/plan/directions.h"

#include <algorithm>
#include <array>

namespace simgrad::experiment {

namespace {

constexpr std::array more_is_better{"speedup_throughput",
                                    "speedup_time_to_target",
                                    "efficiency",
                                    "final_metric",
                                    "goodput",
                                    "cache_hit_rate",
                                    "samples_per_s",
                                    "samples_per_s_per_device",
                                    "tokens_per_s",
                                    "tokens_per_s_per_device",
                                    "mfu",
                                    "hfu",
                                    "requests_per_s",
                                    "output_tokens_per_s",
                                    "capacity_requests_per_s",
                                    "within_limits"};

constexpr std::array less_is_better{"simulated_s",
                                    "final_loss",
                                    "time_to_target_s",
                                    "bytes",
                                    "messages",
                                    "staleness_mean",
                                    "staleness_max",
                                    "consensus_distance",
                                    "dropped_share",
                                    "expert_imbalance",
                                    "lost_s",
                                    "recovery_s",
                                    "checkpoint_s",
                                    "bytes_to_target",
                                    "stored_bytes",
                                    "interference",
                                    "server_imbalance",
                                    "memory_bytes_max",
                                    "days_per_trillion_tokens",
                                    "dollars_per_trillion_tokens",
                                    "kwh_per_trillion_tokens",
                                    "dollars_per_million_tokens",
                                    "joules_per_token"};

/// The beginnings of the names of times by activity, of costs, and of times of requests.
constexpr std::array less_is_better_of{"compute_", "communicate_", "wait_", "down_",      "cost_",   "energy_",
                                       "co2e_",    "ttft_",        "tpot_", "latency_s_", "queue_s_"};

}  // namespace

std::optional<Better> better(std::string_view metric) {
  if (std::ranges::find(more_is_better, metric) != more_is_better.end()) return Better::more;
  if (std::ranges::find(less_is_better, metric) != less_is_better.end()) return Better::less;
  if (std::ranges::any_of(less_is_better_of, [&](const char* beginning) { return metric.starts_with(beginning); }))
    return Better::less;
  return std::nullopt;
}

}  // namespace simgrad::experiment
