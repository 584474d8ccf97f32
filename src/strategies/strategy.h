/// The program every rank runs to train: how gradients become parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/describe.h"
#include "base/registry.h"
#include "training/worker.h"

namespace simgrad::strategies {

using training::Server;
using training::State;
using training::Worker;
using values::Tensor;

/// A strategy is a struct: its fields are its options, operator() is the algorithm box of its paper.
class Strategy : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// What a worker does.
  virtual void operator()(Worker& worker) const = 0;
  /// What a server does, where there are servers.
  virtual void operator()(Server& server) const;
  virtual int servers() const { return 0; }
  /// How many workers it takes out of P.
  virtual std::int64_t workers(std::int64_t P) const { return P; }
  /// Whether every step is one update by all gradients of the step.
  virtual bool synchronous() const { return true; }
};

/// single, mapreduce, parameter_server, allreduce, gossip
const base::Registry<Strategy>& registry();

/// What training runs; it keeps the strategy alive.
training::Program program(std::shared_ptr<const Strategy> strategy);

}  // namespace simgrad::strategies
