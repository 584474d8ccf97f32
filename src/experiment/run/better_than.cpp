#include "experiment/run/better_than.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "experiment/plan/directions.h"
#include "outputs/fields.h"

namespace simgrad::experiment {

namespace {

constexpr double usual_confidence = 0.95;

/// The number of a run that has learnt, and reached the target where the metric is about that.
std::optional<double> comparable(const outputs::Run& run, const std::string& metric) {
  const auto value = outputs::field(run, metric);
  return run.record.status == record::Status::diverged && compares(metric) ? std::nullopt : value;
}

/// The pairs of runs that have a seed in common.
struct SeedPairs {
  std::vector<double> own, other;  ///< the numbers, where both have one
  std::vector<double> gains;       ///< by how much the first is better
  int all = 0, lacking = 0, other_lacking = 0;
  int wins = 0, losses = 0;  ///< a tie is neither
};

SeedPairs seed_pairs(const std::string& metric, const Runs& seeds, const Runs& others) {
  SeedPairs pairs;
  for (const outputs::Run* run : seeds) {
    const auto other = std::ranges::find(others, run->seed, &outputs::Run::seed);
    if (other == others.end()) continue;
    const auto a = comparable(*run, metric), b = comparable(**other, metric);
    ++pairs.all;
    pairs.lacking += a ? 0 : 1;
    pairs.other_lacking += b ? 0 : 1;
    double gain = static_cast<double>(a.has_value()) - static_cast<double>(b.has_value());
    if (a && b) {
      gain = better(metric) == Better::more ? *a - *b : *b - *a;
      pairs.own.push_back(*a);
      pairs.other.push_back(*b);
      pairs.gains.push_back(gain);
    }
    pairs.wins += gain > 0.0 ? 1 : 0;
    pairs.losses += gain < 0.0 ? 1 : 0;
  }
  return pairs;
}

std::string percent(double share) { return fmt::format("{:.6g} %", 100.0 * share); }

BetterThan by_difference(const SeedPairs& pairs, const std::string& other, double confidence) {
  const outputs::Interval one_sided =
      outputs::interval(pairs.gains, outputs::student_t(pairs.all - 1, 2.0 * confidence - 1.0));
  std::string text = fmt::format("found {:.6g}, {} {:.6g}: ", outputs::interval(pairs.own).mean, other,
                                 outputs::interval(pairs.other).mean);
  if (one_sided.mean == 0.0) return {false, text + fmt::format("equal in the mean over {} seeds", pairs.all)};
  text += fmt::format("{} by {:.4g} in the mean over {} seeds", one_sided.mean > 0.0 ? "better" : "worse",
                      std::abs(one_sided.mean), pairs.all);
  if (one_sided.low > 0.0)
    return {true, text + fmt::format(", by at least {:.4g} at {}", one_sided.low, percent(confidence))};
  if (one_sided.mean > 0.0)
    text += fmt::format(", which may be chance: at {} it may be worse by {:.4g}", percent(confidence), -one_sided.low);
  return {false, text};
}

BetterThan by_wins(const SeedPairs& pairs, const Expectation& expectation, const std::string& own,
                   const std::string& other, double confidence) {
  const bool target = to_target(expectation.metric);
  std::string text;
  const auto add = [&](int count, const std::string& label) {
    if (count > 0)
      text += fmt::format("{}{} {} in {} of {} seeds", text.empty() ? "" : ", ", label,
                          target ? "missed the target" : "has no such number", count, pairs.all);
  };
  add(pairs.lacking, own);
  add(pairs.other_lacking, other);
  const double chance = outputs::sign_test(pairs.wins, pairs.wins + pairs.losses);
  const bool holds = pairs.wins > 0 && chance <= 1.0 - confidence;
  text += fmt::format(": better in {} of {} seeds", pairs.wins, pairs.all);
  if (pairs.wins > pairs.losses)
    text +=
        fmt::format(", which chance alone does with probability {:.3g}{}", chance,
                    holds ? "" : fmt::format(", and {} was to be shown; more seeds may show it", percent(confidence)));
  return {holds, text};
}

}  // namespace

BetterThan better_than(const Expectation& expectation, const Runs& seeds, const Runs& others) {
  for (const Runs* side : {&seeds, &others})
    for (const outputs::Run* run : *side)
      if (run->record.status == record::Status::failed) return {false, run->label + ": " + failure_text(*run)};
  const double confidence = expectation.confidence.value_or(usual_confidence);
  const SeedPairs pairs = seed_pairs(expectation.metric, seeds, others);
  const std::string& other = others.front()->label;
  if (pairs.all < 2)
    return {false,
            fmt::format("{} in common with {} cannot show which is better; use several, for example --seeds 1..5",
                        pairs.all == 1 ? "one seed" : "no seed", other)};
  if (pairs.lacking == pairs.all && pairs.other_lacking == pairs.all)
    return {false,
            fmt::format("found null for {} and for {}: {}", seeds.front()->label, other, why_null(expectation.metric))};
  return pairs.lacking + pairs.other_lacking > 0 ? by_wins(pairs, expectation, seeds.front()->label, other, confidence)
                                                 : by_difference(pairs, other, confidence);
}

}  // namespace simgrad::experiment
