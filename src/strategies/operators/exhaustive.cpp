#include "strategies/operators/exhaustive.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/errors.h"
#include "strategies/operators/placements.h"
#include "strategies/operators/twins.h"

namespace simgrad::strategies {

namespace {

class ExhaustiveSearch {
 public:
  explicit ExhaustiveSearch(const PlacementProblem& problem)
      : problem_(problem),
        count_(problem.operators.size()),
        device_(count_, -1),
        end_(count_, 0.0),
        order_(problem.devices.memory_bytes.size()),
        free_(order_.size(), 0.0),
        updates_(order_.size(), 0.0),
        room_(problem.devices.memory_bytes),
        least_(count_, 0.0),
        way_(count_, 0.0),
        twins_(twins_of(problem)) {
    for (std::size_t op = count_; op-- > 0;) {
      const OperatorCost& cost = problem.operators[op];
      least_[op] = *std::ranges::min_element(cost.seconds);
      way_[op] += least_[op];
      for (const OperatorCost::Input& input : cost.inputs) way_[input.from] = std::max(way_[input.from], way_[op]);
      left_s_ += least_[op];
    }
  }

  /// Begins with the best of what is known.
  void know(PlacedSchedule placement) {
    if (best_ && placement.makespan_s >= best_->makespan_s) return;
    best_ = std::move(placement);
  }
  PlacedSchedule run() {
    extend(0, {-1.0, 0});
    if (!best_)
      throw base::ScenarioError(
          "placement = \"exhaustive\" finds no devices that hold all operators; take "
          "larger devices, or set training.memory = \"ignore\"");
    best_->proven = looked_at_ <= most_schedules;
    return *std::move(best_);
  }

 private:
  using Start = std::pair<double, std::size_t>;  ///< of an operator; schedules are made in this order

  double best_s() const { return best_ ? best_->makespan_s : std::numeric_limits<double>::infinity(); }

  /// No complete schedule that begins so ends earlier.
  double bound(double last_start_s) const {
    double longest = 0.0, busy = left_s_;
    for (std::size_t op = 0; op < count_; ++op) {
      if (device_[op] >= 0) continue;
      double from = last_start_s;
      for (const OperatorCost::Input& input : problem_.operators[op].inputs)
        if (device_[input.from] >= 0) from = std::max(from, end_[input.from]);
      longest = std::max(longest, from + way_[op]);
    }
    for (std::size_t d = 0; d < free_.size(); ++d) {
      longest = std::max(longest, free_[d] + updates_[d]);
      busy += free_[d] + updates_[d];
    }
    return std::max(longest, busy / static_cast<double>(free_.size()));
  }

  void extend(std::size_t placed, Start last) {
    if (++looked_at_ > most_schedules || bound(std::max(last.first, 0.0)) >= best_s()) return;
    if (placed == count_) return know(timed(problem_, device_, order_));
    for (std::size_t op = 0; op < count_; ++op) {
      const OperatorCost& cost = problem_.operators[op];
      const bool ready = device_[op] < 0 && (!cost.with || device_[*cost.with] >= 0) &&
                         std::ranges::all_of(cost.inputs, [&](const auto& input) { return device_[input.from] >= 0; });
      if (!ready) continue;
      for (std::size_t d = 0; d < order_.size(); ++d)
        if (may_have(op, d)) put(op, d, placed, last);
    }
  }
  bool may_have(std::size_t op, std::size_t d) const {
    const OperatorCost& cost = problem_.operators[op];
    if (cost.with) return std::cmp_equal(device_[*cost.with], d);
    const auto unused = [&](std::size_t device) { return order_[device].empty(); };
    return cost.memory_bytes <= room_[d] && !(unused(d) && std::ranges::any_of(twins_[d], unused));
  }

  void put(std::size_t op, std::size_t d, std::size_t placed, Start last) {
    const OperatorCost& cost = problem_.operators[op];
    double start = free_[d];
    for (const OperatorCost::Input& input : cost.inputs)
      start = std::max(
          start, end_[input.from] + problem_.devices.message_s(device_[input.from], static_cast<int>(d), input.bytes));
    if (Start(start, op) < last) return;
    const double free_before = free_[d], updates_before = updates_[d], left_before = left_s_, room_before = room_[d];
    device_[op] = static_cast<int>(d);
    free_[d] = end_[op] = start + cost.seconds[d];
    if (!cost.update_s.empty()) updates_[d] += cost.update_s[d];
    if (!cost.with) room_[d] -= cost.memory_bytes;
    left_s_ -= least_[op];
    order_[d].push_back(op);
    extend(placed + 1, {start, op});
    order_[d].pop_back();
    device_[op] = -1;
    free_[d] = free_before;
    updates_[d] = updates_before;
    left_s_ = left_before;
    room_[d] = room_before;
  }

  const PlacementProblem& problem_;
  std::size_t count_;
  std::vector<int> device_;  ///< -1: not placed
  std::vector<double> end_;
  std::vector<std::vector<std::size_t>> order_;
  std::vector<double> free_, updates_, room_;  ///< by device
  std::vector<double> least_;                  ///< seconds on the fastest device
  std::vector<double> way_;  ///< of the longest way to the end on the fastest devices, without messages
  double left_s_ = 0.0;      ///< of operators that are not placed, on the fastest devices
  std::vector<std::vector<std::size_t>> twins_;
  std::optional<PlacedSchedule> best_;
  std::int64_t looked_at_ = 0;
};

}  // namespace

PlacedSchedule exhaustive(const PlacementProblem& problem) {
  ExhaustiveSearch search(problem);
  for (PlacedSchedule (*known)(const PlacementProblem&) : {greedy, heft}) {
    try {
      search.know(known(problem));
    } catch (const base::ScenarioError&) {  // it has no room, where another one may have
    }
  }
  return search.run();
}

}  // namespace simgrad::strategies
