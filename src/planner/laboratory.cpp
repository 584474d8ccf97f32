#include "planner/laboratory.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "experiment/run/children.h"
#include "experiment/run/runner.h"
#include "experiment/run/trials.h"
#include "outputs/results.h"

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
    : file_(out + "/simulations.jsonl"), jobs_(jobs), threads_(threads) {
  end_ = std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(real_s));
  if (!again) read();
  log_.open(file_, again ? std::ios::trunc : std::ios::app);
  if (!log_) throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", file_, std::strerror(errno)));
}

void Laboratory::read() {
  std::error_code missing;
  if (!std::filesystem::exists(file_, missing)) return;
  const std::string text = outputs::read_file(file_);
  std::size_t whole = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    if (end == std::string::npos) break;
    const ordered_json line = ordered_json::parse(text.begin() + static_cast<std::ptrdiff_t>(from),
                                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    try {
      if (!line.is_discarded()) outcomes_[line.at("id")] = outcome_from_json(line.at("outcome"));
    } catch (const ordered_json::exception&) {
      // a line of something else: its simulation is done again
    }
    from = whole = end + 1;
  }
  if (whole < text.size()) std::filesystem::resize_file(file_, whole, missing);
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
    effort_.worker_steps += static_cast<double>(outcome.steps * outcome.workers);
    effort_.real_s += outcome.real_s;
  }
  return &outcome;
}

void Laboratory::add(const RunPlan& run, Outcome outcome) {
  const std::string key = key_of(run);
  log_ << ordered_json{{"id", key}, {"outcome", to_json(outcome)}}.dump() << '\n' << std::flush;
  if (!log_) throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", file_, std::strerror(errno)));
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
