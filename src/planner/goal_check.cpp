#include "planner/goal_check.h"

#include "experiment/plan/places.h"
#include "planner/rates.h"

namespace simgrad::planner {

using experiment::Settings;
using scenario::Faults;

void check_goal(const experiment::SearchSpace& space, Faults& faults) {
  const Settings& settings = *space.reads.front().settings;
  const experiment::Goal& goal = settings.goal;
  const auto place = [&](const char* key) { return experiment::place(space.document, key); };
  const bool amount = goal.tokens || goal.samples;
  if (settings.stop.loss && amount)
    return faults.add(place(goal.tokens ? "plan.tokens" : "plan.samples"),
                      "[plan] says how long to train, and stop.loss says until which loss; leave one of them out");
  const bool in_stop = settings.stop.epochs || settings.stop.samples || settings.stop.tokens;
  if (!settings.stop.loss && !amount && !in_stop)
    faults.add(place("plan"),
               "a plan needs a goal, and there is neither a target loss nor a number of tokens; expected stop.loss, "
               "plan.tokens or plan.samples");
}

void check_prices_of(const Candidate& candidate, const scenario::Document& document, Faults& faults) {
  if (candidate.hosts.empty()) return;  // a platform's file has prices of its own
  const experiment::Goal& goal = candidate.settings->goal;
  const Rates rates = rates_of(candidate);
  const bool dollars = goal.objective->needs_dollars();
  if (!rates.usd_per_s && (dollars || goal.budget))
    faults.add(
        experiment::place(document, dollars ? "plan.objective" : "plan.budget"),
        std::string(dollars ? "the objective is about money" : "the budget is about money") +
            ", but nothing says what a host costs; expected prices.worker, device or host, or a price of its class");
  const bool energy = goal.objective->needs_energy();
  if (!rates.idle_w && (energy || goal.power_w))
    faults.add(experiment::place(document, energy ? "plan.objective" : "plan.power"),
               std::string(energy ? "the objective is about energy" : "the limit is about power") +
                   ", but nothing says what power a host draws; expected prices.idle and prices.busy");
}

std::optional<double> samples_of(const Settings& settings, double tokens_a_sample, std::int64_t rows) {
  if (settings.stop.loss) return {};
  if (settings.goal.samples) return static_cast<double>(*settings.goal.samples);
  const std::optional<double> tokens = settings.goal.tokens ? settings.goal.tokens : settings.stop.tokens;
  if (tokens) return tokens_a_sample > 0.0 ? std::optional(*tokens / tokens_a_sample) : std::nullopt;
  if (settings.stop.samples) return static_cast<double>(*settings.stop.samples);
  return settings.stop.epochs.value_or(0.0) * static_cast<double>(rows);
}

}  // namespace simgrad::planner
