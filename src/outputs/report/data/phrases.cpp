#include "outputs/report/data/phrases.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/comparison.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {

std::string percent(double share) {
  const double hundredths = 100.0 * share;
  if (hundredths == 0.0) return "0 %";
  if (hundredths < 0.05) return tr("under 0.1 %");
  if (hundredths < 0.95 || (hundredths >= 99.5 && hundredths < 99.95)) return fmt::format("{:.1f} %", hundredths);
  if (hundredths >= 99.95 && hundredths < 100.0) return tr("nearly 100 %");
  return hundredths < 999.5 ? fmt::format("{:.0f} %", hundredths) : percentage(share);
}

std::string percent_at_most(double share) { return share < 0.001 ? "0.1 %" : percent(share); }

std::string factor(double ratio) {
  if (ratio < 0.0995) return number_text(ratio);
  if (ratio < 1.095) return fmt::format("{:.2f}", ratio);
  if (ratio < 9.95) return fmt::format("{:.1f}", ratio);
  return whole(ratio);
}

std::string times(double ratio) { return tr("{}x", factor(ratio)); }

std::string against_one(double speedup) {
  if (speedup < 0.995)
    return 1.0 / speedup < small_factor ? tr("{} slower than one worker alone", percent(1.0 - speedup))
                                        : tr("{}x slower than one worker alone", factor(1.0 / speedup));
  if (speedup < 1.005) return tr("as fast as one worker");
  return tr("{} as fast as one worker", times(speedup));
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
  return *workers == 1 ? tr("{} worker", value_text(*workers)) : tr("{} workers", value_text(*workers));
}

}  // namespace

std::string point_words(const nlohmann::ordered_json& parameters) {
  const std::string workers = workers_text(parameters);
  const std::string rest = point_text(without_workers(parameters));
  return workers + (workers.empty() || rest.empty() ? "" : tr(", ")) + rest;
}

std::string at_point(const nlohmann::ordered_json& parameters) {
  const std::string workers = workers_text(parameters);
  const std::string rest = point_text(without_workers(parameters));
  if (workers.empty()) return rest.empty() ? "" : tr(" at {}", rest);
  return rest.empty() ? tr(" with {}", workers) : tr(" with {} at {}", workers, rest);
}

}  // namespace simgrad::outputs::report
