#include "planner/judge.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "capacity/step_times.h"
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
constexpr double goodput_least = 1e-3;  ///< with less the training does not come to its goal

/// A lower bound without any simulation. Hosts draw at least their idle power, and computing takes more.
Measures by_formula(const Candidate& candidate, double samples, const Rates& rates) {
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
  at->second = timing                         ? timing_run(candidate, samples, seed_, sets)
               : trial == Trial::checkpointed ? checkpointed_run(candidate, seed_, sets)
               : trial == Trial::glimpse      ? glimpse(candidate, seed_, sets)
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
  const std::optional<Reliability>& failing = reliability(candidate);
  const Rates rates = failing ? rates_of(failing->timed, failing->settings->prices) : rates_of(candidate);
  Standing standing{
      .known = Standing::Known::bounded, .least = by_formula(candidate, samples, rates), .samples = samples};
  if (failing) standing.least = least_with_failures(*failing, standing.least);
  const bool timed = planned(candidate, Trial::timing, std::min(samples, first_timing(candidate))).has_value();
  const Trial trial = timed ? Trial::timing : Trial::learning;
  const double most = std::min(samples, steps_most * static_cast<double>(candidate.batch));
  // Steps do not repeat where some of them fail.
  const bool all_of_it = candidate.settings->cluster.failures.any() && !candidate.undisturbed;
  const double first = all_of_it ? most : std::min(samples, first_timing(candidate));
  for (double length = first;; length = std::min(most, longer * length)) {
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
    const bool goes_on = !pace.covers(samples) && !pace.repeats() && length < most;
    if (!goes_on) standing.least = standing.expected;
    if (failing) interrupt(candidate, *failing, standing);
    if (standing.next || !standing.lost.empty()) return standing;
    if (goes_on) continue;
    standing.known = Standing::Known::whole;
    return standing;
  }
}

const std::optional<Reliability>& Judge::reliability(const Candidate& candidate) {
  const auto [at, fresh] = reliabilities_.try_emplace(candidate.index);
  if (fresh && candidate.undisturbed)
    at->second =
        reliability_of(candidate, changes_ ? changed_settings(candidate, changes_(candidate)) : candidate.settings);
  return at->second;
}

std::optional<capacity::CheckpointTimes> Judge::checkpoint_of(const Candidate& candidate,
                                                              const Reliability& reliability, Standing& standing) {
  if (reliability.checkpoint) return reliability.checkpoint;
  const double two_steps = 2.0 * static_cast<double>(candidate.batch);
  const Outcome* without = outcome(candidate, Trial::timing, two_steps, standing);
  if (!without && standing.next) return {};
  const Outcome* with = without ? outcome(candidate, Trial::checkpointed, two_steps, standing) : nullptr;
  if (!with && standing.next) return {};
  if (!with)
    standing.lost = "is refused by the scenario's checks when a checkpoint is timed; give capacity.checkpoint_time";
  else if (with->failed() || without->failed())
    standing.lost = why_lost(with->failed() ? *with : *without);
  else
    return capacity::times_of_checkpoint(with->time_s - without->time_s, *reliability.settings);
  return {};
}

void Judge::interrupt(const Candidate& candidate, const Reliability& reliability, Standing& standing) {
  const double step_s = standing.expected.time_s * static_cast<double>(candidate.batch) / standing.samples;
  const auto checkpoint = checkpoint_of(candidate, reliability, standing);
  standing.least = least_with_failures(reliability, standing.least);
  if (!checkpoint) {
    standing.expected = least_with_failures(reliability, standing.expected);
    return;
  }
  standing.by_spares = with_failures(reliability, standing.expected, step_s, *checkpoint,
                                     [&](int spares) { return laboratory_.correction(candidate.index, spares); });
  const WithFailures& all = preferred(standing.by_spares, candidate.settings->goal);
  if (!(all.interrupted.goodput() >= goodput_least)) {
    standing.lost = why_hopeless(reliability, all.interrupted);
    return;
  }
  standing.expected = all.measures;
  standing.interrupted = all.interrupted;
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
  standing.least = by_formula(candidate, to_target.least, rates_of(candidate));
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
  standing.least = by_formula(candidate, batch, rates_of(candidate));
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
