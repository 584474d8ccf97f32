#include "strategies/automatic/unit_times.h"

#include <algorithm>

#include "training/learning/rank_work.h"

namespace simgrad::strategies {

using models::Among;
using models::Segment;
using models::Step;

namespace {

/// The passes through a unit's segments on one kind of device, step by step as SegmentPasses goes.
class Passes {
 public:
  Passes(const SharedUnit& unit, const DeviceKind& kind, const StageDevices& stage, const models::Shares& shares,
         const training::MemoryTerms& terms)
      : unit_(unit),
        stage_(stage),
        shares_(shares),
        terms_(terms),
        work_(unit.layers, kind.device, terms.precision, kind.nominal_flops_per_s, terms.recompute, unit.passes_on),
        flops_per_s_(kind.flops_per_s) {}

  UnitTimes all() {
    for (const Segment& its : unit_.segments) forward(its);
    times_.forward_s = now_s_;
    now_s_ = 0.0;
    for (std::size_t s = unit_.segments.size(); s-- > 0;) backward(unit_.segments[s]);
    times_.weight_backward_s = std::min(sum(&training::RankWork::weights, 0, unit_.layers.size()), now_s_);
    times_.input_backward_s = now_s_ - times_.weight_backward_s;
    times_.exchanges_s = exposed_s_;
    return times_;
  }

 private:
  using OfLayer = double (training::RankWork::*)(std::size_t layer, std::int64_t rows) const;
  double sum(OfLayer of, std::size_t first, std::size_t layers) const {
    double work = 0.0;
    for (std::size_t i = first; i < first + layers; ++i) work += (work_.*of)(i, terms_.rows);
    return work / flops_per_s_;
  }
  double forward_s(const Segment& its) const { return sum(&training::RankWork::forward, its.first_layer, its.layers); }

  double exchange_s(const std::vector<Step>& steps, std::size_t k, double last_bytes) const {
    const Step& step = steps[k];
    const double bytes = terms_.bytes.wire, rows = static_cast<double>(terms_.rows);
    const double numbers = rows * (step.numbers + (k + 1 == steps.size() ? last_bytes / bytes : 0.0));
    return stage_.collective_s(step.then, step.among, numbers, ranks_among(shares_, step.among), bytes);
  }
  bool beside(const Step& step) const { return step.beside > 0.0 && ranks_among(shares_, step.among) > 1; }
  double share_beside(const std::vector<Step>& steps) const {
    double share = 0.0;
    for (const Step& step : steps)
      if (beside(step)) share += step.beside;
    return share;
  }
  void compute(double seconds) { now_s_ += seconds; }
  void wait_until(double end_s) {
    exposed_s_ += std::max(end_s - now_s_, 0.0);
    now_s_ = std::max(now_s_, end_s);
  }
  /// The work on the numbers of the other ranks goes on while they come; that on the last ones' stands behind.
  void compute_beside(const Step& step, double work_s, double exchange_s) {
    const int n = ranks_among(shares_, step.among);
    const double share_s = step.beside * work_s;
    const double end_s = now_s_ + exchange_s;
    compute(share_s * (n - 1) / n);
    wait_until(end_s);
    compute(share_s / n);
  }

  void forward(const Segment& its) {
    const double work_s = forward_s(its);
    compute((1.0 - share_beside(its.forward)) * work_s);
    for (std::size_t k = 0; k < its.forward.size(); ++k) {
      const double takes_s = exchange_s(its.forward, k, its.exit_bytes);
      if (beside(its.forward[k]))
        compute_beside(its.forward[k], work_s, takes_s);
      else
        wait_until(now_s_ + takes_s);
    }
  }

  /// The forward pass through the unit a second time; a look-up, which computes nothing, is not exchanged again.
  void repeat_forward() {
    for (const Segment& its : unit_.segments) {
      double flops = 0.0;
      for (std::size_t i = 0; i < its.layers; ++i) flops += unit_.layers[its.first_layer + i].forward_flops;
      flops > 0.0 ? forward(its) : compute(forward_s(its));
    }
  }

  void backward(const Segment& its) {
    const std::vector<Step>& steps = its.backward;
    const bool repeats =
        terms_.recompute == training::Recompute::full && its.layers > 0 &&
        training::recomputed_as_a_whole(unit_.layers, its.first_layer + its.layers - 1, unit_.passes_on);
    if (repeats) repeat_forward();
    const double again = sum(&training::RankWork::recomputed, its.first_layer, its.layers);
    const double work_s = sum(&training::RankWork::backward, its.first_layer, its.layers) - again;
    double gathered_s = 0.0;
    bool computed = false;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      const Step& step = steps[k];
      const bool computes =
          step.gradients || beside(step) || (step.then != Step::Then::nothing && step.then != Step::Then::gather);
      if (!computed && (computes || k + 1 == steps.size())) {
        compute((repeats ? 0.0 : again) + (1.0 - share_beside(steps)) * work_s);
        wait_until(gathered_s);
        computed = true;
      }
      const double takes_s = exchange_s(steps, k, its.entrance_bytes);
      if (beside(step))
        compute_beside(step, work_s, takes_s);
      else if (step.again && ranks_among(shares_, step.among) > 1)
        gathered_s = now_s_ + takes_s;
      else
        wait_until(now_s_ + takes_s);
    }
  }

  const SharedUnit& unit_;
  const StageDevices& stage_;
  const models::Shares& shares_;
  const training::MemoryTerms& terms_;
  training::RankWork work_;
  double flops_per_s_;
  double now_s_ = 0.0, exposed_s_ = 0.0;
  UnitTimes times_;
};

}  // namespace

UnitTimes times_of(const SharedUnit& unit, const StageDevices& stage, const models::Shares& shares,
                   const training::MemoryTerms& terms) {
  UnitTimes slowest;
  for (const DeviceKind& kind : stage.kinds)
    if (const UnitTimes its = Passes(unit, kind, stage, shares, terms).all(); its.passes_s() >= slowest.passes_s())
      slowest = its;
  for (std::size_t k = 0; k < models::kinds_of_shares; ++k)
    for (const double numbers : unit.partial[k])
      slowest.sums_s +=
          stage.ring_sum_s(stage.rings[k], numbers, ranks_among(shares, static_cast<Among>(k)), terms.bytes.wire);
  return slowest;
}

}  // namespace simgrad::strategies
