#include "strategies/operators/placements.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/errors.h"
#include "base/units.h"
#include "strategies/parallel/stages.h"

namespace simgrad::strategies {

namespace {

/// Ends the search for a device.  on: the one that it is given to; nothing: any with room would do.
[[noreturn]] void refuse_full(const PlacementProblem& problem, const ListSchedule& schedule, std::size_t op,
                              std::string_view placement, std::optional<int> on = {}) {
  double most = 0.0;
  for (int d = 0; d < problem.devices.count(); ++d) most = std::max(most, schedule.room(d));
  const auto text = [](double bytes) { return base::format_quantity(bytes, base::Unit::bytes); };
  const double room = on ? schedule.room(*on) : most;
  const std::string device = on ? fmt::format("device {}", *on) : "the device with most room";
  throw base::ScenarioError(fmt::format(
      "placement = \"{}\" finds no room for operator {}: it needs {}, and {} has {} left; take another placement or "
      "larger devices, or set training.memory = \"ignore\"",
      placement, problem.operators[op].name, text(problem.operators[op].memory_bytes), device, text(room)));
}

/// The device that ends the operator first.
int fastest(const PlacementProblem& problem, const ListSchedule& schedule, std::size_t op, bool insertion,
            std::string_view placement) {
  const std::vector<int> devices = schedule.devices_for(op);
  if (devices.empty()) refuse_full(problem, schedule, op, placement);
  return *std::ranges::min_element(devices, {}, [&](int d) { return schedule.end_s(op, d, insertion); });
}

/// Places all operators: always the one of those that are ready whose value is least.
PlacedSchedule placed_by(const PlacementProblem& problem,
                         const std::function<double(const ListSchedule& schedule, std::size_t op)>& value,
                         const std::function<int(const ListSchedule& schedule, std::size_t op)>& device,
                         bool insertion = false) {
  ListSchedule schedule(problem);
  std::vector<std::size_t> waiting(problem.operators.size());
  std::iota(waiting.begin(), waiting.end(), 0U);
  while (!waiting.empty()) {
    auto next = waiting.end();
    double least = 0.0;
    for (auto it = waiting.begin(); it != waiting.end(); ++it) {
      if (!schedule.ready(*it)) continue;
      const double op_value = value(schedule, *it);
      if (next != waiting.end() && op_value >= least) continue;
      least = op_value;
      next = it;
    }
    schedule.place(*next, device(schedule, *next), insertion);
    waiting.erase(next);
  }
  return schedule.placement();
}

/// The numbers of the operators without `with`.
std::vector<std::size_t> leaders(const PlacementProblem& problem) {
  std::vector<std::size_t> all;
  for (std::size_t op = 0; op < problem.operators.size(); ++op)
    if (!problem.operators[op].with) all.push_back(op);
  return all;
}

PlacedSchedule on_given(const PlacementProblem& problem, const std::vector<int>& devices, std::string_view placement) {
  std::vector<int> of(problem.operators.size(), 0);
  const std::vector<std::size_t> first = leaders(problem);
  base::check(first.size() == devices.size(), "every operator has a device");
  for (std::size_t i = 0; i < first.size(); ++i) of[first[i]] = devices[i];
  for (std::size_t op = 0; op < of.size(); ++op)
    if (const auto with = problem.operators[op].with) of[op] = of[*with];
  return placed_by(
      problem, [&](const ListSchedule& schedule, std::size_t op) { return schedule.start_s(op, of[op]); },
      [&](const ListSchedule& schedule, std::size_t op) {
        if (!problem.operators[op].with && problem.operators[op].memory_bytes > schedule.room(of[op]))
          refuse_full(problem, schedule, op, placement, of[op]);
        return of[op];
      });
}

}  // namespace

PlacedSchedule greedy(const PlacementProblem& problem) {
  return placed_by(
      problem, [](const ListSchedule& schedule, std::size_t op) { return schedule.inputs_end_s(op); },
      [&](const ListSchedule& schedule, std::size_t op) { return fastest(problem, schedule, op, false, "greedy"); });
}

std::vector<double> upward_ranks(const PlacementProblem& problem) {
  const int P = problem.devices.count();
  const auto mean_message_s = [&](double bytes) {
    double sum = 0.0;
    for (int from = 0; from < P; ++from)
      for (int to = 0; to < P; ++to) sum += problem.devices.message_s(from, to, bytes);
    return P > 1 ? sum / (static_cast<double>(P) * (P - 1)) : 0.0;
  };
  const std::size_t count = problem.operators.size();
  std::vector<double> behind(count, 0.0), ranks(count, 0.0);
  for (std::size_t op = count; op-- > 0;) {
    const OperatorCost& cost = problem.operators[op];
    ranks[op] = std::accumulate(cost.seconds.begin(), cost.seconds.end(), 0.0) / P + behind[op];
    for (const OperatorCost::Input& input : cost.inputs) {
      const bool together = cost.with == input.from || (cost.with && cost.with == problem.operators[input.from].with);
      behind[input.from] = std::max(behind[input.from], (together ? 0.0 : mean_message_s(input.bytes)) + ranks[op]);
    }
  }
  return ranks;
}

PlacedSchedule heft(const PlacementProblem& problem) {
  const std::vector<double> ranks = upward_ranks(problem);
  return placed_by(
      problem, [&](const ListSchedule&, std::size_t op) { return -ranks[op]; },
      [&](const ListSchedule& schedule, std::size_t op) { return fastest(problem, schedule, op, true, "heft"); }, true);
}

PlacedSchedule balanced(const PlacementProblem& problem) {
  std::vector<double> flops;
  for (const std::size_t op : leaders(problem)) flops.push_back(problem.operators[op].flops);
  const auto stages = std::min<std::int64_t>(problem.devices.count(), std::ssize(flops));
  const std::vector<std::int64_t> firsts = balanced(flops, stages);
  std::vector<int> devices;
  for (int stage = 0; stage < stages; ++stage)
    devices.resize(static_cast<std::size_t>(firsts[static_cast<std::size_t>(stage) + 1]), stage);
  return on_given(problem, devices, "balanced");
}

PlacedSchedule by_hand(const PlacementProblem& problem, const std::vector<int>& devices) {
  return on_given(problem, devices, "by_hand");
}

}  // namespace simgrad::strategies
