#include "outputs/report/data/phrases.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/comparison.h"

namespace simgrad::outputs::report {

std::string percent(double share) {
  const double hundredths = 100.0 * share;
  if (hundredths == 0.0) return "0 %";
  if (hundredths < 0.05) return "under 0.1 %";
  if (hundredths < 0.95 || (hundredths >= 99.5 && hundredths < 99.95)) return fmt::format("{:.1f} %", hundredths);
  if (hundredths >= 99.95 && hundredths < 100.0) return "nearly 100 %";
  return fmt::format("{:.0f} %", hundredths);
}

std::string percent_at_most(double share) { return share < 0.001 ? "0.1 %" : percent(share); }

std::string times(double ratio) {
  if (ratio > 0.0 && ratio < 0.0995) return fmt::format("{:.3g}x", ratio);
  if (ratio < 1.095) return fmt::format("{:.2f}x", ratio);
  if (ratio < 9.95) return fmt::format("{:.1f}x", ratio);
  return ratio < 1e6 ? fmt::format("{:.0f}x", ratio) : fmt::format("{:.2g}x", ratio);
}

std::string listed(const std::vector<std::string>& items, std::size_t most) {
  const std::size_t shown = items.size() > most ? most : items.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == items.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + items[i];
  }
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

std::string counted(std::size_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

namespace {

nlohmann::ordered_json without_workers(const nlohmann::ordered_json& parameters) {
  nlohmann::ordered_json rest = parameters;
  rest.erase(workers_key);
  return rest;
}

/// Returns "8 workers". Empty if the grid has no numbers of workers.
std::string workers_text(const nlohmann::ordered_json& parameters) {
  const auto workers = parameters.find(workers_key);
  if (workers == parameters.end()) return "";
  return value_text(*workers) + (*workers == 1 ? " worker" : " workers");
}

}  // namespace

std::string point_words(const nlohmann::ordered_json& parameters) {
  const std::string workers = workers_text(parameters);
  const std::string rest = point_text(without_workers(parameters));
  return workers + (workers.empty() || rest.empty() ? "" : ", ") + rest;
}

std::string at_point(const nlohmann::ordered_json& parameters) {
  const std::string workers = workers_text(parameters);
  const std::string rest = point_text(without_workers(parameters));
  return (workers.empty() ? "" : " with " + workers) + (rest.empty() ? "" : " at " + rest);
}

}  // namespace simgrad::outputs::report
