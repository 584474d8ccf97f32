#include "planner/variants.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

#include "experiment/plan/identity.h"
#include "experiment/plan/numbers_key.h"
#include "experiment/plan/proxy.h"
#include "experiment/plan/read_settings.h"

namespace simgrad::planner {

using experiment::RunPlan;
using experiment::Settings;
using scenario::Document;

namespace {

/// The run of a changed document; nothing if the scenario refuses it.
std::optional<RunPlan> planned(const Candidate& candidate, const Document& document, std::uint64_t seed) {
  scenario::Faults faults;
  auto settings = std::make_shared<Settings>(
      experiment::read_settings(document, faults, {candidate.settings->strategies[candidate.strategy].name()}));
  if (!faults.empty()) return {};
  settings->nominal_flops_per_s = candidate.settings->nominal_flops_per_s;
  settings->platform_contents = candidate.settings->platform_contents;
  settings->failure_contents = candidate.settings->failure_contents;
  settings->measured_contents = candidate.settings->measured_contents;
  settings->trace_contents = candidate.settings->trace_contents;
  if (settings->training.numbers) settings->data_contents = candidate.settings->data_contents;
  RunPlan run = experiment::plan_run(settings, candidate.strategy, candidate.parameters, seed);
  if (settings->training.numbers || !settings->model.proxied()) return run;
  const auto rows = experiment::known_rows(*settings);
  if (!rows) return {};
  return experiment::timed_plan(run, *rows, {});
}

Document changed(const Candidate& candidate, const std::vector<std::string>& sets) {
  Document document = candidate.document;
  document.erase("plan");
  for (const std::string& set : sets) document.set(set);
  if (!candidate.undisturbed) return document;
  for (const char* key :
       {"capacity", "cluster.failures", "training.checkpoint_every", "training.checkpoint_every_steps",
        "training.checkpoint_async", "cluster.host_memory_bandwidth"})
    document.erase(key);
  if (candidate.settings->cluster.failures.recovery == cluster::Recovery::wait)  // options may ask for it
    document.set("cluster.failures.recovery=\"wait\"");
  return document;
}

/// Options that decide about numbers and not about times.
constexpr std::array of_numbers_alone{"training.learning_rate",
                                      "training.learning_rate_scaling",
                                      "training.schedule",
                                      "training.warmup_steps",
                                      "evaluate",
                                      "stop"};

}  // namespace

std::int64_t period_of(const Candidate& candidate) {
  for (const char* key : {"local_steps", "period"})
    if (const auto& options = candidate.run.options; options.contains(key) && options.at(key).is_number_integer())
      return std::max<std::int64_t>(1, options.at(key).get<std::int64_t>());
  return 1;
}

namespace {

/// last: set behind all others.
std::optional<RunPlan> timed(const Candidate& candidate, double samples, std::uint64_t seed,
                             const std::vector<std::string>& sets, const std::string& last) {
  const Settings& settings = *candidate.settings;
  const bool follows = settings.training.numbers && experiment::times_follow_numbers(candidate.run);
  if (settings.model.model->takes_sparse_rows() || follows) return {};
  Document document = changed(candidate, sets);
  for (const char* key : of_numbers_alone) document.erase(key);
  document.set("training.numbers=false");
  document.set(fmt::format("stop.samples={}", std::llround(samples)));
  document.set("evaluate.every_steps=1");
  if (!last.empty()) document.set(last);
  if (!settings.data.source->generates() && settings.training.numbers) return {};  // the shape of a file's data
  return planned(candidate, document, seed);
}

}  // namespace

std::optional<RunPlan> timing_run(const Candidate& candidate, double samples, std::uint64_t seed,
                                  const std::vector<std::string>& sets) {
  return timed(candidate, samples, seed, sets, "");
}

std::optional<RunPlan> checkpointed_run(const Candidate& candidate, std::uint64_t seed,
                                        const std::vector<std::string>& sets) {
  return timed(candidate, 2.0 * static_cast<double>(candidate.batch), seed, sets, "training.checkpoint_every_steps=1");
}

std::shared_ptr<const Settings> changed_settings(const Candidate& candidate, const std::vector<std::string>& sets) {
  if (sets.empty()) return candidate.settings;
  Document document = candidate.document;
  for (const std::string& set : sets) document.set(set);
  scenario::Faults faults;
  auto settings = std::make_shared<const Settings>(
      experiment::read_settings(document, faults, {candidate.settings->strategies[candidate.strategy].name()}));
  return faults.empty() ? settings : candidate.settings;
}

std::optional<RunPlan> learning_run(const Candidate& candidate, double samples, std::uint64_t seed,
                                    const std::vector<std::string>& sets) {
  Document document = changed(candidate, sets);
  if (!candidate.numbers_key.empty()) document.erase("stop.time");
  const auto cap = candidate.settings->stop.samples;
  // Replicas that are averaged once would be averaged at the end of a shorter training, too.
  const auto workers = static_cast<int>(candidate.settings->cluster.workers);
  const auto rounds = candidate.settings->strategies[candidate.strategy].strategy->traits(workers).rounds;
  if (rounds && !rounds->steps) return planned(candidate, document, seed);
  if (samples > 0.0 && (!cap || samples < static_cast<double>(*cap)))
    document.set(fmt::format("stop.samples={}", std::llround(samples)));
  return planned(candidate, document, seed);
}

std::optional<RunPlan> glimpse(const Candidate& candidate, std::uint64_t seed, const std::vector<std::string>& sets) {
  constexpr double batches = 6.0;
  Document document = changed(candidate, sets);
  for (const char* key : {"stop", "evaluate.every_s"}) document.erase(key);
  const bool lockstep = candidate.run.strategy->traits(static_cast<int>(candidate.run.workers)).lockstep();
  document.set(fmt::format("evaluate.every_steps={}", lockstep ? 1 : candidate.run.workers));
  document.set(fmt::format("stop.samples={}", std::llround(batches * static_cast<double>(candidate.batch))));
  return planned(candidate, document, seed);
}

std::optional<RunPlan> confirming_run(const Candidate& candidate) {
  constexpr double steps = 8.0;
  const double period = static_cast<double>(period_of(candidate));
  const double most = std::max(steps, 2.0 * period) * static_cast<double>(candidate.batch);
  Document document = changed(candidate, {});
  document.erase("stop");
  document.set(fmt::format("stop.samples={}", std::llround(std::min(candidate.samples, most))));
  return planned(candidate, document, static_cast<std::uint64_t>(candidate.settings->seed));
}

bool random_times(const Candidate& candidate) {
  const auto& cluster = candidate.settings->cluster;
  return cluster.stragglers.kind() != "none" || cluster.jitter.kind() != "none" ||
         (cluster.failures.any() && !candidate.undisturbed);
}

}  // namespace simgrad::planner
