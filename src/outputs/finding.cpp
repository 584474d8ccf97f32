#include "outputs/finding.h"

#include <fmt/format.h>

#include <vector>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

using report::percent;
using report::times;

constexpr std::size_t most_others = 3;

/// Returns " over its first 40 steps"; empty for a whole run.
std::string over_steps(const Counterfactual& counterfactual) {
  if (counterfactual.whole) return "";
  return tr(" over its first {}", counted(static_cast<std::size_t>(counterfactual.steps), "{} step", "{} steps"));
}

}  // namespace

std::string finding(const Counterfactual& counterfactual, const std::string& name) {
  if (counterfactual.changes.empty()) return "";
  const Change* best = binding(counterfactual);
  if (const Change& first = counterfactual.changes.front(); !best && first.name == "failures") {
    if (first.gain < binding_gain) return "";
    return tr("With {} {} would be {} as fast{}.", words(first), name, times(first.gain), over_steps(counterfactual));
  }
  std::vector<std::string> others;
  for (const Change& change : counterfactual.changes) {
    if (&change == best) continue;
    if (!best)
      others.push_back(words(change));
    else if (change.gain >= binding_gain && others.size() < most_others)
      others.push_back(tr("{}: {}", words(change), times(change.gain)));
  }
  if (!best)
    return tr("No single change that was tried would make {} {} faster{}: {}.", name, percent(binding_gain - 1.0),
              over_steps(counterfactual), listed(others));
  return tr("With {} {} would be {} as fast{}{}: {} binds most.", words(*best), name, times(best->gain),
            over_steps(counterfactual),
            others.empty() ? "" : tr(" ({})", fmt::format("{}", fmt::join(others, tr("; ")))), cause(*best));
}

}  // namespace simgrad::outputs
