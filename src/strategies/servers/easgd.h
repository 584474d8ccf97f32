/// Elastic averaging: every worker trains a replica of its own. After every `period` steps the replica and the server's
/// centre each move towards the other.
///
/// Source: S. Zhang, A. Choromanska, Y. LeCun, "Deep learning with Elastic Averaging SGD", NIPS 2015, Algorithm 1
/// (asynchronous) and equations 5 and 6 (synchronous). alpha = moving_rate / P.
/// A step is an exchange with the centre, whose parameters are evaluated. With P = 1 both equations stay what they are:
/// the replica steps, and is pulled to a centre that follows it, which is not the sequential algorithm.
/// Cost per round of `period` local steps: period (t_c + t_update) + 2 alpha + 2 P M beta + 3 d / speed at a worker and
/// 3 P d / speed at the server, all workers arriving together.
#pragma once

#include "strategies/compression.h"

namespace simgrad::strategies {

struct Easgd : Strategy {
  static constexpr base::About about{
      .kind = "easgd",
      .summary =
          "workers train replicas of their own, and each replica and a server's centre pull each other closer, like "
          "springs; a step is an exchange with the centre",
      .cost =
          "period (t_c + t_update) + 2 alpha + 2 P M beta a round of one exchange each; the server adds 3 P d flops",
      .source = "S. Zhang, A. Choromanska, Y. LeCun, Deep learning with Elastic Averaging SGD, 2015"};

  std::int64_t period = 10;
  double moving_rate = 0.9;
  bool together = false;
  Compression parameter_compression = no_compression();

  void describe(base::Describer& d) override;
  Traits traits(int P) const override;
  void operator()(Worker& worker) const override;
  void operator()(Server& server) const override;

 private:
  double elasticity(int P) const { return moving_rate / P; }
  void serve_together(Server& server) const;
};

}  // namespace simgrad::strategies
