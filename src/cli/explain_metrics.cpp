#include "cli/explain_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cli/result_fields.h"
#include "experiment/plan/directions.h"
#include "outputs/fields.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

using outputs::tr;

/// "more is better"; empty for a metric without a direction.
std::string direction_text(const std::string& metric) {
  const auto better = experiment::better(metric);
  if (!better) return {};
  return *better == experiment::Better::more ? tr("more is better") : tr("less is better");
}

}  // namespace

std::string metrics_text() {
  std::string text = tr("{}: the numbers of a run in results.json, for the metric of [[expect]]", metrics_name) + "\n";
  for (const std::string& metric : outputs::numeric_fields()) {
    if (metric == "wall_s") continue;  // no number of the simulation
    const auto field = std::ranges::find(result_fields(), metric, &ResultField::name);
    const bool known = field != result_fields().end();
    std::string beside = known ? tr(field->unit) : "";
    if (const std::string direction = direction_text(metric); !direction.empty())
      beside += (beside.empty() ? "" : tr(", ")) + direction;
    text += fmt::format("  {}{}\n      {}\n", metric, beside.empty() ? "" : tr(" ({})", beside),
                        known ? tr(field->meaning) : "");
  }
  return text;
}

}  // namespace simgrad::cli
