#include "experiment/run/piece_of_work.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "experiment/run/effort.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/shared_numbers.h"
#include "experiment/run/simulate_proxy.h"
#include "experiment/saved/model_file.h"
#include "outputs/results.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

/// The state in the file; null if the file is not whole.
std::shared_ptr<const values::Contents> state_in(const std::string& file) {
  try {
    if (auto contents = values::contents_of(outputs::read_file(file)))
      return std::make_shared<const values::Contents>(std::move(*contents));
  } catch (const base::EnvironmentError&) {
  }
  return nullptr;
}

void keep_state(const StateFiles& files, const values::Contents& state, const RunPlan& plan,
                const record::Record& record) {
  if (state.empty() || record.status == record::Status::failed) return;
  if (!files.shared && effort_s(plan, record) < worth_keeping_s) return;
  base::make_own_folder(std::filesystem::path(files.to).parent_path());
  outputs::write_file(files.to, values::text_of(state));
}

void write_models(const std::string& out, const std::vector<const RunPlan*>& runs, const data::Split& data,
                  const LastModel& model) {
  for (const RunPlan* run : runs)
    write_model(model_file(out, run->id), *run, data, problem_of(data), model.record, model.w);
}

}  // namespace

std::string simulated(const RunPlan& plan, const std::vector<const RunPlan*>& runs, const Data& data, Numbers numbers,
                      const StateFiles& states, int threads, const RunnerOptions& options, training::Pulse* pulse) {
  outputs::Run run = described(plan);
  const auto start = std::chrono::steady_clock::now();
  const auto limits =
      runs.empty() ? std::vector<cluster::TimelineLimits>() : options.recordings.limits(any_keeps_timeline(runs));
  if (!states.from.empty()) numbers.state = state_in(states.from);
  const bool damaged = !states.from.empty() && !numbers.state;
  ModelKeeper keeper{.keep = [&](const LastModel& model) { write_models(options.out, runs, *data, model); }};
  if (plan.settings->save_model && !runs.empty()) numbers.keeper = &keeper;
  values::Contents last_state;
  if (!states.to.empty()) numbers.last_state = &last_state;
  try {
    run.record = plan.settings->model.proxied() ? simulate_proxy(plan, data, threads, pulse, limits, numbers)
                                                : simulate(plan, data, threads, pulse, limits, numbers);
  } catch (const CollectivesMeet& meet) {
    return outputs::compact({{"meet", meet.what()}});
  }
  if ((numbers.all_known || numbers.state) && numbers.trajectory->lacking()) return R"({"lacking": true})";
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::ordered_json answer{
      {"run", outputs::to_json(run)}, {"unwritten", keeper.fault}, {"numbers", ""}, {"told", ""}};
  if (numbers.trajectory) answer["numbers"] = numbers.trajectory->computed();
  if (damaged) answer["told"] = fmt::format("{} is not whole; its numbers are computed again", states.from);
  try {
    if (!runs.empty()) write_recordings(options.out, runs, run.record, options.recordings);
    keep_state(states, last_state, plan, run.record);
  } catch (const base::EnvironmentError& fault) {
    answer["unwritten"] = fault.what();
  }
  return outputs::compact(answer);
}

}  // namespace simgrad::experiment
