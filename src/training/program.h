/// What the ranks of a training run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "training/learning/shards.h"

namespace simgrad::training {

class Worker;
class Server;

/// Who holds the state that is trained, and reports it.
enum class Holder {
  workers,  ///< each a replica
  servers,  ///< each a shard, or the one server all of it
  master,   ///< the first worker alone
  memory    ///< that all workers share
};

class Learning;

/// The state of replicas that are not of one kind, from all of them.
using Assembly = std::function<values::Tensor(const std::vector<values::Tensor>& replicas, const Learning& learning)>;

struct Program {
  std::function<void(Worker&)> work;
  std::function<void(Server&)> serve;  ///< null without servers
  int servers = 0;
  bool synchronous = true;  ///< every step is one update by all gradients of the step
  bool own_pace =
      false;  ///< every worker updates a replica at its own pace; a step is as many updates as there are workers
  /// Otherwise: how many gradients an update takes; 0: about as many as there are workers.
  std::int64_t gradients_an_update = 1;
  std::optional<Holder> holder = {};      ///< default: the servers, if there are any
  std::optional<Sharding> sharding = {};  ///< how servers that hold the state share it
  /// The hosts on which P workers and then the servers live, if not each on its own; says how many servers there are.
  std::function<std::vector<int>(int P)> hosts = {};

  Assembly assembly = {};        ///< of what is evaluated; default: the replicas' mean
  bool replicas_differ = false;  ///< each of the workers that hold replicas has one of its own
  bool keyed = false;            ///< the servers hold the rows of a table by key, equally many
  bool many_to_many = false;     ///< several ranks send to several at a time

  std::vector<int> places(int P) const;
  int hosts_needed(int P) const;
};

}  // namespace simgrad::training
