/// A replica's exchanges with its neighbours, which may be lost and come back.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/ranks/pending.h"
#include "strategies/gossip/mixing/matrix.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

class Neighbourhood {
 public:
  /// turns: this rank's rows of the mixing matrices of successive steps. Worker and rows must outlive the
  /// neighbourhood. From now on the worker sends its state at every step to ranks that have come back and join from it.
  Neighbourhood(Worker& worker, std::vector<const MixingRow*> turns);
  Neighbourhood(const Neighbourhood&) = delete;
  Neighbourhood& operator=(const Neighbourhood&) = delete;

  /// The state to begin with. A rank that has come back takes a living neighbour's parameters and step (any rank's if
  /// no neighbour lives), with a fresh optimizer.  Virtual time: until that neighbour's next step, then alpha + M beta.
  State start() const;
  /// sum_j W_ij x_j over this rank and those neighbours that take part in the step, added in the order of ranks; their
  /// weights are scaled to sum to 1.  Virtual time: alpha + degree M beta, then (2 degree + 1) d flops.
  Tensor combine(const Tensor& x, std::int64_t step) const { return combine(x, start(x, step)); }
  const cluster::Communicator& comm() const;

  /// An exchange that goes on while its rank computes.
  struct Exchange {
    const MixingRow* row = nullptr;  ///< of the step
    std::vector<int> sources;        ///< ascending
    std::vector<cluster::Pending> receives;
    std::vector<cluster::Pending> sends;
  };
  /// Sends x to this step's neighbours, and begins to receive theirs.
  Exchange start(const Tensor& x, std::int64_t step) const { return start(comm(), x, step); }
  /// Does the same from the actor of that communicator.
  Exchange start(const cluster::Communicator& comm, const cluster::Packet& x, std::int64_t step) const {
    return start(comm, x, step, row(step).neighbours, row(step).targets);
  }
  /// Does the same with the given ranks instead of the step's neighbours.
  Exchange start(const cluster::Communicator& comm, const cluster::Packet& x, std::int64_t step,
                 std::span<const int> sources, std::span<const int> targets) const;
  /// The packet of each source, in their order; no tensor from one that was lost.  Virtual time: until all has come and
  /// gone.
  std::vector<cluster::Packet> finish(Exchange exchange) const { return finish(comm(), std::move(exchange)); }
  std::vector<cluster::Packet> finish(const cluster::Communicator& comm, Exchange exchange) const;
  /// As above, of an exchange that was started with x.  numbers: the flops of a product or sum; left out: d.
  Tensor combine(const Tensor& x, Exchange exchange, std::optional<double> numbers = {}) const {
    return combine(comm(), x, std::move(exchange), numbers);
  }
  Tensor combine(const cluster::Communicator& comm, const Tensor& x, Exchange exchange,
                 std::optional<double> numbers = {}) const;
  /// The number of these members that take part in the step.
  int present(std::span<const int> members, std::int64_t step) const;

 private:
  const MixingRow& row(std::int64_t step) const { return *turns_[static_cast<std::size_t>(step) % turns_.size()]; }
  void welcome(const State& state) const;
  /// The neighbours at work; if there are none, all members at work.
  std::vector<int> hosts() const;

  Worker& worker_;
  std::vector<const MixingRow*> turns_;
};

}  // namespace simgrad::strategies
