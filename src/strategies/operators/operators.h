/// Operators of a dataflow graph on different devices.
///
/// A model is a graph of operators: its units, each forward and backward. A placement gives each to a rank's device,
/// where its parameters live; the ranks go through the graph of a step together. Results are those of one device,
/// whatever the placement.
/// Source: M. Abadi et al., "TensorFlow: Large-Scale Machine Learning on Heterogeneous Distributed Systems", 2015
/// (greedy); H. Topcuoglu, S. Hariri, M.-Y. Wu, "Performance-Effective and Low-Complexity Task Scheduling for
/// Heterogeneous Computing", IEEE TPDS 13, 2002 (heft).
/// Cost per step: operators one at a time on each device, work / speed; messages between devices; then each device's
/// updates. Operators are placed as if each message had its whole path: latency + bytes / bandwidth. The step that the
/// run predicts is that of the placement's schedule where messages share the links (shared_links.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "strategies/operators/shared_links.h"
#include "strategies/operators/step_plan.h"
#include "strategies/strategy.h"

namespace simgrad::cluster {
struct Options;
}

namespace simgrad::strategies {

enum class Placing : unsigned char { greedy, heft, balanced, by_hand, exhaustive };

struct Operators : Strategy {
  static constexpr base::About about{
      .kind = "operators",
      .summary =
          "the model's operators live on different devices, as a placement says, and pass a batch through together",
      .cost = "the longest way through the placed graph: work / speed, messages between devices, updates",
      .source =
          "M. Abadi et al., TensorFlow: Large-Scale Machine Learning on Heterogeneous Distributed Systems, 2015; "
          "H. Topcuoglu, S. Hariri, M.-Y. Wu, Performance-Effective and Low-Complexity Task Scheduling for "
          "Heterogeneous Computing, 2002"};

  Placing placement = Placing::heft;
  std::vector<double> devices;  ///< by operator, under by_hand
  std::int64_t micro_batches = 1;

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  std::optional<Refusal> refusal(const Circumstances& circumstances) const override;
  void operator()(Worker& worker) const override;

  /// The reason why the devices cannot hold the operators, whatever the placement; or empty.
  std::string memory_refusal(const training::MemoryTerms& terms, const cluster::Options& cluster) const;

 private:
  std::optional<Refusal> model_refusal(const Circumstances& circumstances) const;
  std::optional<Refusal> placement_refusal(const Circumstances& circumstances) const;
  /// Made as a run begins; the same for all of its ranks.
  struct Made {
    StepPlan plan;
    SharedStep predicted;
  };
  Made make(const training::MemoryTerms& terms) const;

  mutable std::shared_ptr<const Made> made_;
};

}  // namespace simgrad::strategies
