/// The program every rank runs to train: how gradients become parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  /// The host on which each rank lives, workers first, then servers; 0, 1, 2, ... are hosts of their own.
  virtual std::vector<int> hosts(int P) const;
  /// Whether several ranks send to several at a time, as to the servers of shards.
  virtual bool many_to_many() const { return servers() > 1; }
  /// How many workers it takes out of P.
  virtual std::int64_t workers(std::int64_t P) const { return P; }
  /// What one worker without a network does instead: the baseline of its speed-up.
  virtual std::shared_ptr<const Strategy> alone() const;
  /// Whether updates are the optimizer's, at its learning rate.
  virtual bool optimizes() const { return true; }
  /// The number of pieces of a worker's share which any free worker takes; 1: each worker computes its own share.
  virtual std::int64_t pieces_a_worker() const { return 1; }
  /// Whether every step is one update by all gradients of the step.
  virtual bool synchronous() const { return true; }
  /// Where that is not so: how many gradients an update takes; 0: about as many as there are workers.
  virtual std::int64_t gradients_an_update() const { return 1; }
  /// Whether every worker updates a replica at its own pace; a step is as many updates as there are workers.
  virtual bool own_pace() const { return false; }
  /// Who holds what is trained; by default the servers, if there are any.
  virtual std::optional<training::Holder> holder() const { return {}; }
  /// Whether the workers' replicas, where they hold them, are not equal.
  virtual bool replicas_differ() const { return false; }
  /// How servers share the parameters; by default each holds all of them.
  virtual std::optional<training::Sharding> sharding() const { return {}; }
  /// Whether the servers hold a table's rows by key.
  virtual bool keyed() const { return false; }

  /// How what is evaluated is made of the replicas; by default it is their mean.
  virtual training::Assembly assembly() const { return {}; }
  /// In which ways it recovers from failures.
  virtual std::vector<cluster::Recovery> recoveries() const { return allowed(false); }

  /// What can only be judged once the problem is known.
  struct Fit {
    std::int64_t parameters = 0;
    std::int64_t workers = 0;
    const training::Optimizer& optimizer;
    std::string_view optimizer_kind;  ///< as the scenario calls it
    const models::Model& model;
    std::string_view model_kind;
    const cluster::Options& cluster;
    const training::StopOptions& stop;
    std::vector<models::Layer> layers = {};  ///< of the model
    std::uint64_t seed = 1;
    std::int64_t keys = 0;  ///< of a sparse model: the features
    bool numbers = true;    ///< whether there are data
  };
  /// Why it cannot train that.
  struct Unfit {
    std::string option;  ///< the key of its own that is at fault
    std::string text;    ///< which two numbers or options contradict, and what to do
  };
  /// Nothing if it can.
  virtual std::optional<Unfit> unfit(const Fit&) const { return {}; }
  /// What is allowed, but hardly what is wanted: what will happen, and what to do. Said before runs, and in their
  /// notes.
  virtual std::vector<std::string> warnings(std::int64_t /*workers*/, std::uint64_t /*seed*/) const { return {}; }

 protected:
  /// All recoveries that start a new generation, and `continue` if the strategy has a meaning for it.
  static std::vector<cluster::Recovery> allowed(bool keeps_going);
};

/// single, mapreduce, parameter_server, allreduce, data_parallel, gossip, byteps, easgd, hogwild, local_sgd,
/// federated_averaging, multitask, d2, gradient_tracking, ad_psgd, sgp, async_broadcast, sparse_parameter_server
const base::Registry<Strategy>& registry();

/// What training runs; it keeps the strategy alive.
training::Program program(std::shared_ptr<const Strategy> strategy);

}  // namespace simgrad::strategies
