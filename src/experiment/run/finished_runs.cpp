#include "experiment/run/finished_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/version.h"

namespace simgrad::experiment {

namespace {

bool has_failed(const record::Record& record) { return record.status == record::Status::failed; }

double samples_per_s(const record::Record& record) {
  const std::int64_t seen = record.samples_seen.value_or(record.samples);
  return record.simulated_s > 0.0 ? static_cast<double>(seen) / record.simulated_s : 0.0;
}

/// The mesh of a run whose model is cut, and the schedule of its stages.
nlohmann::ordered_json mesh_of(const RunPlan& plan) {
  const strategies::Parallel& parallel = plan.settings->parallel;
  nlohmann::ordered_json mesh = {{"tensor", parallel.tensor},
                                 {"context", parallel.context},
                                 {"expert", parallel.expert},
                                 {"pipeline", parallel.pipeline}};
  if (parallel.by_stages())
    mesh["stage_replicas"] = parallel.shape().replicas;
  else
    mesh["data"] = plan.workers / parallel.ranks_a_replica();
  mesh["order"] = parallel.order;
  if (parallel.pipeline > 1) mesh["schedule"] = parallel.schedule.kind();
  mesh["micro_batches"] = parallel.micro_batch_count();
  return mesh;
}

}  // namespace

outputs::Run described(const RunPlan& plan) {
  outputs::Run run;
  run.id = plan.id;
  run.strategy = plan.kind;
  run.label = plan.label;
  run.options = plan.options;
  run.parameters = plan.parameters;
  run.seed = plan.seed;
  run.workers = plan.workers;
  // A baseline's one worker has the whole model.
  const strategies::Parallel& parallel = plan.settings->parallel;
  if (parallel.cuts() && plan.workers >= parallel.ranks_a_replica()) run.parallel = mesh_of(plan);
  return run;
}

void compare_with_baseline(outputs::Run& run, const record::Record& baseline) {
  if (has_failed(run.record) || has_failed(baseline)) return;
  // A run that learns nothing gains nothing, however fast it is.
  if (run.record.status == record::Status::diverged) return;
  const double rate = samples_per_s(run.record), rate_of_one = samples_per_s(baseline);
  if (rate > 0.0 && rate_of_one > 0.0) {
    run.speedup_throughput = rate / rate_of_one;
    run.efficiency = *run.speedup_throughput / static_cast<double>(run.workers);
  }
  const auto& target_s = run.record.time_to_target_s;
  if (target_s && baseline.time_to_target_s && *target_s > 0.0)
    run.speedup_time_to_target = *baseline.time_to_target_s / *target_s;
}

void compare_with_alone(outputs::Run& run, const record::Record& by_itself) {
  if (has_failed(run.record) || has_failed(by_itself)) return;
  const bool targets = run.record.time_to_target_s && by_itself.time_to_target_s;
  const double alone_s = targets ? *by_itself.time_to_target_s : by_itself.simulated_s;
  const double beside_s = targets ? *run.record.time_to_target_s : run.record.simulated_s;
  if (!(alone_s > 0.0)) return;
  run.interference = beside_s / alone_s;
  std::string note = fmt::format("{:.4g} s while the other jobs run, {:.4g} s alone: interference {:.3f}", beside_s,
                                 alone_s, *run.interference);
  // A record that is read from a file has the note already.
  if (std::ranges::find(run.record.notes, note) == run.record.notes.end()) run.record.notes.push_back(std::move(note));
}

FinishedRuns::FinishedRuns(const Plan& plan) {
  for (const RunPlan& baseline : plan.baselines) work_of_baseline_[baseline.id] = baseline.work;
  for (const RunPlan& run : plan.runs) {
    std::set<std::string> needed{run.work};
    if (const auto baseline = work_of_baseline_.find(run.baseline); baseline != work_of_baseline_.end())
      needed.insert(baseline->second);
    if (!run.alone.empty()) needed.insert(run.alone);
    missing_[&run] = static_cast<int>(needed.size());
    for (const std::string& work : needed) waiting_[work].push_back(&run);
  }
}

std::vector<const RunPlan*> FinishedRuns::add(const std::string& work, outputs::Run run) {
  done_.emplace(work, std::move(run));
  std::vector<const RunPlan*> final;
  for (const RunPlan* each : waiting_[work])
    if (--missing_.at(each) == 0) final.push_back(each);
  return final;
}

const record::Record* FinishedRuns::record_of(const std::string& work) const {
  const auto found = done_.find(work);
  return found == done_.end() ? nullptr : &found->second.record;
}

const outputs::Run* FinishedRuns::failed(const RunPlan& plan) const {
  const auto found = done_.find(plan.work);
  return found != done_.end() && has_failed(found->second.record) ? &found->second : nullptr;
}

namespace {

/// Dollars and energy of a trillion tokens, where the run has tokens and a bill.
void price_tokens(outputs::Run& run) {
  constexpr double trillion = 1e12, joules_a_kwh = 3.6e6;
  record::Throughput& rates = run.record.throughput;
  if (!rates.tokens || !(*rates.tokens > 0.0)) return;
  if (run.bill.cost_usd) rates.dollars_per_trillion_tokens = *run.bill.cost_usd / *rates.tokens * trillion;
  if (run.bill.energy_j) rates.kwh_per_trillion_tokens = *run.bill.energy_j / *rates.tokens * trillion / joules_a_kwh;
}

/// Dollars and joules of the tokens of answers, where the run has answers and a bill. The dollars are those of a second
/// over its tokens, so that the time in which the last answers end is not paid by all.
void price_answers(outputs::Run& run) {
  constexpr double million = 1e6;
  record::Serving& serving = run.record.serving;
  if (!serving.output_tokens || !(*serving.output_tokens > 0.0)) return;
  if (run.bill.cost_usd && serving.output_tokens_per_s.value_or(0.0) > 0.0)
    serving.dollars_per_million_tokens =
        *run.bill.cost_usd / run.record.simulated_s / *serving.output_tokens_per_s * million;
  if (run.bill.energy_j) serving.joules_per_token = *run.bill.energy_j / *serving.output_tokens;
}

}  // namespace

outputs::Run FinishedRuns::run(const RunPlan& plan) const {
  const outputs::Run& done = done_.at(plan.work);
  outputs::Run run = described(plan);
  run.record = done.record;
  run.wall_s = done.wall_s;
  if (!has_failed(run.record)) run.bill = outputs::bill(run.record, plan.settings->prices);
  price_tokens(run);
  price_answers(run);
  outputs::bill_curve(run.record, plan.settings->prices);
  if (const auto baseline = work_of_baseline_.find(plan.baseline); baseline != work_of_baseline_.end())
    if (const record::Record* record = record_of(baseline->second)) compare_with_baseline(run, *record);
  if (const record::Record* record = record_of(plan.alone)) compare_with_alone(run, *record);
  return run;
}

std::vector<outputs::Run> FinishedRuns::runs(const std::vector<RunPlan>& plans) const {
  std::vector<outputs::Run> all;
  for (const RunPlan& plan : plans)
    if (contains(plan)) all.push_back(run(plan));
  return all;
}

outputs::Results results_of(const Plan& plan, const FinishedRuns& finished) {
  outputs::Results results;
  results.name = plan.name;
  results.title = plan.title;
  results.version = version;
  results.command = plan.command;
  results.scenario = plan.scenario;
  results.all_ranks = plan.all_ranks;
  results.runs = finished.runs(plan.runs);
  results.baselines = finished.runs(plan.baselines);
  results.complete = results.runs.size() == plan.runs.size() && results.baselines.size() == plan.baselines.size();
  return results;
}

}  // namespace simgrad::experiment
