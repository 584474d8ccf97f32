#include "planner/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "experiment/plan/identity.h"
#include "planner/variants.h"

namespace simgrad::planner {

using experiment::Plan;

Plan without_runs(const experiment::SearchSpace& space) {
  Plan plan;
  plan.name = space.name;
  plan.title = space.title;
  plan.scenario = experiment::resolved(space);
  plan.document = std::make_shared<const scenario::Document>(space.document);
  return plan;
}

namespace {

std::vector<std::size_t> confirmed(const Answer& answer) {
  std::vector<std::size_t> all;
  const auto add = [&](std::size_t candidate) {
    if (all.size() < confirmed_most && std::ranges::find(all, candidate) == all.end()) all.push_back(candidate);
  };
  if (answer.winner) add(answer.winner->candidate);
  if (answer.runner_up) add(answer.runner_up->candidate);
  for (const Tie& tie : answer.ties) add(tie.choice.candidate);
  for (const Choice& each : answer.known) add(each.candidate);
  return all;
}

}  // namespace

void add_confirmed(Plan& plan, const Answer& answer) {
  std::set<std::string> baselines;
  for (const std::size_t c : confirmed(answer)) {
    const Candidate& candidate = answer.candidates.all[c];
    const bool amount = candidate.samples > 0.0;
    const auto timed = amount ? confirming_run(candidate) : std::nullopt;
    if (amount && !timed) continue;
    const std::shared_ptr<const experiment::Settings>& settings = amount ? timed->settings : candidate.settings;
    experiment::PointPlanner planner(settings, candidate.parameters);
    for (std::size_t s = 0; s < answer.winner->seeds; ++s) {
      const std::uint64_t seed = static_cast<std::uint64_t>(settings->seed) + s;
      experiment::RunPlan run = planner.run(candidate.strategy, seed);
      experiment::RunPlan baseline = planner.baseline(candidate.strategy, seed);
      run.baseline = baseline.id;
      baseline.parameters = run.parameters;
      if (baselines.insert(baseline.id).second) plan.baselines.push_back(std::move(baseline));
      plan.runs.push_back(std::move(run));
    }
  }
}

namespace {

/// Leaves out defaults that the scenario does not mention, such as the data of a model whose numbers are not computed.
void leave_out_unsaid(nlohmann::ordered_json& tree, const scenario::Document& document) {
  std::vector<std::string> unsaid;
  for (const auto& [key, value] : tree.items())
    if (!document.contains(key)) unsaid.push_back(key);
  for (const std::string& key : unsaid) tree.erase(key);
  if (!tree.contains("data")) return;
  nlohmann::ordered_json said;
  for (const auto& [key, value] : tree["data"].items())
    if (document.contains("data." + key)) said[key] = value;
  if (said.empty())
    tree.erase("data");
  else
    tree["data"] = std::move(said);
}

/// An interval of whole steps in four digits, not above it: a fleet takes the next whole number of steps from there on.
double in_four_digits(double interval_s) {
  const double unit = std::pow(10.0, std::floor(std::log10(interval_s)) - 3.0);
  return std::stod(fmt::format("{:.3e}", std::floor(interval_s / unit * (1.0 + 1e-12)) * unit));
}

/// Adds [capacity] with the winner's training on its servers and spares, for `simgrad capacity`, if the plan has taken
/// failures from there. Servers of parameters are no workers of such a training.
void add_fleet(nlohmann::ordered_json& tree, const Answer& answer, const std::string& directory) {
  const Candidate& winner = answer.candidates.all[answer.winner->candidate];
  const std::optional<Interrupted>& course = answer.standings[answer.winner->candidate].interrupted;
  const experiment::CapacitySection& capacity = winner.settings->capacity;
  if (!course || !takes_capacity(*winner.settings)) return;
  const std::int64_t servers = reliability_of(winner, winner.settings)->servers, workers = winner.run.workers;
  if (workers % servers != 0) return;
  nlohmann::ordered_json fleet = scenario::echo(capacity, directory);
  for (const char* key : {"job", "arrivals"}) fleet.erase(key);
  fleet["hosts"] = std::max<std::int64_t>(servers, course->spares);  // a fleet has no more spares
  fleet["spares"] = {course->spares};
  fleet["workers_per_host"] = workers / servers;
  fleet["training"] = {{"hosts", servers}, {"samples", winner.samples}};
  if (std::isfinite(course->interval_s))  // in place of an hour, with which a fleet of many failures may never end
    fleet["training"]["fixed"] = base::format_quantity(in_four_digits(course->interval_s), base::Unit::seconds);
  tree["capacity"] = std::move(fleet);
}

}  // namespace

nlohmann::ordered_json winner_scenario(const Answer& answer, const std::string& directory) {
  const Candidate& winner = answer.candidates.all[answer.winner->candidate];
  nlohmann::ordered_json tree = experiment::resolved_alone(*winner.settings, winner.strategy, directory);
  leave_out_unsaid(tree, winner.document);
  if (winner.samples > 0.0) {  // in whole steps, as the answer counts them
    const auto batch = static_cast<double>(winner.batch);
    tree["stop"] = {{"samples", std::llround(std::ceil(winner.samples / batch) * batch)}};
    add_fleet(tree, answer, directory);
  }
  return tree;
}

}  // namespace simgrad::planner
