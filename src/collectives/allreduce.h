/// Allreduce: every member brings a vector, and all get the combination of all vectors, equal bit for bit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/describe.h"
#include "base/registry.h"
#include "cluster/recording/work_scope.h"
#include "cluster/stand_ins.h"
#include "collectives/reduction.h"
#include "collectives/split.h"

namespace simgrad::cluster {
class CollectiveTiming;
struct Options;
}  // namespace simgrad::cluster

namespace simgrad::collectives {

/// An algorithm; its fields are its options.
class Allreduce : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// x: (d) on every member, any d >= 0.  Returns (d).  Virtual time: the cost line of the algorithm; for a mean also d
  /// flops.  Errors: cluster::PeerLost.  x is taken over, so that it is freed as soon as it is combined.
  values::Tensor operator()(const cluster::Communicator& comm, values::Tensor x,
                            Reduction reduction = Reduction::sum) const {
    const cluster::WorkScope work_scope(comm, record::Work::allreduce);
    return finish(comm, reduction, combined(comm, comm.on_wire(std::move(x)), combination(reduction)));
  }

  /// Combines without the division that a mean ends with, and without a name for timelines.
  virtual values::Tensor combine(const cluster::Communicator& comm, values::Tensor x,
                                 values::Combination how) const = 0;

  /// The time of such a sum among these members, as it is computed; null: it goes by messages alone.
  virtual std::shared_ptr<const cluster::CollectiveTiming> timing(const cluster::Communicator& /*comm*/,
                                                                  const Extent& /*x*/,
                                                                  values::Combination /*how*/) const {
    return nullptr;
  }

  /// Whether a sum among these members is one collective and no more, wherever collectives are computed.
  virtual bool is_one_collective(const cluster::Communicator& /*comm*/) const { return false; }
  /// Whether several members send to several at a time.
  virtual bool many_to_many() const { return false; }
  /// The way in which the members of a group exchange, where a model is cut among ranks.
  virtual cluster::Meets meets() const { return cluster::Meets::freely; }
  /// The rings at once that its sums are asked to go around; none: as many as hosts have NICs.
  virtual std::optional<std::int64_t> rings_at_once() const { return {}; }
  /// The reason why the algorithm makes no sense on such a cluster, or empty.
  virtual std::string refusal(const cluster::Options& /*cluster*/) const { return {}; }

 private:
  /// As combine(), or in the time that was measured (cluster.collectives.measured).
  values::Tensor combined(const cluster::Communicator& comm, values::Tensor x, values::Combination how) const;
};

/// ring, recursive_doubling, rabenseifner, tree, double_binary_tree, hierarchical, bcube, naive, nccl, auto
const base::Registry<Allreduce>& allreduces();

}  // namespace simgrad::collectives
