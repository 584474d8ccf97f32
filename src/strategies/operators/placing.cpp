#include "strategies/operators/placing.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"

namespace simgrad::strategies {

double Devices::message_s(int from, int to, double bytes) const {
  if (from == to) return 0.0;
  const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
  return latency_s[a][b] + bytes / bytes_per_s[a][b];
}

namespace {

/// When a device has all that an operator reads.
double arrival_s(const PlacementProblem& problem, std::size_t op, int on, const std::vector<int>& device,
                 const std::vector<double>& end_s) {
  double last = 0.0;
  for (const OperatorCost::Input& input : problem.operators[op].inputs)
    last = std::max(last, end_s[input.from] + problem.devices.message_s(device[input.from], on, input.bytes));
  return last;
}

}  // namespace

PlacedSchedule timed(const PlacementProblem& problem, std::vector<int> device,
                     std::vector<std::vector<std::size_t>> order) {
  const std::size_t count = problem.operators.size();
  PlacedSchedule placement{.device = std::move(device), .order = std::move(order), .start_s = {}, .end_s = {}};
  placement.start_s.assign(count, 0.0);
  placement.end_s.assign(count, 0.0);
  std::vector<bool> done(count, false);
  std::vector<std::size_t> next(placement.order.size(), 0);
  std::vector<double> free_s(placement.order.size(), 0.0);
  for (std::size_t left = count; left > 0;) {
    const std::size_t before = left;
    for (std::size_t d = 0; d < placement.order.size(); ++d) {
      for (; next[d] < placement.order[d].size(); ++next[d], --left) {
        const std::size_t op = placement.order[d][next[d]];
        const OperatorCost& cost = problem.operators[op];
        if (!std::ranges::all_of(cost.inputs, [&](const auto& input) { return done[input.from]; })) break;
        placement.start_s[op] =
            std::max(free_s[d], arrival_s(problem, op, static_cast<int>(d), placement.device, placement.end_s));
        free_s[d] = placement.end_s[op] = placement.start_s[op] + cost.seconds[d];
        done[op] = true;
      }
    }
    base::check(left < before, "the orders of the devices follow the inputs");
  }
  for (std::size_t d = 0; d < free_s.size(); ++d) {
    for (const std::size_t op : placement.order[d])
      if (!problem.operators[op].update_s.empty()) free_s[d] += problem.operators[op].update_s[d];
    placement.makespan_s = std::max(placement.makespan_s, free_s[d]);
  }
  return placement;
}

ListSchedule::ListSchedule(const PlacementProblem& problem)
    : problem_(problem),
      device_(problem.operators.size(), -1),
      order_(problem.devices.memory_bytes.size()),
      start_(problem.operators.size(), 0.0),
      end_(problem.operators.size(), 0.0),
      room_(problem.devices.memory_bytes) {}

bool ListSchedule::ready(std::size_t op) const {
  const OperatorCost& cost = problem_.operators[op];
  return std::ranges::all_of(cost.inputs, [&](const auto& input) { return placed(input.from); }) &&
         (!cost.with || placed(*cost.with));
}

double ListSchedule::inputs_end_s(std::size_t op) const {
  double last = 0.0;
  for (const OperatorCost::Input& input : problem_.operators[op].inputs) last = std::max(last, end_[input.from]);
  return last;
}

double ListSchedule::start_s(std::size_t op, int device, bool insertion) const {
  const std::vector<std::size_t>& before = order_[static_cast<std::size_t>(device)];
  const double ready_s = arrival_s(problem_, op, device, device_, end_);
  if (!insertion) return std::max(ready_s, before.empty() ? 0.0 : end_[before.back()]);
  const double seconds = problem_.operators[op].seconds[static_cast<std::size_t>(device)];
  double free_s = 0.0;
  for (const std::size_t other : before) {
    if (std::max(ready_s, free_s) + seconds <= start_[other]) break;
    free_s = end_[other];
  }
  return std::max(ready_s, free_s);
}

std::vector<int> ListSchedule::devices_for(std::size_t op) const {
  const OperatorCost& cost = problem_.operators[op];
  if (cost.with) return {device_[*cost.with]};
  std::vector<int> all;
  for (int d = 0; d < problem_.devices.count(); ++d)
    if (cost.memory_bytes <= room(d)) all.push_back(d);
  return all;
}

void ListSchedule::place(std::size_t op, int device, bool insertion) {
  const auto d = static_cast<std::size_t>(device);
  const OperatorCost& cost = problem_.operators[op];
  const double start = start_s(op, device, insertion);
  device_[op] = device;
  start_[op] = start;
  end_[op] = start + cost.seconds[d];
  if (!cost.with) room_[d] -= cost.memory_bytes;
  // An operator of no time comes before one that starts at the same moment, but behind others of no time: they may be
  // its inputs.
  const auto behind = std::ranges::find_if(order_[d], [&](std::size_t other) {
    return start_[other] > start || (start_[other] == start && end_[op] <= start && end_[other] > start);
  });
  order_[d].insert(behind, op);
}

}  // namespace simgrad::strategies
