#include "experiment/run/trial_store.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/errors.h"
#include "base/hash.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Whether a trial can have left these numbers.
bool is_observed(const Observed& seen) {
  return std::isfinite(seen.simulated_s) && seen.simulated_s >= 0.0 && seen.samples >= 0 && seen.crashes >= 0 &&
         std::isfinite(seen.samples_per_s());
}

std::map<std::string, Observed> read_trials(const std::string& file) {
  std::map<std::string, Observed> trials;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return trials;
  try {
    const Json json = outputs::parse_json(outputs::read_file(file), file);
    if (json.at("checksum") != base::hash(outputs::compact(json.at("trials")))) return {};
    for (const auto& [id, seen] : json.at("trials").items()) {
      if (!seen.at(1).is_number_integer() || !seen.at(2).is_number_integer()) return {};
      trials[id] = {seen.at(0), seen.at(1), seen.at(2)};
      if (!is_observed(trials[id])) return {};
    }
  } catch (const base::EnvironmentError&) {
    return {};
  } catch (const base::ScenarioError&) {  // too large
    return {};
  } catch (const Json::exception&) {
    return {};
  }
  return trials;
}

}  // namespace

Observed observed(const record::Record& record) {
  return {record.simulated_s, record.samples_seen.value_or(record.samples), record.crashes.value_or(0)};
}

TrialStore::TrialStore(const std::string& out, bool reads) : file_(out + "/trials.json") {
  if (reads) trials_ = read_trials(file_);
}

std::optional<Observed> TrialStore::find(const std::string& id) const {
  const auto found = trials_.find(id);
  return found == trials_.end() ? std::nullopt : std::optional(found->second);
}

void TrialStore::add(const std::string& id, const Observed& seen) {
  trials_[id] = seen;
  changed_ = true;
}

void TrialStore::write() {
  if (!changed_) return;
  Json trials = Json::object();
  for (const auto& [id, seen] : trials_) trials[id] = {seen.simulated_s, seen.samples, seen.crashes};
  const std::string checksum = base::hash(outputs::compact(trials));
  outputs::write_file(file_, outputs::compact(Json{{"checksum", checksum}, {"trials", std::move(trials)}}) + "\n");
  changed_ = false;
}

}  // namespace simgrad::experiment
