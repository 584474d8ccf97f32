#include "experiment/run/data_cache.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "base/errors.h"
#include "experiment/checks/fit_check.h"
#include "experiment/run/runner.h"

namespace simgrad::experiment {

namespace {

/// Adds a fault of the data. The text of a file's fault has its position; other faults stand at [data].
void add_fault(const Settings& settings, const std::string& text, scenario::Faults& faults) {
  const std::vector<std::string> files = settings.data.source->files();
  const bool placed = std::ranges::any_of(files, [&](const std::string& file) { return text.starts_with(file); });
  faults.add(placed ? scenario::Position() : settings.places.data, text);
}

}  // namespace

const Data& DataCache::get(const RunPlan& run) {
  if (const std::string key = run.data_key(); key != key_ || !loaded_) {
    data_ = nullptr;  // before the next are loaded, which may fail
    loaded_ = false;
    if (const auto over = over_memory_.find(key); over != over_memory_.end()) throw OverRunMemory(over->second);
    try {
      data_ = load_data(run, run_memory_bytes_, threads_);
    } catch (const OverRunMemory& over) {
      over_memory_[key] = over.what();
      throw;
    }
    key_ = key;
    loaded_ = true;
  }
  return data_;
}

void check_data(const std::vector<const RunPlan*>& runs, DataCache& data_cache, const Tell& tell) {
  // Seeds draw different rows, but equally many: data that differ by their seed only are checked once.
  std::map<std::string, std::vector<const RunPlan*>> users;
  std::vector<std::string> order;
  for (const RunPlan* run : runs) {
    const std::string key = run->data_key(0);
    std::vector<const RunPlan*>& all = users[key];
    if (all.empty()) order.push_back(key);
    // Runs at one grid point have their settings in common.
    if (all.empty() || all.back()->settings != run->settings) all.push_back(run);
  }
  scenario::Faults faults;
  std::set<std::string> notes;
  for (auto key = order.rbegin(); key != order.rend(); ++key) {  // backwards: the first run's data stay in the cache
    const Settings& first = *users[*key].front()->settings;
    try {
      const Data& data = data_cache.get(*users[*key].front());
      if (!data) continue;
      for (const std::string& note : data->train.notes)
        if (tell && notes.insert(note).second) tell(note);
      for (const RunPlan* run : users[*key]) check_fit(*run->settings, problem_of(*data), data->train.rows, faults);
    } catch (const OverRunMemory&) {
      continue;
    } catch (const base::ScenarioError& error) {
      for (const std::string& text : error.faults()) add_fault(first, text, faults);
    }
  }
  faults.raise_if_any();
}

std::optional<std::uintmax_t> file_bytes(const Settings& settings) {
  const std::vector<std::string> files = settings.data.source->files();
  if (files.empty()) return std::nullopt;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code none;  // a pipe has no size
    bytes += std::filesystem::file_size(file, none);
    if (none) return std::nullopt;
  }
  return bytes;
}

void check_files(const Plan& plan, std::uintmax_t most_bytes, const Tell& tell) {
  std::vector<const RunPlan*> readable;
  for (const RunPlan& run : plan.runs) {
    const Settings& settings = *run.settings;
    if (!settings.training.numbers || !settings.data.source) continue;
    const auto bytes = file_bytes(settings);
    if (bytes && *bytes <= most_bytes) readable.push_back(&run);
  }
  DataCache data_cache;
  check_data(readable, data_cache, tell);
}

}  // namespace simgrad::experiment
