#include "experiment/run/piece_of_work.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "experiment/run/best_so_far.h"
#include "experiment/run/effort.h"
#include "experiment/run/finished_runs.h"
#include "experiment/run/run_store.h"
#include "experiment/run/shared_numbers.h"
#include "experiment/run/simulate_proxy.h"
#include "experiment/saved/model_file.h"
#include "outputs/results.h"
#include "outputs/summary.h"

namespace simgrad::experiment {

namespace {

/// The most bytes of a file of a state: its numbers, and 24 bytes a tensor besides, which may have one number.
constexpr std::uintmax_t state_file_bytes_most = 5 * std::uintmax_t{state_bytes_most};

/// The state in the file; null if the file is not whole.
std::shared_ptr<const values::Contents> state_in(const std::string& file) {
  try {
    const std::string text =
        base::read_file(file, {.bytes_most = state_file_bytes_most, .contents = base::Contents::bytes});
    if (auto contents = values::contents_of(text))
      return std::make_shared<const values::Contents>(std::move(*contents));
  } catch (const base::EnvironmentError&) {
  } catch (const base::ScenarioError&) {  // more bytes than any state has
  }
  return nullptr;
}

std::string told_of_misfits(const Numbers& numbers, const RunPlan& plan) {
  if (!numbers.trajectory || !numbers.trajectory->misfits()) return {};
  return fmt::format("{}: the numbers that are kept do not fit this training; they are computed again", run_name(plan));
}

/// The answer of a run that is to be done without the state or the numbers that it was given.  told: to the user.
std::string lacking(const std::string& told = "") { return outputs::compact({{"lacking", true}, {"told", told}}); }

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
    write_model(model_file(out, stem_of(*run)), *run, data, problem_of(data), model.record, model.w);
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
  } catch (const StateMisfits&) {
    return lacking(fmt::format("{} does not fit this training; its numbers are computed again", states.from));
  }
  // A run whose state lacks tensors may fail before it lacks a number of the curve.
  const bool failed = run.record.status == record::Status::failed;
  if ((numbers.all_known || numbers.state) && (numbers.trajectory->lacking() || (numbers.state && failed)))
    return lacking(told_of_misfits(numbers, plan));
  run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  nlohmann::ordered_json answer{
      {"run", outputs::to_json(run)}, {"unwritten", keeper.fault}, {"numbers", ""}, {"told", ""}};
  if (numbers.trajectory) answer["numbers"] = numbers.trajectory->computed();
  answer["told"] = told_of_misfits(numbers, plan);
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
