/// Scenarios of several sources. Sources, towers and a strategy that suit one another are too rare among random ones.
#include <string>

#include "fuzz/draw.h"

namespace simgrad::fuzz {

using Json = nlohmann::ordered_json;

void mix(Json& tree, Dice& dice) {
  const std::int64_t count = dice.between(1, 3);
  Json parts = Json::array(), towers = Json::array();
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const kinds[]{"house_prices", "blobs", "logistic"};
    parts.push_back({{"name", "part " + std::to_string(i)},
                     {"source", kinds[dice.one_of(3)]},
                     {"samples", dice.between(9, 60)},
                     {"features", dice.between(1, 6)},
                     {"rows", dice.between(1, 3)}});
    towers.push_back({{"hidden", std::vector<std::int64_t>(dice.one_of(3), dice.between(1, 5))},
                      {"weight", dice.hits(0.5) ? 1.0 : 0.25}});
  }
  tree["data"] = Json{{"source", "mixture"}, {"parts", std::move(parts)}};
  if (dice.hits(0.3)) tree["data"]["test_fraction"] = 0.25;
  tree["model"] = Json{{"kind", "multimodal_perceptron"}, {"embedding", dice.between(1, 6)}};
  if (dice.hits(0.8)) tree["model"]["towers"] = std::move(towers);
  tree["training"]["batch_size"] = dice.between(1, 9);
  for (const char* key : {"partition", "batch_size_per_worker"}) tree["training"].erase(key);
  for (Json& strategy : tree["strategy"]) {
    if (strategy.value("kind", "") != "multitask") continue;
    const char* const schedules[]{"groups", "gang", "sharing"};
    strategy["schedule"] = schedules[dice.one_of(3)];
    const bool all_rows = strategy["schedule"] == "groups" && dice.hits(0.7);
    strategy["rows"] = all_rows ? "batch" : "share";
    strategy["sizes"] = all_rows && dice.hits(0.5) ? "work" : "equal";
  }
}

}  // namespace simgrad::fuzz
