/// The ranks over which the stretches of a gradient are summed.
///
/// Ranks along `expert` have experts of their own, and all other parameters in common: the gradients of these are
/// summed over data x context x expert, those of experts over data x context, once each. Source: S. Rajbhandari et al.,
/// "DeepSpeed-MoE: Advancing Mixture-of-Experts Inference and Training to Power Next-Generation AI Scale", ICML 2022
/// (expert and data parallelism).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cluster/ranks/communicator.h"
#include "strategies/buckets/buckets.h"
#include "strategies/strategy.h"

namespace simgrad::strategies {

/// Layers whose gradients are summed together, or their sum.
class GroupBucket {
 public:
  /// A layer that the backward pass has completed after those that the bucket has.
  void add(const models::Layer& layer);
  std::int64_t count() const { return count_; }
  /// Descending; layers that follow each other in the vector are one stretch.
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  std::vector<Stretch> stretches_;
  std::int64_t count_ = 0;
};

class GradientGroups {
 public:
  explicit GradientGroups(const Worker& worker);

  /// All ranks that have some of this one's parameters.
  const cluster::Communicator& sharers() const { return sharers_; }
  /// The number of groups: 1 where all parameters have the same ranks.
  std::size_t count() const { return whole_.size(); }
  /// The group of a layer's parameters; 0 is sharers().
  std::size_t of(const models::Layer& layer) const;
  /// Finds a group's communicator in that of sharers(), as the calling actor has it: the same actor in each call.
  using Find = std::function<const cluster::Communicator&(const cluster::Communicator& sharers)>;
  Find among(std::size_t group) const;

  /// The sum of a whole gradient, group by group.  sum: of a vector over a communicator.
  using Sum = std::function<Tensor(const cluster::Communicator& comm, const Tensor& x)>;
  Tensor summed(const Tensor& g, const Sum& sum) const;

 private:
  const Worker& worker_;
  cluster::Communicator sharers_;
  std::vector<int> own_;            ///< the places in sharers() of the ranks with this one's experts
  std::vector<GroupBucket> whole_;  ///< by group: all of its layers
  std::vector<Find> among_;         ///< of the worker's own actor
};

/// A bucket's numbers, out of those of the whole gradient.
Tensor numbers_of(const GroupBucket& bucket, const std::function<Tensor(const Stretch&)>& stretch_of);
/// The whole gradient, out of the numbers of buckets that cover it.  Both in the same order.
Tensor put_together(const std::vector<GroupBucket>& buckets, const std::vector<Tensor>& numbers);

}  // namespace simgrad::strategies
