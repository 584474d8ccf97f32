#include "outputs/report/data/conditions.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <string_view>

namespace simgrad::outputs::report {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& scenario, const std::string& key, const Json& value) {
  Json* place = &scenario;
  std::istringstream parts(key);
  for (std::string part; std::getline(parts, part, '.');) {
    if (!place->is_object()) *place = Json::object();
    place = &(*place)[part];
  }
  *place = value;
}

/// Returns whether the key has a value other than null, an empty list or "none".
bool is_set(const Json& section, const char* key) {
  const auto found = section.find(key);
  if (found == section.end() || found->is_null()) return false;
  if (found->is_array() || found->is_object()) return !found->empty();
  return !(found->is_string() && *found == "none");
}

bool are_uneven(const Json& cluster) {
  const auto speeds = cluster.find("relative_speeds");
  const bool by_rank = speeds != cluster.end() && speeds->is_array() &&
                       std::ranges::any_of(*speeds, [](const Json& speed) { return speed != 1 && speed != 1.0; });
  return by_rank || is_set(cluster, "hosts");
}

/// Returns the kind at `key`, which may be given alone or in a table; empty if there is none.
std::string kind_at(const Json& section, const char* key) {
  const auto found = section.is_object() ? section.find(key) : section.end();
  if (!section.is_object() || found == section.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_object() ? kind_at(*found, "kind") : "";
}

/// Returns whether the seed decides how much a step computes or sends: by the keys of a batch of sparse samples, by
/// shares of the samples that are drawn, or by the peers or workers that take part.
bool is_drawn(const Json& scenario) {
  static constexpr std::array<std::string_view, 3> sparse = {"sparse_logistic", "factorization_machine",
                                                             "wide_and_deep"};
  static constexpr std::array<std::string_view, 3> shares = {"dirichlet", "quantity", "stream"};
  static constexpr std::array<std::string_view, 2> random = {"ad_psgd", "federated_averaging"};
  const auto among = [](const auto& kinds, const std::string& kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
  };
  const Json strategies = scenario.value("strategy", Json::array());
  return among(sparse, kind_at(scenario.value("model", Json::object()), "kind")) ||
         among(shares, kind_at(scenario.value("training", Json::object()), "partition")) ||
         (strategies.is_array() &&
          std::ranges::any_of(strategies, [&](const Json& each) { return among(random, kind_at(each, "kind")); }));
}

}  // namespace

Conditions conditions(const Json& scenario, const Json& parameters) {
  Json here = scenario.is_object() ? scenario : Json::object();
  for (const auto& [key, value] : parameters.items()) put(here, key, value);
  Conditions found;
  found.jobs = here.contains("job");
  found.drawn = is_drawn(here);
  const auto cluster = here.find("cluster");
  if (cluster == here.end() || !cluster->is_object()) return found;
  found.jitter = is_set(*cluster, "jitter");
  found.stragglers = is_set(*cluster, "stragglers");
  found.uneven = are_uneven(*cluster);
  found.traffic = is_set(*cluster, "background");
  if (const auto failures = cluster->find("failures"); failures != cluster->end() && failures->is_object()) {
    const auto market = failures->find("market");
    found.failures =
        is_set(*failures, "hosts") || is_set(*failures, "links") || (market != failures->end() && *market == "spot");
  }
  const auto sharing = cluster->find("sharing");
  found.in_turns = found.jobs && sharing != cluster->end() && *sharing == "gang";
  return found;
}

bool is_question(const std::string& key) {
  static constexpr std::array<std::string_view, 7> choices = {
      "cluster.workers",         "cluster.device",           "cluster.hosts", "cluster.sharing", "cluster.collectives",
      "cluster.failures.market", "cluster.failures.recovery"};
  if (std::ranges::find(choices, key) != choices.end()) return false;
  return key.starts_with("cluster.") || key.starts_with("data.") || key.starts_with("model.");
}

}  // namespace simgrad::outputs::report
