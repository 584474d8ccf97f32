#include "planner/judge.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "planner/bound.h"
#include "planner/learning_curve.h"
#include "planner/pace.h"
#include "planner/rates.h"
#include "planner/variants.h"

namespace simgrad::planner {

using experiment::RunPlan;
using record::Status;

namespace {

constexpr double first_updates = 24.0;  ///< of a trial of a training, after a glimpse at it
constexpr double longer = 4.0;          ///< the next trial's length over the last one's
constexpr double steps_most = 256.0;    ///< of times; longer trainings go on from there

/// A lower bound without any simulation. Hosts draw at least their idle power, and computing takes more.
Measures by_formula(const Candidate& candidate, double samples) {
  const Rates rates = rates_of(candidate);
  const double steps = samples / static_cast<double>(candidate.batch);
  const StepBound bound = step_bound(candidate);
  Measures least{.time_s = steps * bound.step_s()};
  if (rates.usd_per_s) least.usd = *rates.usd_per_s * least.time_s;
  if (rates.idle_w)
    least.energy_j = *rates.idle_w * least.time_s + (*rates.busy_w - *rates.idle_w) * steps * bound.compute_s;
  return least;
}

/// The amount in whole steps.
double whole_steps(const Candidate& candidate) {
  const auto batch = static_cast<double>(candidate.batch);
  return std::ceil(candidate.samples / batch) * batch;
}

std::string why_lost(const Outcome& outcome) {
  if (outcome.failed()) return "fails: " + outcome.error;
  if (outcome.status == Status::diverged) return "diverges";
  return "ends before it reaches the target loss";
}

/// Whether the outcome ended before so many samples, by a rule of the scenario.
bool cut_off(const Outcome& outcome, double samples) {
  return outcome.status == Status::stopped && (samples == 0.0 || outcome.samples < samples);
}

}  // namespace

Judge::Judge(const std::vector<Candidate>& candidates, Laboratory& laboratory, std::uint64_t seed, bool whole,
             Changes changes)
    : candidates_(candidates), laboratory_(laboratory), seed_(seed), whole_(whole), changes_(std::move(changes)) {
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (!candidates[c].numbers_key.empty()) first_of_key_.emplace(candidates[c].numbers_key, c);
}

double Judge::first_timing(const Candidate& candidate) {
  const auto period = static_cast<double>(period_of(candidate));
  return 2.0 * period * static_cast<double>(candidate.batch);
}

double Judge::first_learning(const Candidate& candidate) {
  const auto every = static_cast<double>(candidate.settings->evaluate.every_steps.value_or(1));
  return std::max(first_updates, 4.0 * every) * static_cast<double>(candidate.batch);
}

const std::optional<RunPlan>& Judge::planned(const Candidate& candidate, Trial trial, double samples) {
  const auto [at, fresh] = plans_.try_emplace({candidate.index, trial, samples});
  if (!fresh) return at->second;
  const bool timing = trial == Trial::timing, shared = !timing && !candidate.numbers_key.empty();
  const std::vector<std::string> sets = changes_ && !shared ? changes_(candidate) : std::vector<std::string>();
  at->second = timing                    ? timing_run(candidate, samples, seed_, sets)
               : trial == Trial::glimpse ? glimpse(candidate, seed_, sets)
                                         : learning_run(candidate, samples, seed_, sets);
  return at->second;
}

const Outcome* Judge::outcome(const Candidate& candidate, Trial trial, double samples, Standing& standing) {
  const std::optional<RunPlan>& run = planned(candidate, trial, samples);
  if (!run) return nullptr;
  const Outcome* known = laboratory_.find(*run);
  standing.next = known ? std::nullopt : run;
  return known;
}

Standing Judge::standing(const Candidate& candidate) {
  if (candidate.samples > 0.0) return of_amount(candidate);
  return candidate.numbers_key.empty() || !planned(candidate, Trial::timing, first_timing(candidate))
             ? of_own_numbers(candidate)
             : of_shared_numbers(candidate);
}

Standing Judge::of_amount(const Candidate& candidate) {
  const double samples = whole_steps(candidate);
  Standing standing{.known = Standing::Known::bounded, .least = by_formula(candidate, samples), .samples = samples};
  const bool timed = planned(candidate, Trial::timing, std::min(samples, first_timing(candidate))).has_value();
  const Trial trial = timed ? Trial::timing : Trial::learning;
  const double most = std::min(samples, steps_most * static_cast<double>(candidate.batch));
  for (double length = std::min(samples, first_timing(candidate));; length = std::min(most, longer * length)) {
    const Outcome* seen = outcome(candidate, trial, length, standing);
    if (!seen) {
      if (!standing.next) standing.lost = "is refused by the scenario's checks when it is timed";
      return standing;
    }
    if (seen->failed() || seen->status == Status::diverged) {
      standing.lost = why_lost(*seen);
      return standing;
    }
    const Pace pace(*seen, period_of(candidate));
    standing.known = Standing::Known::begun;
    standing.least = pace.least(samples);
    standing.expected = pace.expected(samples);
    standing.projected = !pace.covers(samples);
    if (!pace.covers(samples) && !pace.repeats() && length < most) continue;
    standing.known = Standing::Known::whole;
    standing.least = standing.expected;
    return standing;
  }
}

const Outcome* Judge::training(const Candidate& candidate, Standing& standing) {
  const Outcome* longest = nullptr;
  if (!whole_ && planned(candidate, Trial::glimpse, 0.0)) {
    longest = outcome(candidate, Trial::glimpse, 0.0, standing);
    if (!longest) return nullptr;
    if (longest->failed() || longest->status == Status::diverged) {
      standing.lost = why_lost(*longest);
      return longest;
    }
  }
  for (double length = whole_ ? 0.0 : first_learning(candidate);; length *= longer) {
    const Outcome* seen = outcome(candidate, Trial::learning, length, standing);
    if (!seen) {
      if (!standing.next) standing.lost = "is refused by the scenario's checks when it is shortened";
      return longest;
    }
    longest = seen;
    if (seen->reached()) return seen;
    if (seen->status != Status::stopped || cut_off(*seen, length)) {
      standing.lost = why_lost(*seen);
      return seen;
    }
  }
}

Standing Judge::of_shared_numbers(const Candidate& candidate) {
  Standing standing;
  const auto batch = static_cast<double>(candidate.batch);
  Standing of_times, of_numbers;
  const Outcome* timing = outcome(candidate, Trial::timing, first_timing(candidate), of_times);
  if (timing && timing->failed()) {
    standing.lost = why_lost(*timing);
    return standing;
  }
  const Candidate& first = candidates_[first_of_key_.at(candidate.numbers_key)];
  const Outcome* learned = training(first, of_numbers);
  standing.lost = of_numbers.lost;
  SamplesToTarget to_target{.least = batch, .expected = batch};
  const bool known = learned && learned->reached();
  if (known)
    to_target = {learned->samples, learned->samples};
  else if (learned && learned->curve.size() >= 2)
    to_target = samples_to_target(learned->curve, *candidate.settings->stop.loss);
  standing.by_curve = learned && !known;
  standing.samples = to_target.expected;
  standing.least = by_formula(candidate, to_target.least);
  standing.next = of_times.next ? of_times.next : of_numbers.next;
  if (!timing) return standing;
  const std::int64_t period = period_of(candidate);
  const Pace pace(*timing, period);
  standing.least = pace.least(to_target.least);
  standing.expected = pace.expected(to_target.expected);
  if (learned) standing.known = Standing::Known::begun;
  if (!known) return standing;
  const Outcome* all = outcome(candidate, Trial::timing, learned->samples, standing);
  if (!all) return standing;
  if (all->failed()) {
    standing.lost = why_lost(*all);
    return standing;
  }
  standing.known = Standing::Known::whole;
  standing.least = standing.expected = Pace(*all, period).expected(learned->samples);
  return standing;
}

Standing Judge::of_own_numbers(const Candidate& candidate) {
  Standing standing;
  const auto batch = static_cast<double>(candidate.batch);
  const Outcome* learned = training(candidate, standing);
  standing.samples = batch;
  standing.least = by_formula(candidate, batch);
  if (!learned || learned->failed() || learned->curve.size() < 2) return standing;
  const Pace pace(*learned, period_of(candidate));
  if (learned->reached()) {
    standing.known = Standing::Known::whole;
    standing.samples = learned->samples;
    standing.least = standing.expected = {learned->time_s, learned->usd, learned->energy_j};
    return standing;
  }
  const SamplesToTarget to_target = samples_to_target(learned->curve, *candidate.settings->stop.loss);
  standing.known = Standing::Known::begun;
  standing.by_curve = true;
  standing.samples = to_target.expected;
  standing.least = pace.least(to_target.least);
  standing.expected = pace.expected(to_target.expected);
  return standing;
}

}  // namespace simgrad::planner
