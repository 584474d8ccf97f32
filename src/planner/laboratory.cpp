#include "planner/laboratory.h"

#include <utility>

#include "base/hash.h"
#include "experiment/run/children.h"
#include "experiment/run/runner.h"
#include "experiment/run/trials.h"

namespace simgrad::planner {

using experiment::RunPlan;
using nlohmann::ordered_json;

namespace {

/// A run's id does not tell prices, and an outcome has a bill.
std::string key_of(const RunPlan& run) {
  return run.id + "-" + base::hash(scenario::echo(run.settings->prices).dump()).substr(0, 8);
}

}  // namespace

Laboratory::Laboratory(const std::string& out, double real_s, int jobs, int threads, bool again)
    : log_(out), jobs_(jobs), threads_(threads) {
  end_ = std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(real_s));
  if (again)
    log_.clear();
  else
    outcomes_ = log_.read();
  for (const auto& [id, outcome] : outcomes_) kept_.insert(id);
}

bool Laboratory::over() const { return experiment::interrupted() || left_s() <= 0.0; }

double Laboratory::left_s() const {
  return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
}

const Outcome* Laboratory::find(const RunPlan& run) {
  const std::string key = key_of(run);
  const auto found = outcomes_.find(key);
  if (found == outcomes_.end()) return nullptr;
  const Outcome& outcome = found->second;
  if (counted_.insert(key).second) {
    ++effort_.runs;
    if (kept_.contains(key)) ++effort_.kept;
    effort_.worker_steps += static_cast<double>(outcome.steps * outcome.workers);
    effort_.real_s += outcome.real_s;
  }
  return &outcome;
}

void Laboratory::add(const RunPlan& run, Outcome outcome) {
  const std::string key = key_of(run);
  log_.add(key, outcome);
  outcomes_[key] = std::move(outcome);
}

bool Laboratory::simulate(const std::vector<const RunPlan*>& runs, const std::function<void()>& tick) {
  std::vector<const RunPlan*> missing;
  std::set<std::string> asked;
  for (const RunPlan* run : runs)
    if (!find(*run) && asked.insert(key_of(*run)).second) missing.push_back(run);
  if (!missing.empty() && !over()) {
    const auto [jobs, threads] = experiment::jobs_and_threads(jobs_, threads_, missing.size());
    experiment::simulate_each(
        missing, data_cache_, jobs, threads,
        {.answer = [](const RunPlan& run, const record::Record& record) { return to_json(outcome_of(run, record)); },
         .take =
             [&](std::size_t task, const ordered_json& answer, double real_s) {
               Outcome outcome = outcome_from_json(answer);
               outcome.real_s = real_s;
               add(*missing[task], std::move(outcome));
             },
         .failed =
             [&](std::size_t task, const std::string& fault) {
               add(*missing[task], {.status = record::Status::failed, .error = fault});
             },
         .goes_on =
             [&] {
               if (tick) tick();
               return !over();
             }});
  }
  bool all = true;
  for (const RunPlan* run : runs) all = find(*run) && all;
  return all;
}

}  // namespace simgrad::planner
