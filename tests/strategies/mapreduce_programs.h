// MapReduce with its options, and what its rounds take.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "strategies/mapreduce/mapreduce.h"
#include "training/trial.h"

namespace simgrad::tests {

struct MapReduceOptions {
  strategies::Job job = strategies::Job::gradient;
  const char* broadcast = "flat";
  bool combiner = true;
  int reducers = 1;
  int splits = 1;
  bool speculative = false;
  std::optional<double> slow_factor = {};
  double disk_bytes_per_s = 0.0;                   ///< 0: memory
  std::optional<double> read_at_first_per_s = {};  ///< of memory: bytes/s of the disks; none: rows are there
  double flops_per_sample = 0.0;
};

inline training::Program mapreduce(const MapReduceOptions& options) {
  auto strategy = std::make_shared<strategies::MapReduce>();
  strategy->job = options.job;
  strategy->broadcast.choose(options.broadcast);
  strategy->combiner = options.combiner;
  strategy->reducers = options.reducers;
  strategy->splits = options.splits;
  strategy->speculative = options.speculative;
  strategy->slow_factor = options.slow_factor;
  if (options.disk_bytes_per_s > 0.0) {
    strategy->storage.choose("disk");
    dynamic_cast<strategies::DiskStorage&>(*strategy->storage.object()).bandwidth_bytes_per_s =
        options.disk_bytes_per_s;
  } else {
    dynamic_cast<strategies::MemoryStorage&>(*strategy->storage.object()).bandwidth_bytes_per_s =
        options.read_at_first_per_s;
  }
  dynamic_cast<strategies::IntermediateStorage&>(*strategy->storage.object()).flops_per_sample =
      options.flops_per_sample;
  return strategies::program(strategy);
}

}  // namespace simgrad::tests
