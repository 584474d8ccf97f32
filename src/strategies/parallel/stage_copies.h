/// Copies of states in the memory of another stage, for recoveries.
///
/// Source: J. Thorpe et al., "Bamboo: Making Preemptible Instances Resilient for Affordable Training of Large DNNs",
/// NSDI 2023, where each node of a pipeline keeps its successor's layers and can stand in for it. Here the copy is
/// brought up to date by the successor's gradient, in place of computing that a second time; the copy gives the state
/// to the host that takes the lost one's place.
#pragma once

#include "cluster/ranks/communicator.h"
#include "training/worker.h"

namespace simgrad::strategies {

class StageCopies {
 public:
  explicit StageCopies(const training::Worker& worker);

  /// Behind an update: each rank sends its gradient to its counterpart in the stage before, the first stage to the last
  /// one, which makes the same update of its copy.  Virtual time: alpha + N g beta of the rank that sends N numbers of
  /// g bytes, and the flops of the update of the copy. The numbers of the copy are the state's, and are not computed
  /// again.
  void refresh(const training::State& state);

 private:
  void hold(double numbers, double moments);

  const training::Worker& worker_;
  cluster::Communicator stages_;
  bool holds_ = false;
};

}  // namespace simgrad::strategies
