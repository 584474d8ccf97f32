#include "record/timeline.h"

#include <array>

namespace simgrad::record {

std::string_view name(Activity activity) {
  static constexpr std::array<std::string_view, 4> names{"compute", "communicate", "wait", "down"};
  return names.at(static_cast<std::size_t>(activity));
}

std::string_view name(Work work) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Work::count)> names{
      "idle",    "gradient",   "forward",   "backward",   "update",         "reduce",     "average",
      "encode",  "compute",    "read",      "checkpoint", "send",           "receive",    "push",
      "pull",    "gossip",     "allreduce", "broadcast",  "reduce_scatter", "all_gather", "gather",
      "scatter", "all_to_all", "restart",   "turn",       "crash",          "weights",    "recompute"};
  return names.at(static_cast<std::size_t>(work));
}

}  // namespace simgrad::record
