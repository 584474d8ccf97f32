// Every strategy with its options, as a program that a trial runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategies/gossip/ad_psgd.h"
#include "strategies/gossip/async_broadcast.h"
#include "strategies/gossip/d2.h"
#include "strategies/gossip/gossip.h"
#include "strategies/gossip/gradient_tracking.h"
#include "strategies/gossip/sgp.h"
#include "strategies/mapreduce/mapreduce.h"
#include "strategies/replicas/allreduce.h"
#include "strategies/replicas/data_parallel.h"
#include "strategies/replicas/hogwild.h"
#include "strategies/replicas/local_sgd.h"
#include "strategies/replicas/multitask.h"
#include "strategies/servers/byteps.h"
#include "strategies/servers/easgd.h"
#include "strategies/servers/federated_averaging.h"
#include "strategies/servers/parameter_server.h"
#include "strategies/single.h"
#include "training/trial.h"

namespace simgrad::tests {

using strategies::Consistency;
using strategies::GossipUpdate;

/// A strategy with its defaults; its sums, where it has any, go around a ring, whichever algorithm is the default.
template <class Strategy>
std::shared_ptr<Strategy> around_a_ring() {
  auto strategy = std::make_shared<Strategy>();
  if constexpr (requires { strategy->algorithm.choose("ring"); }) strategy->algorithm.choose("ring");
  return strategy;
}

inline training::Program single() { return strategies::program(std::make_shared<strategies::Single>()); }
/// Rows are in memory from the start.
inline training::Program mapreduce() {
  auto strategy = std::make_shared<strategies::MapReduce>();
  dynamic_cast<strategies::MemoryStorage&>(*strategy->storage.object()).bandwidth_bytes_per_s = {};
  return strategies::program(strategy);
}
inline training::Program data_parallel() { return strategies::program(std::make_shared<strategies::DataParallel>()); }

inline training::Program allreduce(std::string_view algorithm, std::optional<double> bucket_bytes = {}) {
  auto strategy = std::make_shared<strategies::Allreduce>();
  strategy->algorithm.choose(algorithm);
  strategy->bucket_bytes = bucket_bytes;
  return strategies::program(strategy);
}
inline training::Program ring_allreduce() { return allreduce("ring"); }

inline training::Program parameter_server(Consistency consistency, strategies::Part part = strategies::Part::sum) {
  auto strategy = std::make_shared<strategies::ParameterServer>();
  strategy->consistency = consistency;
  strategy->part = part;
  return strategies::program(strategy);
}

/// A parameter server with options of its own: `servers({.consistency = ..., .shards = 4})` sets those fields.
struct Servers {
  Consistency consistency = Consistency::bsp;
  std::int64_t shards = 1;
  strategies::Placement placement = strategies::Placement::dedicated;
  training::Sharding dealt_by = training::Sharding::range;
  std::optional<std::int64_t> staleness_bound = {};
  std::int64_t backup_workers = 0;
  strategies::Late late = strategies::Late::finish;
  std::optional<std::int64_t> k_batch = {};
  bool staleness_aware = false;
  double delay_compensation = 0.0;
  strategies::Part part = strategies::Part::sum;
};

inline training::Program servers(const Servers& options) {
  auto strategy = std::make_shared<strategies::ParameterServer>();
  strategy->consistency = options.consistency;
  strategy->shards = options.shards;
  strategy->placement = options.placement;
  strategy->dealt_by = options.dealt_by;
  strategy->staleness_bound = options.staleness_bound;
  strategy->backup_workers = options.backup_workers;
  strategy->when_late = options.late;
  strategy->k_batch = options.k_batch;
  strategy->staleness_aware = options.staleness_aware;
  strategy->delay_compensation = options.delay_compensation;
  strategy->part = options.part;
  return strategies::program(strategy);
}

inline training::Program hogwild() { return strategies::program(std::make_shared<strategies::Hogwild>()); }

inline training::Program byteps(std::int64_t spare_hosts, std::int64_t partitions) {
  auto strategy = std::make_shared<strategies::BytePs>();
  strategy->spare_hosts = spare_hosts;
  strategy->partitions = partitions;
  return strategies::program(strategy);
}

inline training::Program easgd(std::int64_t period, double moving_rate, bool together) {
  auto strategy = std::make_shared<strategies::Easgd>();
  strategy->period = period;
  strategy->moving_rate = moving_rate;
  strategy->together = together;
  return strategies::program(strategy);
}

inline training::Program local_sgd(std::int64_t local_steps, std::string_view algorithm = "ring") {
  auto strategy = std::make_shared<strategies::LocalSgd>();
  strategy->local_steps = local_steps;
  strategy->algorithm.choose(algorithm);
  return strategies::program(strategy);
}

inline training::Program local_sgd(strategies::LocalSgd strategy) {
  return strategies::program(std::make_shared<strategies::LocalSgd>(std::move(strategy)));
}

inline training::Program federated(strategies::FederatedAveraging strategy) {
  return strategies::program(std::make_shared<strategies::FederatedAveraging>(std::move(strategy)));
}

inline training::Program gossip(std::string_view graph, GossipUpdate update) {
  auto strategy = std::make_shared<strategies::Gossip>();
  strategy->graph.choose(graph);
  strategy->update = update;
  return strategies::program(strategy);
}

struct Named {
  std::string name;
  training::Program program;
};

/// Parameter servers that differ from plain bsp and asp.
inline std::vector<Named> every_server() {
  return {{"three shards", servers({.shards = 3})},
          {"asp, three shards by hash",
           servers({.consistency = Consistency::asp, .shards = 3, .dealt_by = training::Sharding::hash})},
          {"colocated", servers({.shards = 4, .placement = strategies::Placement::colocated})},
          {"asp, colocated",
           servers({.consistency = Consistency::asp, .shards = 2, .placement = strategies::Placement::colocated})},
          {"ssp", servers({.consistency = Consistency::ssp, .shards = 2, .staleness_bound = 2})},
          {"backup worker", servers({.shards = 2, .backup_workers = 1})},
          {"K-batch-sync", servers({.shards = 2, .k_batch = 3})},
          {"K-batch-async", servers({.consistency = Consistency::asp, .k_batch = 3})},
          {"delay compensation",
           servers({.consistency = Consistency::asp, .shards = 2, .staleness_aware = true, .delay_compensation = 0.5})},
          {"easgd", easgd(2, 0.9, false)},
          {"easgd, synchronous", easgd(2, 0.9, true)},
          {"byteps", byteps(2, 3)},
          {"byteps, spare hosts only", byteps(4, 2)}};
}

/// All that use the network, one of each kind.
inline std::vector<Named> parallel_strategies() {
  std::vector<Named> all = every_server();
  const std::vector<Named> others{
      {"mapreduce", mapreduce()},
      {"bsp", parameter_server(Consistency::bsp)},
      {"asp", parameter_server(Consistency::asp)},
      {"allreduce", ring_allreduce()},
      {"allreduce in buckets", allreduce("ring", 8.0)},
      {"data_parallel", data_parallel()},
      {"local_sgd", local_sgd(3)},
      {"federated_averaging", federated({})},
      {"gossip", gossip("ring", GossipUpdate::combine_then_adapt)},
      {"d2", strategies::program(std::make_shared<strategies::D2>())},
      {"gradient_tracking", strategies::program(std::make_shared<strategies::GradientTracking>())},
      {"sgp", strategies::program(std::make_shared<strategies::Sgp>())},
      {"ad_psgd", strategies::program(std::make_shared<strategies::AdPsgd>())},
      {"async_broadcast", strategies::program(std::make_shared<strategies::AsyncBroadcast>())}};
  all.insert(all.begin(), others.begin(), others.end());
  return all;
}

}  // namespace simgrad::tests
