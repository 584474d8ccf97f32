/// The master of MapReduce's splits, as a reducer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/ranks/inbox.h"
#include "strategies/mapreduce/job_tracker.h"
#include "strategies/mapreduce/split_notes.h"
#include "strategies/strategy.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

/// Round after round: sends the parameters, deals the splits, and gathers the results. Reducers but the first do the
/// same without reports to answer.
class SplitMaster {
 public:
  /// slow_factor: as JobTracker has it.  parameters: the code that is sent instead of them.  Both must outlive it.
  SplitMaster(const Server& server, int splits, std::optional<double> slow_factor,
              const training::Compressor& parameters);

  /// The results of a round at that state, by split.  Virtual time: until all have come.
  std::vector<Tensor> mapped(const State& state);

 private:
  void begin(const State& state);
  void take(cluster::Inbox::Arrival arrival, const State& state);
  void send_parameters(int worker, const State& state);
  void order(int worker, std::optional<int> split, bool accepted = false);
  /// Deals the worker's splits to others.
  void lose(int worker);

  const Server& server_;
  int splits_;
  std::optional<double> slow_factor_;
  training::Encoder code_;
  cluster::Inbox mail_;
  std::vector<bool> here_;  ///< by worker: it has begun with the others, or asked to join
  std::vector<cluster::Pending> sends_;
  // Of the present round.
  std::int64_t step_ = 0;
  std::optional<JobTracker> tracker_;
  std::vector<Tensor> results_;
  int missing_ = 0;
};

}  // namespace simgrad::strategies
