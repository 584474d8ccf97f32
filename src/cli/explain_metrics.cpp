#include "cli/explain_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/result_fields.h"
#include "experiment/plan/directions.h"
#include "outputs/fields.h"

namespace simgrad::cli {

namespace {

/// "more is better"; empty for a metric without a direction.
std::string direction_text(const std::string& metric) {
  const auto better = experiment::better(metric);
  if (!better) return {};
  return *better == experiment::Better::more ? "more is better" : "less is better";
}

}  // namespace

void print_metrics() {
  fmt::print("{}: the numbers of a run in results.json, for the metric of [[expect]]\n", metrics_name);
  for (const std::string& metric : outputs::numeric_fields()) {
    if (metric == "wall_s") continue;  // no number of the simulation
    const auto field = std::ranges::find(result_fields(), metric, &ResultField::name);
    const bool known = field != result_fields().end();
    std::string beside(known ? field->unit : "");
    if (const std::string direction = direction_text(metric); !direction.empty())
      beside += (beside.empty() ? "" : ", ") + direction;
    fmt::print("  {}{}\n      {}\n", metric, beside.empty() ? "" : " (" + beside + ")", known ? field->meaning : "");
  }
}

}  // namespace simgrad::cli
