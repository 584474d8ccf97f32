/// Numbers that an earlier command has left for the next one: outcomes of trials, and scores of states. Checksums are
/// computed again, as for models.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "base/hash.h"
#include "experiment/run/trial_store.h"
#include "fuzz/targets.h"
#include "outputs/results.h"
#include "outputs/summary.h"
#include "training/learning/trajectory.h"

namespace simgrad::fuzz {

namespace {

/// The object with the checksum of its trials, and the trials' ids.
std::string with_checksum_of_trials(const std::string& bytes, std::vector<std::string>& ids) {
  nlohmann::ordered_json json = outputs::parse_json(bytes);
  if (!json.is_object() || !json.contains("trials")) return bytes;
  json["checksum"] = base::hash(outputs::compact(json.at("trials")));
  if (json.at("trials").is_object())
    for (const auto& [id, seen] : json.at("trials").items()) ids.push_back(id);
  return outputs::compact(json);
}

}  // namespace

void read_trials(const std::string& bytes) {
  std::vector<std::string> ids;
  const std::string out = files().directory() + "/trials";
  std::filesystem::create_directories(out);
  files().write("trials/trials.json", with_checksum_of_trials(bytes, ids));
  experiment::TrialStore store(out, true);
  std::vector<std::optional<experiment::Observed>> found;
  for (const std::string& id : ids)
    if (const auto& seen = found.emplace_back(store.find(id))) {
      expect(std::isfinite(seen->simulated_s) && seen->simulated_s >= 0.0, "a trial that takes no time");
      expect(seen->samples >= 0 && seen->crashes >= 0 && std::isfinite(seen->samples_per_s()), "a count below 0");
    }
  store.add("another", {.simulated_s = 0.5, .samples = 3, .crashes = 1});
  store.write();
  const experiment::TrialStore again(out, true);
  expect(again.find("another").has_value(), "trials that are read back are none");
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const auto seen = again.find(ids[k]);
    if (ids[k] == "another") continue;
    expect(seen.has_value() == found[k].has_value(), "a trial that is read back is none");
    expect(!seen || (seen->simulated_s == found[k]->simulated_s && seen->samples == found[k]->samples &&
                     seen->crashes == found[k]->crashes),
           "a trial that is read back differs");
  }
}

namespace {

/// Equal, or both no number.
bool same(double one, double other) { return one == other || (std::isnan(one) && std::isnan(other)); }
bool same(const std::optional<double>& one, const std::optional<double>& other) {
  return one.has_value() == other.has_value() && (!one || same(*one, *other));
}
bool same(const training::Score& one, const training::Score& other) {
  return same(one.loss, other.loss) && same(one.metric, other.metric) && same(one.dropped_share, other.dropped_share) &&
         same(one.expert_imbalance, other.expert_imbalance) &&
         std::ranges::equal(one.of_sources, other.of_sources, [](double a, double b) { return same(a, b); });
}

}  // namespace

void read_trajectory(const std::string& bytes) {
  training::Trajectory known;
  if (!known.add(bytes)) return;
  const std::string text = known.text();
  expect(known.computed().empty(), "a number that nobody has computed");
  training::Trajectory again;
  expect(again.add(text), "a trajectory that is written again is none");
  expect(again.text() == text, "a trajectory that is read back differs");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::size_t digits = 16, begin = std::string_view("score ").size();
    if (!line.starts_with("score ")) continue;
    const values::Lineage lineage{.high = std::stoull(line.substr(begin, digits), nullptr, 16),
                                  .low = std::stoull(line.substr(begin + digits, digits), nullptr, 16)};
    expect(same(known.score(lineage, {}), again.score(lineage, {})), "a score that is read back differs");
  }
}

}  // namespace simgrad::fuzz
