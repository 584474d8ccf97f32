/// A strategy: how gradients become parameters on many ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"
#include "training/memory/formula.h"
#include "training/program.h"
#include "training/state.h"

namespace simgrad::strategies {

using training::Holder;
using training::Joint;
using training::Server;
using training::Sharding;
using training::State;
using training::Traits;
using training::Worker;
using values::Tensor;
using Pace = Traits::Pace;

struct Circumstances;  // strategies/circumstances.h

/// The reason why a strategy cannot train under some circumstances.
struct Refusal {
  std::string option;  ///< the strategy's option at fault
  std::string text;    ///< the two numbers or options that contradict, and what to do
};

/// A strategy is a struct: its fields are its options, operator() is the algorithm box of its paper.
class Strategy : public base::Described {
 public:
  void describe(base::Describer&) override {}

  /// The program of a worker.
  virtual void operator()(Worker& worker) const = 0;
  /// The program of a server, where traits() has some.
  virtual void operator()(Server& server) const;
  /// Its properties with the scenario's P workers.
  virtual Traits traits(int /*P*/) const { return {}; }
  /// Nothing if it can train; asked once the problem is known.
  virtual std::optional<Refusal> refusal(const Circumstances&) const { return {}; }
  /// Sentences about options that are allowed but hardly wanted: the consequence, and what to do. These warnings are
  /// printed before the runs, and stand in the runs' notes.
  virtual std::vector<std::string> warnings(std::int64_t /*P*/, std::uint64_t /*seed*/) const { return {}; }
  /// A worker's memory at its fullest, as a formula. By default that of a replica, whose optimizer's vectors are the
  /// servers' where these hold the state.
  virtual record::MemoryParts memory(const training::MemoryTerms& terms) const;
  /// The strategy of one worker without a network whose run is the baseline of this one's speed-up.
  virtual std::shared_ptr<const Strategy> alone() const;

  /// The number of workers that it takes out of P, and the host of each of its ranks then.
  std::int64_t workers(std::int64_t P) const { return traits(static_cast<int>(P)).workers.value_or(P); }
  std::vector<int> hosts(int P) const { return traits(P).places(P); }

  /// Whether the devices of each host are one worker (hosts/hosts_first.h).
  bool hosts_first = false;

 protected:
  /// The option `hosts_first`.  algorithm: the kind of the strategy's allreduce, where it has one.
  void describe_hosts_first(base::Describer& d, std::string_view algorithm = "");
};

/// single, mapreduce, parameter_server, allreduce, data_parallel, zero, fsdp, gossip, byteps, easgd, hogwild,
/// local_sgd, diloco, block_sync, federated_averaging, multitask, d2, gradient_tracking, ad_psgd, sgp, async_broadcast,
/// sparse_parameter_server, operators
const base::Registry<Strategy>& registry();

/// The strategy as a training runs it; the program keeps the strategy alive.
training::Program program(std::shared_ptr<const Strategy> strategy);

}  // namespace simgrad::strategies
