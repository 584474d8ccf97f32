/// A replica's exchanges with its neighbours, of whom some may be lost and come back.
#pragma once

#include <optional>

#include "strategies/gossip/mixing/matrix.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class Neighbourhood {
 public:
  /// row: of the mixing matrix, this rank's.
  Neighbourhood(Worker& worker, const MixingRow& row) : worker_(worker), row_(row) {}

  /// The state to begin with. Who has come back among others takes a living neighbour's parameters and step (anybody's
  /// if no neighbour lives), with an optimizer that remembers nothing.  Virtual time: until that neighbour's next step,
  /// then alpha + M beta.
  State start() const;
  /// Sends the state to those who have come back and take it from here.
  void welcome(const State& state) const;
  /// sum_j W_ij x_j over this rank and those neighbours that take part in the step, added in the order of ranks; the
  /// weights of those that do are scaled to sum to 1.  Virtual time: alpha + degree M beta, then (2 degree + 1) d
  /// flops.
  Tensor combine(const Tensor& x, std::int64_t step) const { return combine(x, start(x, step)); }

  /// An exchange that goes on while its rank computes.
  struct Exchange {
    std::vector<int> sources;  ///< ascending
    std::vector<cluster::Pending> receives;
    std::vector<cluster::Pending> sends;
  };
  /// Sends x to this step's neighbours, and begins to receive theirs.
  Exchange start(const Tensor& x, std::int64_t step) const { return start(x, step, row_.neighbours, row_.targets); }
  Exchange start(const cluster::Packet& x, std::int64_t step, std::span<const int> sources,
                 std::span<const int> targets) const;
  /// What comes from each source, in their order; no tensor from one that was lost.  Virtual time: until all has come
  /// and gone.
  std::vector<cluster::Packet> finish(Exchange exchange) const;
  /// As above, of an exchange that was started with x.  numbers: as many flops takes a product or sum; left out: d.
  Tensor combine(const Tensor& x, Exchange exchange, std::optional<double> numbers = {}) const;
  /// Whether that member takes part in the step.
  bool takes_part(int member, std::int64_t step) const;

 private:
  /// Who is at work, of the neighbours if any is.
  std::vector<int> hosts() const;

  Worker& worker_;
  const MixingRow& row_;
};

}  // namespace simgrad::strategies
