#include "experiment/run/vacuity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rank_and_retry.h"
#include "outputs/fields.h"

namespace simgrad::experiment {

namespace {

using base::Purpose;

/// Returns whether a run may lack the number, or have one below 0, so that "at least 0" claims something.
bool says_something_at_zero(const std::string& metric) {
  return metric == "final_loss" || metric == "final_metric" || to_target(metric);
}

std::optional<std::string> met_by_every_number(const Expectation& e) {
  if (!e.at_least && !e.at_most) return std::nullopt;
  if (says_something_at_zero(e.metric)) return std::nullopt;
  const bool below = e.at_least && *e.at_least > 0.0;
  const bool share = (e.metric == "goodput" || e.metric == "cache_hit_rate") && !e.relative();
  const bool above = e.at_most && std::isfinite(*e.at_most) && !(share && *e.at_most >= 1.0);
  if (below || above) return std::nullopt;
  return fmt::format("no value of {} is {}", e.metric, !e.at_least ? "above the bound" : "below 0");
}

/// The runs that ask for something that may not happen.
struct Asking {
  int runs = 0;
  int without = 0;  ///< in which it did not happen
  bool none() const { return runs > 0 && without == runs; }
};

Asking of_crashes(const Runs& runs) {
  Asking asking;
  for (const outputs::Run* run : runs)
    if (run->record.crashes) ++asking.runs, asking.without += *run->record.crashes == 0 ? 1 : 0;
  return asking;
}

/// With one worker no gradient can be stale, and nobody asks for it.
Asking of_staleness(const Runs& runs) {
  Asking asking;
  for (const outputs::Run* run : runs)
    if (run->record.staleness_max && run->workers > 1)
      ++asking.runs, asking.without += *run->record.staleness_max == 0.0 ? 1 : 0;
  return asking;
}

/// Returns whether a host's speed changes before the run's end. The streams are the cluster's.
bool speed_varied(const RunPlan& plan, const record::Record& record) {
  const cluster::Stragglers& stragglers = *plan.settings->cluster.stragglers;
  const auto workers = static_cast<int>(plan.settings->cluster.workers);
  const std::vector<int> hosts = plan.strategy->hosts(workers);
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    const bool worker = rank < static_cast<int>(plan.workers);
    if (!(worker ? stragglers.concerns(rank) : stragglers.concerns_servers())) continue;
    const auto host = static_cast<std::uint32_t>(hosts[static_cast<std::size_t>(rank)]);
    const auto changes =
        stragglers.speed_changes(worker ? std::optional(rank) : std::nullopt,
                                 base::Stream({.seed = plan.seed, .purpose = Purpose::straggler, .rank = host}));
    if (!changes) continue;
    for (auto change = changes->next(); change && change->at_s < record.simulated_s; change = changes->next())
      if (change->factor != 1.0) return true;
  }
  return false;
}

/// Returns whether one of the gradients that the run may have computed is drawn longer or shorter. Under lockstep
/// without crashes they are those that it has computed. Else they are some more: a rank is taken to have made all
/// steps, in every generation of ranks, and to have given up some gradients for newer parameters. The streams are the
/// training's.
bool gradient_stretched(const RunPlan& plan, const record::Record& record) {
  constexpr std::int64_t draws_most = 1'000'000;
  const cluster::Stragglers& stragglers = *plan.settings->cluster.stragglers;
  const std::int64_t generations = 1 + record.crashes.value_or(0);
  const bool known = generations == 1 && plan.strategy->traits(static_cast<int>(plan.workers)).lockstep();
  const std::uint32_t retries = known ? 1 : 8;
  const std::int64_t steps = record.steps + (known ? 0 : plan.workers);
  std::int64_t draws = 0;
  for (int rank = 0; rank < static_cast<int>(plan.workers); ++rank) {
    if (!stragglers.concerns(rank)) continue;
    for (std::int64_t step = 0; step < steps; ++step)
      for (std::int64_t generation = 0; generation < generations; ++generation)
        for (std::uint32_t retry = 0; retry < retries; ++retry) {
          base::Stream stream({.seed = plan.seed,
                               .purpose = Purpose::straggler,
                               .step = static_cast<std::uint64_t>(step),
                               .rank = base::rank_and_retry(static_cast<std::uint32_t>(rank), retry),
                               .attempt = static_cast<std::uint16_t>(generation)});
          const cluster::Slowdown drawn = stragglers.draw(stream);
          if (drawn.factor != 1.0 || drawn.more_s != 0.0 || ++draws > draws_most) return true;
        }
  }
  return false;
}

Asking of_stragglers(const Runs& runs, const PlannedRuns& planned) {
  Asking asking;
  for (const outputs::Run* run : runs) {
    const auto found = planned.find(run->id);
    if (found == planned.end() || run->record.status == record::Status::failed) continue;
    const RunPlan& plan = *found->second;
    if (!plan.jobs.empty()) continue;
    const cluster::Stragglers& stragglers = *plan.settings->cluster.stragglers;
    if (!stragglers.disturbs()) continue;
    ++asking.runs;
    const bool happened = stragglers.varies() ? speed_varied(plan, run->record) : gradient_stretched(plan, run->record);
    if (happened) return asking;
    ++asking.without;
  }
  return asking;
}

/// A bound that leaves room above 0 for a staleness that is 0.
std::optional<std::string> nothing_stale(const Expectation& e, const Runs& runs) {
  if (!e.metric.starts_with("staleness") || !e.at_most || e.relative() || !(*e.at_most > 0.0)) return std::nullopt;
  const bool zero =
      std::ranges::all_of(runs, [&](const outputs::Run* run) { return outputs::field(*run, e.metric) == 0.0; });
  return zero ? std::optional<std::string>("no gradient was stale") : std::nullopt;
}

}  // namespace

std::optional<std::string> vacuity(const Expectation& expectation, const Runs& concerned, const PlannedRuns& planned) {
  if (auto reason = met_by_every_number(expectation)) return reason;
  if (auto reason = nothing_stale(expectation, concerned)) return reason;
  const char* runs = concerned.size() == 1 ? "the run" : "any of the runs";
  if (of_crashes(concerned).none()) return fmt::format("the scenario lets hosts fail, and no host failed in {}", runs);
  if (expectation.metric.find("staleness") == std::string::npos && of_staleness(concerned).none())
    return fmt::format("the strategy is asynchronous, and no gradient was stale in {}", runs);
  if (of_stragglers(concerned, planned).none())
    return fmt::format("the scenario has stragglers, and nothing was slowed down in {}", runs);
  return std::nullopt;
}

}  // namespace simgrad::experiment
