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
         const training::MemoryTerms& terms, const training::ParameterPasses& passes)
      : unit_(unit),
        stage_(stage),
        shares_(shares),
        terms_(terms),
        work_(unit.layers, kind.device, terms.precision, kind.nominal_flops_per_s, terms.recompute, unit.passes_on,
              passes),
        flops_per_s_(kind.flops_per_s) {}

  UnitTimes all() {
    for (const Segment& segment : unit_.segments) go({segment, segment.forward});
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
  double exchange_s(const std::vector<Step>& steps, std::size_t k, double last_bytes) const {
    const Step& step = steps[k];
    const double bytes = terms_.bytes.wire, rows = static_cast<double>(terms_.rows);
    const double numbers = rows * (step.most_assumed() + (k + 1 == steps.size() ? last_bytes / bytes : 0.0));
    return stage_.collective_s(step.then, step.among, numbers, ranks_among(shares_, step.among), bytes);
  }
  bool shared(const Step& step) const { return ranks_among(shares_, step.among) > 1; }
  bool beside(const Step& step) const { return step.beside > 0.0 && shared(step); }
  void compute(double seconds) { now_s_ += seconds; }
  void wait_until(double end_s) {
    exposed_s_ += std::max(end_s - now_s_, 0.0);
    now_s_ = std::max(now_s_, end_s);
  }
  /// The work on the numbers of the other ranks goes on while they come; that on the last ones' stands behind.
  void compute_beside(const Step& step, double work_s, double exchange_s) {
    const double last_s = step.beside * work_s / ranks_among(shares_, step.among), end_s = now_s_ + exchange_s;
    compute(step.beside * work_s - last_s);
    wait_until(end_s);
    compute(last_s);
  }

  /// The work of one pass through a segment, without what is computed again.
  struct Pass {
    const Segment& segment;
    const std::vector<Step>& steps;
    bool backward = false, again = false;
    double gathered_s = 0.0;   ///< the end of what is gathered beside the work
    std::size_t computed = 0;  ///< layers, in the order of the pass
  };
  double layer_s(const Pass& pass, std::size_t in_segment) const {
    const std::size_t layer = pass.segment.first_layer + in_segment;
    if (pass.backward)
      return sum(&training::RankWork::backward, layer, 1) - sum(&training::RankWork::recomputed, layer, 1);
    return pass.again ? sum(&training::RankWork::again, layer, 1) : sum(&training::RankWork::forward, layer, 1);
  }
  /// Computes the layers up to there, and waits for what is gathered beside them.
  void compute_until(Pass& pass, std::size_t layers) {
    if (layers <= pass.computed) return;
    double less = 0.0;  // of the segment's first layer
    for (const Step& step : pass.steps) less += beside(step) ? step.beside : 0.0;
    for (; pass.computed < std::min(layers, pass.segment.layers); ++pass.computed) {
      const std::size_t layer = pass.backward ? pass.segment.layers - 1 - pass.computed : pass.computed;
      compute((layer == 0 ? 1.0 - less : 1.0) * layer_s(pass, layer));
    }
    pass.computed = layers;
    wait_until(pass.gathered_s);
  }
  void go(Pass pass) {
    for (std::size_t k = 0; k < pass.steps.size(); ++k) {
      const Step& step = pass.steps[k];
      if ((shared(step) && step.then != Step::Then::nothing) || pass.gathered_s > 0.0) compute_until(pass, step.layers);
      const double time_s =
          exchange_s(pass.steps, k, pass.backward ? pass.segment.entrance_bytes : pass.segment.exit_bytes);
      if (beside(step))
        compute_beside(step, layer_s(pass, 0), time_s);
      else if (step.again && shared(step))
        pass.gathered_s = now_s_ + time_s;
      else
        wait_until(now_s_ + time_s);
    }
    compute_until(pass, Step::all_layers);
  }
  /// The forward pass through the unit a second time; a look-up, which computes nothing, is not exchanged again.
  void repeat_forward() {
    for (const Segment& segment : unit_.segments) {
      double flops = 0.0;
      for (std::size_t i = 0; i < segment.layers; ++i) flops += unit_.layers[segment.first_layer + i].forward_flops;
      flops > 0.0 ? go({.segment = segment, .steps = segment.forward, .again = true})
                  : compute(sum(&training::RankWork::again, segment.first_layer, segment.layers));
    }
  }

  void backward(const Segment& segment) {
    const bool repeats =
        terms_.recompute == training::Recompute::full && segment.layers > 0 &&
        training::recomputed_as_a_whole(unit_.layers, segment.first_layer + segment.layers - 1, unit_.passes_on);
    repeats ? repeat_forward() : compute(sum(&training::RankWork::recomputed, segment.first_layer, segment.layers));
    go({segment, segment.backward, true});
  }

  const SharedUnit& unit_;
  const StageDevices& stage_;
  const models::Shares& shares_;
  const training::MemoryTerms& terms_;
  training::RankWork work_;
  double flops_per_s_, now_s_ = 0.0, exposed_s_ = 0.0;
  UnitTimes times_;
};

}  // namespace

UnitTimes times_of(const SharedUnit& unit, const StageDevices& stage, const models::Shares& shares,
                   const training::MemoryTerms& terms, const training::ParameterPasses& passes) {
  UnitTimes slowest;
  for (const DeviceKind& kind : stage.kinds)
    slowest =
        std::ranges::max(Passes(unit, kind, stage, shares, terms, passes).all(), slowest, {}, &UnitTimes::passes_s);
  for (std::size_t k = 0; k < models::kinds_of_shares; ++k)
    for (const double size : unit.partial[k])
      slowest.sums_s +=
          stage.ring_sum_s(stage.rings[k], size, ranks_among(shares, static_cast<Among>(k)), terms.bytes.wire);
  return slowest;
}

}  // namespace simgrad::strategies
