#include "experiment/run/counterfactuals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "experiment/plan/assumed.h"
#include "experiment/plan/changes.h"
#include "experiment/run/effort.h"
#include "experiment/run/runner.h"
#include "experiment/run/trials.h"
#include "outputs/report/sentences/ranking.h"
#include "outputs/summary.h"
#include "outputs/text/number_text.h"

namespace simgrad::experiment {

namespace {

constexpr double share_of_effort = 0.15;  ///< by estimate, so that it is less than a fifth in fact
constexpr double effort_always_allowed_s = 0.1;
constexpr double effort_of_first_s = 1.0;      ///< of the first study, if that suffices for the least number of steps
constexpr double effort_on_devices_s = 8.0;    ///< of the first study, whose numbers are assumed in part
constexpr std::int64_t steps_least = 8;        ///< fewer say little about a training; a shorter one is tried whole
constexpr std::int64_t steps_least_timed = 1;  ///< of a run that computes no numbers

/// One simulation to do: a run as it is, or changed.
struct Trial {
  std::optional<RunPlan> plan;  ///< nothing: the scenario refuses it
  std::string name = {};        ///< of the cause that is changed; empty: the run as it is
  std::vector<std::string> sets = {};
};

/// All trials on one run.
struct Study {
  const RunPlan* run = nullptr;
  Observed as_it_was;  ///< the run of the results
  std::int64_t steps = 0;
  bool whole = true;     ///< the trials have as many steps as the run
  bool reached = false;  ///< the target ended the run
  bool asynchronous = false;

  /// Whether the trial of the run as it is does the same. A state that meets the target may come later than it would as
  /// the last one: block_sync has its blocks when the next step needs them.
  bool is_run(const Observed& trial) const {
    const double run_s = as_it_was.simulated_s;
    return whole && (!reached || std::abs(trial.simulated_s - run_s) <= 1e-9 * run_s);
  }
  std::vector<Trial> trials;  ///< the run as it is first, then the causes, then the assumed numbers
  std::size_t causes = 0;
};

/// The seed of a case to explain: the first, or the first with a crash, if there is one.
const outputs::Run& explained(const outputs::report::Case& one) {
  const auto crashed = [](const outputs::Run* run) { return run->record.crashes.value_or(0) > 0; };
  const auto found = std::ranges::find_if(one.runs, crashed);
  return found == one.runs.end() ? *one.runs.front() : **found;
}

/// The runs to explain: the best case of each strategy first, then the others, one seed each.
std::vector<const outputs::Run*> in_order_of_importance(const outputs::Results& results) {
  const outputs::report::ReportModel model = outputs::report::report_model(results);
  std::vector<const outputs::Run*> runs;
  const auto add = [&](const outputs::report::Case* one) {
    if (one->runs.empty()) return;
    const auto known = [&](const std::string& id) { return std::ranges::find(results.runs, id, &outputs::Run::id); };
    const outputs::Run* run = &*known(explained(*one).id);
    if (std::ranges::find(runs, run) == runs.end()) runs.push_back(run);
  };
  for (const auto* one : ranking(model, best_measure(model))) add(one);
  for (const auto* one : model.ran()) add(one);
  return runs;
}

/// Divides the effort among studies.
class Budget {
 public:
  Budget(const std::map<std::string, const RunPlan*>& plans, const outputs::Results& results) {
    for (const auto* runs : {&results.runs, &results.baselines})
      for (const outputs::Run& run : *runs)
        if (const auto plan = plans.find(run.id); plan != plans.end())
          left_s_ += share_of_effort * (start_effort_s + effort_s(*plan->second, run.record));
    left_s_ = std::max(left_s_, effort_always_allowed_s);
  }

  /// The number of steps of as many simulations of the run that the rest of the effort allows; it is taken off. 0: the
  /// rest does not suffice.
  std::int64_t steps(const RunPlan& plan, const record::Record& record, std::size_t simulations) {
    const auto n = static_cast<double>(simulations);
    const double whole_s = n * effort_s(plan, record);
    const std::int64_t all = record.steps;
    if (all < 1) return 0;
    const std::int64_t least = std::min(all, plan.settings->training.numbers ? steps_least : steps_least_timed);
    const double least_s = n * start_effort_s + whole_s * static_cast<double>(least) / static_cast<double>(all);
    double allowed_s = left_s_;
    if (first_) {
      if (plan.settings->cluster.device_of(0)) allowed_s = std::max(allowed_s, effort_on_devices_s);
      if (least_s <= effort_of_first_s) allowed_s = std::max(allowed_s, least_s);
    }
    if (allowed_s < least_s) {
      if (least_s < lacking_s_) {
        lacking_s_ = least_s;
        allowed_s_ = std::max(allowed_s, first_ ? effort_of_first_s : 0.0);
      }
      return 0;
    }
    first_ = false;
    const double part = whole_s > 0.0 ? (allowed_s - n * start_effort_s) / whole_s : 1.0;
    const auto steps =
        std::clamp(static_cast<std::int64_t>(std::floor(std::min(1.0, part) * static_cast<double>(all))), least, all);
    left_s_ -= n * start_effort_s + whole_s * static_cast<double>(steps) / static_cast<double>(all);
    return steps;
  }

  /// Returns why no study was allowed.
  std::string remark() const {
    if (!std::isfinite(lacking_s_)) return {};
    return fmt::format(
        "no change is tried to find the bottleneck: a few steps under each would take about {}, and {} are allowed",
        outputs::duration(lacking_s_), outputs::duration(allowed_s_));
  }

 private:
  double left_s_ = 0.0;
  double lacking_s_ = std::numeric_limits<double>::infinity();  ///< the least effort that was not allowed
  double allowed_s_ = 0.0;                                      ///< where it was not
  bool first_ = true;
};

/// All trials on a run, as long as the budget allows; a study without trials if it does not allow any.
Study study_of(const Plan& plan, const RunPlan& run, const outputs::Run& result, Budget& budget) {
  Study study{.run = &run, .as_it_was = observed(result.record), .trials = {}};
  const std::vector<Improvement> all = improvements(run);
  if (result.record.status == record::Status::diverged) return study;
  const auto as_it_is = varied(plan, run, {});
  if (all.empty() || !as_it_is) return study;
  const std::vector<AssumedOff> assumed = assumed_off(run);
  study.steps = budget.steps(*as_it_is, result.record, all.size() + assumed.size() + 1);
  if (study.steps == 0) return study;
  study.whole = study.steps == result.record.steps;
  study.reached = result.record.status == record::Status::reached;
  study.asynchronous = result.record.staleness_mean.value_or(0.0) > 0.0;
  const std::string cut = fmt::format("stop.steps={}", study.steps);
  // A run that its time ended in the middle of a step is compared as it was after its last step.
  study.trials.push_back({varied(plan, run, {cut})});
  const auto add = [&](const std::string& name, const std::vector<std::string>& changed) {
    std::vector<std::string> sets = changed;
    sets.push_back(cut);
    study.trials.push_back({varied(plan, run, sets), name, changed});
  };
  for (const Improvement& improvement : all) add(improvement.name, improvement.sets);
  study.causes = all.size();
  for (const AssumedOff& off : assumed) add(off.name, off.sets);
  return study;
}

/// remark: gets the reason why there are none, if that is their effort.
std::vector<Study> studies_of(const Plan& plan, const outputs::Results& results, std::string& remark) {
  std::map<std::string, const RunPlan*> plans;
  for (const auto* runs : {&plan.runs, &plan.baselines})
    for (const RunPlan& run : *runs) plans[run.id] = &run;
  Budget budget(plans, results);
  std::vector<Study> studies;
  for (const outputs::Run* result : in_order_of_importance(results)) {
    Study study = study_of(plan, *plans.at(result->id), *result, budget);
    if (!study.trials.empty()) studies.push_back(std::move(study));
  }
  if (studies.empty()) remark = budget.remark();
  return studies;
}

/// The study's result, from what its trials have shown.
outputs::Counterfactual result_of(const Study& study, const std::vector<std::optional<Observed>>& seen) {
  const Observed& base = *seen.front();
  outputs::Counterfactual result{.id = study.run->id,
                                 .steps = study.steps,
                                 .whole = study.is_run(base),
                                 .simulated_s = base.simulated_s,
                                 .samples = base.samples,
                                 .changes = {},
                                 .asynchronous = study.asynchronous};
  for (std::size_t k = 1; k < seen.size(); ++k) {
    // A part of a run without its crashes says nothing about them.
    const bool unseen = study.trials[k].name == "failures" && base.crashes == 0 && study.as_it_was.crashes > 0;
    if (!seen[k] || unseen || !(seen[k]->samples_per_s() > 0.0)) continue;
    (k <= study.causes ? result.changes : result.assumed)
        .push_back({.name = study.trials[k].name,
                    .sets = study.trials[k].sets,
                    .simulated_s = seen[k]->simulated_s,
                    .samples = seen[k]->samples,
                    .gain = seen[k]->samples_per_s() / base.samples_per_s()});
  }
  std::ranges::stable_sort(result.changes, std::ranges::greater(), &outputs::Change::gain);
  return result;
}

}  // namespace

std::string too_large_for_counterfactuals(const Plan& plan) {
  if (plan.runs.size() <= counterfactual_runs_most) return {};
  return fmt::format("{} runs are more than {}: nothing is tried that would make them faster", plan.runs.size(),
                     counterfactual_runs_most);
}

std::vector<outputs::Counterfactual> counterfactuals(const Plan& plan, const outputs::Results& results,
                                                     TrialStore& store, DataCache& data_cache, int jobs, int threads,
                                                     const std::function<void(const std::string&)>& tell) {
  if (plan.runs.empty() || plan.runs.size() > counterfactual_runs_most || !plan.runs.front().jobs.empty()) return {};
  if (plan.runs.front().settings->serving.any()) return {};  // trials are compared by samples, of which there are none
  std::string remark;
  const std::vector<Study> studies = studies_of(plan, results, remark);
  if (tell && !remark.empty()) tell(remark);
  std::vector<const RunPlan*> runs;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // study, trial
  for (std::size_t s = 0; s < studies.size(); ++s)
    for (std::size_t k = 0; k < studies[s].trials.size(); ++k)
      if (const auto& trial = studies[s].trials[k].plan) {
        runs.push_back(&*trial);
        places.emplace_back(s, k);
      }
  const auto [at_a_time, threads_each] = jobs_and_threads(jobs, threads, runs.size());
  const auto seen = trial_outcomes(runs, store, data_cache, at_a_time, threads_each);
  if (seen.empty()) return {};
  std::vector<std::vector<std::optional<Observed>>> by_study;
  for (const Study& study : studies) by_study.emplace_back(study.trials.size());
  for (std::size_t i = 0; i < places.size(); ++i) by_study[places[i].first][places[i].second] = seen[i];
  std::vector<outputs::Counterfactual> all;
  for (std::size_t s = 0; s < studies.size(); ++s) {
    const std::optional<Observed>& base = by_study[s].front();
    if (!base || !(base->samples_per_s() > 0.0)) continue;
    outputs::Counterfactual result = result_of(studies[s], by_study[s]);
    if (!result.changes.empty()) all.push_back(std::move(result));
  }
  return all;
}

}  // namespace simgrad::experiment
