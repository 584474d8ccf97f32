// Every strategy with its options, as a program that a trial runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strategies/allreduce.h"
#include "strategies/gossip.h"
#include "strategies/mapreduce.h"
#include "strategies/parameter_server.h"
#include "strategies/single.h"
#include "training/trial.h"

namespace simgrad::tests {

using strategies::Consistency;
using strategies::GossipUpdate;
using strategies::Graph;

inline training::Program single() { return strategies::program(std::make_shared<strategies::Single>()); }
inline training::Program mapreduce() { return strategies::program(std::make_shared<strategies::MapReduce>()); }
inline training::Program ring_allreduce() { return strategies::program(std::make_shared<strategies::Allreduce>()); }

inline training::Program parameter_server(Consistency consistency, strategies::Part part = strategies::Part::sum) {
  auto strategy = std::make_shared<strategies::ParameterServer>();
  strategy->consistency = consistency;
  strategy->part = part;
  return strategies::program(strategy);
}

inline training::Program gossip(Graph graph, GossipUpdate update) {
  auto strategy = std::make_shared<strategies::Gossip>();
  strategy->graph = graph;
  strategy->update = update;
  return strategies::program(strategy);
}

struct Named {
  std::string name;
  training::Program program;
};

/// All that use the network, one of each kind.
inline std::vector<Named> parallel_strategies() {
  return {{"mapreduce", mapreduce()},
          {"bsp", parameter_server(Consistency::bsp)},
          {"asp", parameter_server(Consistency::asp)},
          {"allreduce", ring_allreduce()},
          {"gossip", gossip(Graph::ring, GossipUpdate::combine_then_adapt)}};
}

}  // namespace simgrad::tests
