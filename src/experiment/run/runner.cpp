#include "experiment/run/runner.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "experiment/run/counterfactuals.h"
#include "experiment/run/execution.h"
#include "experiment/run/unwritten.h"

namespace simgrad::experiment {

std::pair<int, int> jobs_and_threads(int jobs, int threads, std::size_t runs) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int at_a_time = std::min(jobs > 0 ? jobs : cores, std::max(1, static_cast<int>(runs)));
  return {at_a_time, threads >= 0 ? threads : cores / at_a_time};
}

outputs::Results run_plan(const Plan& plan, const RunnerOptions& options) {
  std::unique_ptr<const ResultsDirectory> directory;
  return run_plan(plan, options, directory);
}

outputs::Results run_plan(const Plan& plan, const RunnerOptions& options,
                          std::unique_ptr<const ResultsDirectory>& directory) {
  watch_for_interrupts();
  Unwritten unwritten(options);
  Execution execution(plan, pieces_of_work(plan), options, unwritten);
  execution.read_data();
  directory = std::make_unique<const ResultsDirectory>(options.out, plan, nlohmann::ordered_json(), options.again,
                                                       options.tell);
  if (!interrupted()) execution.run();  // not at an interrupt while another command had the directory
  outputs::Results results = results_of(plan, execution.finished());
  execution.leave_out_dropped(results, plan);
  if (options.counterfactuals && results.complete) {
    TrialStore trials(options.out, !options.again);
    results.counterfactuals =
        counterfactuals(plan, results, trials, execution.data_cache(), options.jobs, options.threads, options.tell);
    unwritten.attempt([&] { trials.write(); });
  }
  // An end before any run is finished keeps the files of an earlier call.
  if (results.runs.empty() && (interrupted() || options.goes_on)) return results;
  unwritten.attempt([&] { outputs::write_all(results, options.out); });
  unwritten.raise_if_untold();
  return results;
}

ShardOutcome run_shard(const Plan& plan, const Shard& shard, const Origin& origin, const RunnerOptions& options) {
  watch_for_interrupts();
  Unwritten unwritten(options);
  const auto parts = dealt(pieces_of_work(plan), shard.count);
  const std::vector<const RunPlan*>& pieces = parts.at(static_cast<std::size_t>(shard.index) - 1);
  Execution execution(plan, pieces, options, unwritten);
  execution.read_data();
  const ResultsDirectory directory(options.out, plan, as_json(origin, shard, plan, options.out), options.again,
                                   options.tell);
  if (!interrupted()) execution.run();
  unwritten.raise_if_untold();
  ShardOutcome outcome{.finished = execution.finished().size(), .all = pieces.size()};
  for (const RunPlan* piece : pieces)
    if (const outputs::Run* run = execution.finished().failed(*piece)) outcome.failed.push_back(*run);
  return outcome;
}

}  // namespace simgrad::experiment
