/// The keys whose values make two scenarios different experiments.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// The values of a tree as TOML writes them, by keys such as "cluster.workers" and "strategy.0.kind".
using Leaves = std::map<std::string, std::string>;
Leaves leaves_of(const nlohmann::ordered_json& tree);

/// A key that has other values in two trees; "absent" where one lacks it.
struct ChangedKey {
  std::string key, first, second;
};
std::vector<ChangedKey> changed_keys(const Leaves& first, const Leaves& second);

/// The first few of the changes, as `one` words them, and the number of the others.
std::string some_of(const std::vector<ChangedKey>& changes,
                    const std::function<std::string(const ChangedKey& change)>& one);

/// The keys that a resolved scenario's grid varies.
std::set<std::string> varied_keys(const nlohmann::ordered_json& scenario);
/// The leaves of a resolved scenario that decide on what is simulated, without strategies, seeds and `varied` keys,
/// which choose among runs.
Leaves defining_leaves(nlohmann::ordered_json scenario, const std::set<std::string>& varied);
/// These leaves, and the options of each strategy that has a label, under it: "strategy.ring.bucket_size". The name
/// of another strategy changes with its options.
Leaves defining_leaves_with_strategies(const nlohmann::ordered_json& scenario);

/// The first few keys whose values differ in two objects, with the values, and the names of the two:
/// `a.b is 1 there and 2 here`; empty if there are none. Dots lead into objects and lists.
std::string differences(const Leaves& first, const Leaves& second, const std::string& place_of_first,
                        const std::string& place_of_second);

}  // namespace simgrad::experiment
