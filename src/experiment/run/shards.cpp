#include "experiment/run/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <numeric>
#include <queue>
#include <regex>
#include <set>
#include <utility>

#include "base/errors.h"
#include "experiment/run/expected_effort.h"

namespace simgrad::experiment {

namespace {

/// The number that the whole text is; 0 if it is none, or none from 1 to the most.
int count_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 1 && number <= shards_most ? number : 0;
}

}  // namespace

Shard parse_shard(const std::string& text, const std::string& name) {
  const std::size_t slash = text.find('/');
  const Shard shard{.index = count_of(std::string_view(text).substr(0, slash)),
                    .count = slash == std::string::npos ? 0 : count_of(std::string_view(text).substr(slash + 1))};
  if (shard.index < 1 || shard.count < shard.index)
    throw base::ScenarioError(fmt::format("{} {}: found no shard, expected i/n with 1 <= i <= n <= {}, such as 1/8",
                                          name, text, shards_most));
  return shard;
}

std::string text(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::string shard_directory(const std::string& out, const Shard& shard) {
  return fmt::format("{}/shard-{}-of-{}", out, shard.index, shard.count);
}

bool is_shard_directory(const std::string& directory) {
  static const std::regex name("shard-[0-9]+-of-[0-9]+");
  return std::regex_match(std::filesystem::path(directory).filename().string(), name);
}

std::vector<const RunPlan*> pieces_of_work(const Plan& plan) {
  std::vector<const RunPlan*> pieces;
  std::set<std::string_view> known;
  for (const auto* runs : {&plan.baselines, &plan.alone, &plan.runs})
    for (const RunPlan& run : *runs)
      if (known.insert(run.work).second) pieces.push_back(&run);
  return pieces;
}

std::vector<std::vector<const RunPlan*>> dealt(const std::vector<const RunPlan*>& pieces, int shards) {
  std::vector<double> effort_s;
  for (const RunPlan* piece : pieces) effort_s.push_back(expected_effort_s(*piece));
  std::vector<std::size_t> longest_first(pieces.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::ranges::greater(), [&](std::size_t k) { return effort_s[k]; });
  // The shard with the least work is next; among equals, the first one.
  using Load = std::pair<double, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> least;
  for (int shard = 0; shard < shards; ++shard) least.emplace(0.0, shard);
  std::vector<std::vector<std::size_t>> places(static_cast<std::size_t>(shards));
  for (const std::size_t k : longest_first) {
    const auto [load_s, shard] = least.top();
    least.pop();
    places[static_cast<std::size_t>(shard)].push_back(k);
    least.emplace(load_s + effort_s[k], shard);
  }
  std::vector<std::vector<const RunPlan*>> all(places.size());
  for (std::size_t shard = 0; shard < places.size(); ++shard) {
    std::ranges::sort(places[shard]);
    for (const std::size_t k : places[shard]) all[shard].push_back(pieces[k]);
  }
  return all;
}

}  // namespace simgrad::experiment
