#include "experiment/plan/algorithm_options.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace simgrad::experiment {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 2> algorithm_options{{{"slices", "1"}, {"overlap", "false"}}};

}  // namespace

void leave_out_later_options_of_algorithms(nlohmann::ordered_json& table) {
  for (const char* const slot : {"algorithm", "allreduce"}) {
    if (!table.contains(slot) || !table[slot].is_object()) continue;
    nlohmann::ordered_json& option = table[slot];
    for (const auto& [key, value] : algorithm_options)
      if (option.contains(key) && option[key].dump() == value) option.erase(key);
    if (option.size() == 1) option = nlohmann::ordered_json(option["kind"]);
  }
}

}  // namespace simgrad::experiment
