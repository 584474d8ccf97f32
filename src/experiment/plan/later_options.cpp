#include "experiment/plan/later_options.h"

#include <array>

namespace simgrad::experiment {

namespace {

/// An option that came with a later release, and its value that changes nothing.
struct LaterOption {
  const char* table;
  const char* key;
  const char* value;
};

/// They are left out of an identity where they have that value, so that runs of earlier releases are known.
constexpr std::array<LaterOption, 32> later_options{{{"cluster", "device", "\"none\""},
                                                     {"cluster", "frame", "\"standard\""},
                                                     {"cluster", "protocol", "\"none\""},
                                                     {"cluster", "window", "\"4MiB\""},
                                                     {"cluster", "processor_time", "\"0s\""},
                                                     {"cluster", "overlap_slowdown", "0.0"},
                                                     {"cluster", "faulty", "\"none\""},
                                                     {"device", "launch", "\"0s\""},
                                                     {"parallel", "scatter_gather", "false"},
                                                     {"parallel", "refresh_every", "1"},
                                                     {"parallel", "tensor_shares", "\"equal\""},
                                                     {"parallel", "copies", "\"none\""},
                                                     {"parallel", "stage_replicas", "[]"},
                                                     {"failures", "spares", "0"},
                                                     {"training", "checkpoint_async", "false"},
                                                     {"model", "timed_as", "\"itself\""},
                                                     {"training", "precision", "\"float64\""},
                                                     {"training", "wire", "\"precision\""},
                                                     {"training", "gradient_precision", "\"framework\""},
                                                     {"strategy", "reduce", "\"mean\""},
                                                     {"strategy", "late", "\"finish\""},
                                                     {"strategy", "codes", "\"gather\""},
                                                     {"strategy", "credits", "1"},
                                                     {"strategy", "hosts_first", "false"},
                                                     {"strategy", "pull", "\"by_layer\""},
                                                     {"training", "recompute", "\"none\""},
                                                     {"serving", "cache", "\"reserved\""},
                                                     {"strategy", "micro_batches", "1"},
                                                     {"strategy", "no_sync", "false"},
                                                     {"strategy", "schedule", "\"groups\""},
                                                     {"strategy", "rows", "\"as_the_model\""},
                                                     {"strategy", "sizes", "\"equal\""}}};

}  // namespace

void leave_out_later_options(nlohmann::ordered_json& table, std::string_view name) {
  if (!table.is_object()) return;
  for (const LaterOption& option : later_options)
    if (name == option.table && table.contains(option.key) && table[option.key].dump() == option.value)
      table.erase(option.key);
}

}  // namespace simgrad::experiment
