#include "experiment/plan/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/errors.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

namespace {

const std::set<std::string, std::less<>>& option_keys() {
  static const std::set<std::string, std::less<>> all = [] {
    Settings settings;
    const std::vector<std::string> keys = scenario::keys(settings);
    return std::set<std::string, std::less<>>(keys.begin(), keys.end());
  }();
  return all;
}

/// "job.0.steps" as "job.steps".
std::string without_indices(std::string_view key) {
  std::string all;
  for (std::size_t from = 0; from <= key.size();) {
    const std::size_t end = std::min(key.find('.', from), key.size());
    const std::string_view part = key.substr(from, end - from);
    if (part.find_first_not_of("0123456789") != std::string_view::npos)
      all += fmt::format("{}{}", all.empty() ? "" : ".", part);
    from = end + 1;
  }
  return all;
}

}  // namespace

std::string option_key(std::string_view key) {
  static std::set<std::string, std::less<>> known;  // most keys are asked for at every grid point
  if (known.contains(key)) return std::string(key);
  base::check(option_keys().contains(without_indices(key)), fmt::format("\"{}\" is an option of the scenario", key));
  known.emplace(key);
  return std::string(key);
}

bool writes(const scenario::Document& document, std::string_view key) { return document.contains(option_key(key)); }

scenario::Position place(const scenario::Document& document, std::initializer_list<std::string_view> keys) {
  std::string last;
  for (const std::string_view key : keys)
    if (last = option_key(key); document.contains(last)) return document.position(last);
  while (!document.contains(last) && last.find('.') != std::string::npos) last.resize(last.rfind('.'));
  return document.position(last);
}

scenario::Position place(const scenario::Document& document, std::string_view key) { return place(document, {key}); }

void leave_out(nlohmann::ordered_json& echo, std::string_view key) {
  nlohmann::ordered_json* table = &echo;
  std::string rest = option_key(key);
  for (std::size_t dot = 0; (dot = rest.find('.')) != std::string::npos; rest.erase(0, dot + 1)) {
    const auto found = table->find(rest.substr(0, dot));
    if (found == table->end()) return;
    table = &*found;
  }
  table->erase(rest);
}

}  // namespace simgrad::experiment
