#include "strategies/operators/shared_links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/errors.h"
#include "cluster/fabric/max_min.h"

namespace simgrad::strategies {

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double precision_s = 1e-12;  ///< dates that are closer are one event, as in the run

/// A message under way.
struct Flow {
  std::size_t from = 0, to = 0;
  StepValue value;
  double left_bytes = 0.0, rate = 0.0;
  double begins_s = 0.0;  ///< its bytes, behind the latency
  int number = -1;        ///< among those that share links; -1: it is in its latency
  bool slowed = false, over = false;
};

class SharedRun {
 public:
  SharedRun(const StepPlan& plan, const PlacementProblem& problem)
      : plan_(plan),
        problem_(problem),
        sharing_(problem.devices.link_bytes_per_s, never),
        next_(problem.devices.memory_bytes.size(), 0),
        ends_s_(next_.size(), never),
        free_s_(next_.size(), 0.0),
        done_(problem.operators.size(), false) {
    for (std::size_t op = 0; op < done_.size(); ++op)
      for (const OperatorCost::Input& input : problem.operators[op].inputs) {
        double& bytes = bytes_[value_of(input.from, op)];  // its own backward operator reads none
        bytes = std::max(bytes, input.bytes);
      }
  }

  SharedStep run() {
    for (std::size_t left = done_.size(); left > 0;) {
      start_operators();
      const double then_s = next_event_s();
      base::check(then_s < never, "the orders of the devices follow the inputs");
      for (Flow& flow : flows_)
        if (flow.number >= 0) flow.left_bytes -= flow.rate * (then_s - now_s_);
      now_s_ = then_s;
      move_flows();
      for (std::size_t d = 0; d < ends_s_.size(); ++d) left -= end_operator(d) ? 1 : 0;
      share();
    }
    for (std::size_t d = 0; d < free_s_.size(); ++d) {
      for (const std::size_t op : plan_.order(static_cast<int>(d)))
        if (!problem_.operators[op].update_s.empty()) free_s_[d] += problem_.operators[op].update_s[d];
      step_.duration_s = std::max(step_.duration_s, free_s_[d]);
    }
    return step_;
  }

 private:
  double path_bytes_per_s(const Flow& flow) const { return problem_.devices.bytes_per_s[flow.from][flow.to]; }
  double flow_end_s(const Flow& flow) const {
    return flow.number < 0 ? flow.begins_s : now_s_ + std::max(0.0, flow.left_bytes) / flow.rate;
  }
  /// The value that an operator reads from another one.
  StepValue value_of(std::size_t from, std::size_t op) const {
    const StepOperator maker = plan_.numbers().at(from);
    return {from, maker.backward ? plan_.numbers().at(op).unit : maker.unit};
  }
  bool ready(std::size_t op, std::size_t device) const {
    return std::ranges::all_of(problem_.operators[op].inputs, [&](const OperatorCost::Input& input) {
      if (std::cmp_equal(plan_.placement().device[input.from], device)) return bool{done_[input.from]};
      return arrived_.contains({device, value_of(input.from, op)});
    });
  }
  void start_operators() {
    for (std::size_t d = 0; d < next_.size(); ++d) {
      const std::vector<std::size_t>& order = plan_.order(static_cast<int>(d));
      if (ends_s_[d] < never || next_[d] == order.size() || !ready(order[next_[d]], d)) continue;
      ends_s_[d] = now_s_ + problem_.operators[order[next_[d]]].seconds[d];
    }
  }
  double next_event_s() const {
    double first = *std::ranges::min_element(ends_s_);
    for (const Flow& flow : flows_) first = std::min(first, flow_end_s(flow));
    return first;
  }
  /// Flows that are past their latency take part in the sharing, and those that are over arrive.
  void move_flows() {
    for (Flow& flow : flows_) {
      if (flow_end_s(flow) > now_s_ + precision_s) continue;
      if (flow.number < 0) {
        flow.number = sharing_.add(problem_.devices.links[flow.from][flow.to]);
        flow.rate = path_bytes_per_s(flow);
        continue;
      }
      sharing_.remove(flow.number);
      arrived_.insert({flow.to, flow.value});
      step_.slowed += flow.slowed ? 1 : 0;
      flow.over = true;
    }
    std::erase_if(flows_, [](const Flow& flow) { return flow.over; });
  }
  bool end_operator(std::size_t device) {
    if (ends_s_[device] > now_s_) return false;
    const std::size_t op = plan_.order(static_cast<int>(device))[next_[device]++];
    free_s_[device] = now_s_;
    ends_s_[device] = never;
    done_[op] = true;
    for (const auto& [to, value] : plan_.sent_by(op)) send(device, static_cast<std::size_t>(to), value);
    return true;
  }
  void send(std::size_t from, std::size_t to, const StepValue& value) {
    ++step_.messages;
    flows_.push_back({.from = from,
                      .to = to,
                      .value = value,
                      .left_bytes = bytes_.at(value),
                      .begins_s = now_s_ + problem_.devices.latency_s[from][to]});
  }
  void share() {
    sharing_.share([&](int number, double rate) {
      const auto flow = std::ranges::find(flows_, number, &Flow::number);
      flow->rate = std::min(rate, path_bytes_per_s(*flow));
      flow->slowed = flow->slowed || flow->rate < path_bytes_per_s(*flow) * (1.0 - 1e-9);
    });
  }

  const StepPlan& plan_;
  const PlacementProblem& problem_;
  cluster::MaxMinSharing sharing_;
  double now_s_ = 0.0;
  std::vector<std::size_t> next_;        ///< by device: the place of the operator that it does, or waits for
  std::vector<double> ends_s_, free_s_;  ///< by device: of the operator under way, and of the last one
  std::vector<bool> done_;
  std::map<StepValue, double> bytes_;
  std::vector<Flow> flows_;
  std::set<std::pair<std::size_t, StepValue>> arrived_;  ///< with the device
  SharedStep step_;
};
}  // namespace

SharedStep shared_step(const StepPlan& plan, const PlacementProblem& problem) { return SharedRun(plan, problem).run(); }

}  // namespace simgrad::strategies
