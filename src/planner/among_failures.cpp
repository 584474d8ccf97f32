#include "planner/among_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "capacity/workload.h"
#include "outputs/text/number_text.h"
#include "planner/rates.h"

namespace simgrad::planner {

namespace {

/// Work between two checkpoints.
double interval_s(const Reliability& reliability, double step_s, const capacity::CheckpointTimes& checkpoint) {
  if (reliability.every_steps > 0.0) return reliability.every_steps * step_s;
  const std::optional<double> mtbf_s = reliability.fails() ? std::optional(reliability.mtbf_s()) : std::nullopt;
  return capacity::interval_of_rule_s(reliability.rule, mtbf_s, checkpoint, step_s);
}

Interrupted expected(const Reliability& reliability, double work_s, double step_s, capacity::CheckpointTimes checkpoint,
                     int spares, double correction) {
  const double written_s = interval_s(reliability, step_s, checkpoint);
  const double read_s = reliability.reads_checkpoint ? std::max(checkpoint.held_up_s, checkpoint.write_s) : 0.0;
  if (reliability.from_memory) {  // each step is safe, and takes its share of a checkpoint
    checkpoint = {.held_up_s = checkpoint.held_up_s * step_s / written_s};
  }
  Interrupted all{.spares = spares,
                  .interval_s = written_s,
                  .work = {.work_s = work_s,
                           .interval_s = reliability.from_memory ? step_s : written_s,
                           .checkpoint_s = checkpoint.held_up_s,
                           .write_s = checkpoint.write_s},
                  .failures = capacity::failures_of_job(reliability.life, reliability.servers, spares,
                                                        reliability.detection_s, reliability.restart_s + read_s)};
  capacity::JobFailures without_waits = all.failures;
  without_waits.enough = 1.0;
  all.with_servers_s = capacity::expected_time_s(all.work, without_waits);
  all.formula_s = capacity::expected_time_s(all.work, all.failures);
  if (!reliability.settled(work_s)) {
    const double waits_s = all.with_servers_s / all.failures.mtbf_s * all.failures.no_spare * all.failures.repair_s;
    all.formula_s = std::min(all.formula_s, all.with_servers_s + waits_s);
  }
  all.time_s = all.formula_s * correction;
  return all;
}

/// The hosts of a training with so many spares of [capacity].
std::vector<record::HostUse> rented_hosts(const Reliability& reliability, int spares) {
  std::vector<record::HostUse> rented = reliability.rented;
  for (int k = 0; k < spares && !reliability.spare.empty(); ++k)
    for (record::HostUse host : reliability.spare) {
      host.host_number += k * (reliability.spare.back().host_number - reliability.spare.front().host_number + 1);
      rented.push_back(std::move(host));
    }
  return rented;
}

/// The measures of a training that takes so long among failures. All that the timed hosts take goes with time; the
/// others are paid and draw their idle power for all of it. Hosts on spot are not paid while they are away.
Measures measures_of(const Reliability& reliability, const Measures& undisturbed, int spares, double T) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const outputs::Prices& prices = reliability.settings->prices;
  std::vector<record::HostUse> rented = rented_hosts(reliability, spares);
  const Rates more = rates_of(rented, prices), timed = rates_of(reliability.timed, prices);
  Measures all{.time_s = T};
  if (!std::isfinite(T)) {
    if (undisturbed.usd || more.usd_per_s) all.usd = never;
    if (undisturbed.energy_j) all.energy_j = never;
    return all;
  }
  std::erase_if(rented, [](const record::HostUse& host) { return !host.spot; });
  const double away = rates_of(rented, prices).usd_per_s.value_or(0.0) * reliability.life.down_share();
  const double part = T / undisturbed.time_s;
  if (!undisturbed.usd && more.usd_per_s)  // hosts that have a price on the spot market alone
    all.usd = (*more.usd_per_s - away) * T;
  else if (undisturbed.usd)
    all.usd = *undisturbed.usd * part + (more.usd_per_s.value_or(0.0) - away - timed.usd_per_s.value_or(0.0)) * T;
  if (undisturbed.energy_j)
    all.energy_j = *undisturbed.energy_j * part + (more.idle_w.value_or(0.0) - timed.idle_w.value_or(0.0)) * T;
  return all;
}

}  // namespace

std::vector<WithFailures> with_failures(const Reliability& reliability, const Measures& undisturbed, double step_s,
                                        const capacity::CheckpointTimes& checkpoint,
                                        const std::function<double(int spares)>& correction) {
  std::vector<WithFailures> all;
  for (const int spares : reliability.spares) {
    const Interrupted course =
        expected(reliability, undisturbed.time_s, step_s, checkpoint, spares, correction(spares));
    all.push_back({.measures = measures_of(reliability, undisturbed, spares, course.time_s), .interrupted = course});
  }
  return all;
}

const WithFailures& preferred(const std::vector<WithFailures>& all, const experiment::Goal& goal) {
  const auto rank = [&](const WithFailures& each) { return rank_of(goal, each.measures); };
  const Rank best = rank(*std::ranges::min_element(all, {}, rank));
  return *std::ranges::find_if(all, [&](const WithFailures& each) {
    const Rank of_each = rank(each);
    return of_each.violation <= best.violation && !(of_each.value > best.value * (1.0 + as_good));
  });
}

Measures least_with_failures(const Reliability& reliability, const Measures& undisturbed) {
  const double work_s = undisturbed.time_s;
  return measures_of(reliability, undisturbed, reliability.spares.front(), work_s / reliability.goodput_most(work_s));
}

std::string why_hopeless(const Reliability& reliability, const Interrupted& course) {
  const capacity::JobFailures& failures = course.failures;
  const std::string mtbf = outputs::duration(reliability.mtbf_s());
  if (course.with_servers_s / course.formula_s < course.work.work_s / course.with_servers_s)
    return fmt::format(
        "hardly progresses: with a failure every {}, repairs of {} and {} spare servers it waits for servers for more "
        "than 99.9 % of "
        "its time; more spares or shorter repairs help",
        mtbf, outputs::duration(failures.repair_s), course.spares);
  const double detection_s =
      failures.detection_s - failures.no_spare * std::min(failures.detection_s, failures.repair_s);
  return fmt::format(
      "hardly progresses: with a failure every {} and a restart of {} less than a thousandth of its time is useful "
      "work{}",
      mtbf, outputs::duration(detection_s + failures.restart_s),
      std::isinf(course.interval_s) ? ", for it writes no checkpoints" : "");
}

}  // namespace simgrad::planner
