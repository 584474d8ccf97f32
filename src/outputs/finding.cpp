#include "outputs/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
  if (counterfactual.steps == 1) return tr(" over its first step");
  return tr(" over its first {}", counted(static_cast<std::size_t>(counterfactual.steps), "{} step", "{} steps"));
}

/// Returns " With half the latency ring would be 3 % slower."; empty if no change makes it notably slower.
std::string slower_text(const Counterfactual& counterfactual, const std::string& name) {
  const Change* worst = slowing(counterfactual);
  return worst ? tr(" With {} {} would be {} slower.", words(*worst), name, percent(1.0 - worst->gain)) : "";
}

/// Returns " The speed of ring if an assumed number is 10 % off: the efficiency of devices 0.93x to 1.07x, ..."; empty
/// if that was not tried.
std::string assumed_text(const Counterfactual& counterfactual, const std::string& name) {
  constexpr std::array texts{translatable("the efficiency of devices {} to {}"),
                             translatable("the bandwidth of links {} to {}"),
                             translatable("the latency of links {} to {}")};
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < assumed_kinds.size(); ++k) {
    const auto side = [&](const char* which) {
      return std::ranges::find(counterfactual.assumed, fmt::format("{}_{}", assumed_kinds[k], which), &Change::name);
    };
    const auto worse = side("worse"), better = side("better"), end = counterfactual.assumed.end();
    if (worse != end && better != end)
      parts.push_back(fmt::format(fmt::runtime(tr(texts[k])), times(worse->gain), times(better->gain)));
  }
  if (parts.empty()) return "";
  return tr(" The speed of {} if an assumed number is 10 % off: {}.", name,
            fmt::format("{}", fmt::join(parts, tr(", "))));
}

/// Returns the sentence if no change brings enough.
std::string nothing_binds(const Counterfactual& counterfactual, const std::string& name) {
  std::vector<std::string> tried;
  for (const Change& change : counterfactual.changes) tried.push_back(words(change));
  return tr("No single change that was tried would make {} {} faster{}: {}.", name,
            percent(least_gain(counterfactual) - 1.0), over_steps(counterfactual), listed(tried)) +
         slower_text(counterfactual, name);
}

/// Returns the sentence on the changes of causes.
std::string of_changes(const Counterfactual& counterfactual, const std::string& name) {
  const std::vector<const Change*> best = all_binding(counterfactual);
  if (const Change& first = counterfactual.changes.front(); best.empty() && first.name == "failures") {
    if (first.gain < binding_gain) return "";
    return tr("With {} {} would process {} as many samples a second{}.", words(first), name, times(first.gain),
              over_steps(counterfactual));
  }
  if (best.empty()) return nothing_binds(counterfactual, name);
  std::vector<std::string> others, changes, causes;
  for (const Change* each : best) {
    changes.push_back(words(*each));
    causes.push_back(cause(*each));
  }
  for (const Change& change : counterfactual.changes)
    if (std::ranges::find(best, &change) == best.end() && change.gain >= least_gain(counterfactual) &&
        others.size() < most_others)
      others.push_back(tr("{}: {}", words(change), times(change.gain)));
  const std::string beside = others.empty() ? "" : tr(" ({})", fmt::format("{}", fmt::join(others, tr("; "))));
  const std::string gain = times(best.front()->gain), over = over_steps(counterfactual);
  const std::string text = best.size() == 1
                               ? tr("With {} {} would be {} as fast{}{}: {} is the main bottleneck.", changes.front(),
                                    name, gain, over, beside, causes.front())
                               : tr("With {} or {} {} would be {} as fast{}{}: {} limit it about equally.",
                                    fmt::format("{}", fmt::join(changes.begin(), changes.end() - 1, tr(", "))),
                                    changes.back(), name, gain, over, beside, listed(causes));
  return text + slower_text(counterfactual, name);
}

}  // namespace

std::string finding(const Counterfactual& counterfactual, const std::string& name) {
  if (counterfactual.changes.empty()) return "";
  return of_changes(counterfactual, name) + assumed_text(counterfactual, name);
}

std::string jobs_untried() {
  return tr("No change was tried to find the bottleneck: jobs share the cluster, and a change for one changes all.");
}

}  // namespace simgrad::outputs
