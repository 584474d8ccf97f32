/// A training's program: the code of its ranks, and the properties that the training must know before it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/failures/failures.h"
#include "cluster/stand_ins.h"
#include "training/learning/shards.h"

namespace simgrad::cluster {
struct Options;
}

namespace simgrad::training {

class Batches;
class Learning;
struct MemoryTerms;
struct MeshLayout;
class Participant;
class Server;
struct TaskTurn;
class Worker;

/// The ranks whose state is trained. They report it, and write it in checkpoints.
enum class Holder {
  workers,  ///< each worker a replica
  servers,  ///< each server its shard, or all of it
  master,   ///< the first worker alone
  memory    ///< one state that all workers share
};

/// Makes the state to evaluate from replicas that hold different things.
using Assembly = std::function<values::Tensor(const std::vector<values::Tensor>& replicas, const Learning& learning)>;

/// A disk in each host, from which a strategy's workers read their rows.
struct RowsOnDisk {
  double bandwidth_bytes_per_s = 0.0;
  std::optional<double> bytes_per_sample = {};  ///< none: as training.input has it
  double flops_per_sample = 0.0;
  bool cached = false;  ///< rows stay in memory once they are read; else every batch is read
};

/// Cuts a model for a mesh of ranks.  whole: the terms of the uncut model, and of all ranks.
using Cuts = std::function<MeshLayout(const MemoryTerms& whole)>;

/// All recoveries; and the recoveries that start a new generation of ranks, which need no support by a program.
std::vector<cluster::Recovery> every_recovery();
std::vector<cluster::Recovery> recoveries_by_generation();

/// The rounds of a training whose replicas are averaged now and then, and not after every step.
struct Rounds {
  std::optional<std::int64_t> steps;   ///< of a round; none: one round, to the end of the training
  std::int64_t synchronous_steps = 0;  ///< the first steps, each of which is a round

  /// Whether a round ends after the step.  last: whether the training does.
  bool end_after(std::int64_t step, bool last) const {
    if (step <= synchronous_steps) return true;
    return steps ? (step - synchronous_steps) % *steps == 0 : last;
  }
};

/// A program's properties. The training and the scenario's checks ask for them before anything runs.
struct Traits {
  /// The relation between steps, samples and gradients.
  enum class Pace {
    /// In a step every worker computes one gradient. Samples are the steps' batches, so that a number of epochs is a
    /// number of steps, and a batch may be smaller than P. At the end every message must have been received.
    lockstep,
    /// Gradients are applied to one state as they come. The holder counts the rows of a gradient as it applies them.
    server_updates,
    /// Every worker updates a replica at its own pace. A step is P updates by any workers.
    own_pace
  };
  Pace pace = Pace::lockstep;
  /// Whether workers compute gradient after gradient, each when it can, and no step waits for all of them. Their
  /// gradients then begin out of phase and differ in time (training.desynchronise).
  bool asynchronous = false;
  /// Gradients that an update takes, for learning rate schedules; 0: about P. Unused under lockstep.
  std::int64_t gradients_an_update = 1;
  /// Decides which ranks report states. The reported states are evaluated, and tested against the stopping rules.
  Holder holder = Holder::workers;
  /// Whether each worker's replica is written in checkpoints, and not the first one's alone.
  bool replicas_differ = false;
  /// Workers whose states are equal parts of one state, which each of them writes in checkpoints.
  int state_shards = 1;
  /// The number of workers that the strategy takes, where it does not take all.
  std::optional<std::int64_t> workers = {};
  /// Consecutive ranks, devices of one host, that make the gradients of one worker together. All of them run the
  /// worker's program; only the first has the other workers and the servers in its communicator.
  int devices_a_worker = 1;
  /// The number of ranks behind the workers.
  int servers = 0;
  /// The host of each rank, workers first; ranks of one host share its network card and its cores. Empty: one each.
  std::vector<int> hosts = {};
  /// The rule by which parameters are dealt to the servers.
  Sharding sharding = Sharding::none;
  /// The lengths of the pieces of each of which every server has a range; null: they have ranges of the whole.
  std::function<std::vector<std::int64_t>(const Learning&)> dealt_in_pieces = {};
  /// The workers' gradients that a server has in memory at a time.
  std::int64_t gradients_held = 1;
  /// Whether several ranks each send to several at a time; see cluster::Cluster.
  bool many_to_many = false;
  /// Whether each of them sends to few others, so that it looks at the links that a change concerns.
  bool few_neighbours = false;
  /// Pairs of ranks of which one sends to the other; 0 where they are few.
  std::int64_t pairs = 0;
  /// Actors beside the ranks, each of which answers another rank.
  std::int64_t answering_actors = 0;
  /// Actors beside the ranks, each of which takes what another rank sends. A cluster with a network of its own has
  /// none.
  std::int64_t taking_actors = 0;
  /// The values of cluster.failures.recovery that a scenario may choose.
  std::vector<cluster::Recovery> recoveries = recoveries_by_generation();
  /// Whether workers of servers show replicas of their own, whose distance is evaluated with the servers' state.
  bool replicas_beside_servers = false;
  /// The meaning of a step where it is not an update by every worker's gradient: "one exchange ...". Empty: it is.
  std::string step_is = {};
  /// Makes the evaluated state of the replicas; empty: their mean.
  Assembly assembly = {};
  /// The rounds of replicas that are averaged now and then. Within a round no worker holds the mean that is evaluated,
  /// so that it reaches no target. Empty: the state counts after every step.
  std::optional<Rounds> rounds = {};
  /// Whether updates are the optimizer's, at its learning rate; else options of the optimizer are refused.
  bool optimizes = true;
  /// The option by which a worker that is free takes work, such as "splits = 4", so that shares by speed have no
  /// meaning; empty: each worker has its share.
  std::string free_workers_take = {};

  /// How the model is cut among the ranks; null: every worker has the whole one.
  Cuts cuts = {};
  /// Whether each rank of a cut model keeps the state of its counterpart in the next stage too.
  bool copies_next_stage = false;
  /// Whether ranks of a cut model that are alike need not be simulated one by one (training/parts/stand_ins.h).
  bool may_stand_in = false;
  /// Whether values of parameters decide what is sent, so that a timing-only run cannot tell the times.
  bool times_follow_numbers = false;
  /// Whether the moments at which messages arrive decide numbers of a training in lockstep.
  bool numbers_follow_times = false;
  /// The gradients that the strategy asks for.
  enum class Sums : unsigned char {
    replicas,  ///< those of whole replicas
    workers,   ///< any: it sums each over all workers before it is used. So ranks that share sequences are workers, too
    sharers    ///< likewise, each stretch over all ranks that have it (strategies/replicas/gradient_groups.h)
  };
  Sums sums = Sums::replicas;
  /// The way of all that workers exchange.
  cluster::Meets meets = cluster::Meets::freely;
  /// The rings at once, where they meet in rings; none: as many as hosts have NICs.
  std::optional<std::int64_t> rings = {};
  /// Whether a worker passes through the model unit by unit, and gathers each one's parameters.
  bool gathers_units = false;
  /// The products of a worker's passes over its rows.
  enum class Passes {
    whole,       ///< gradients of all parameters, which are there when the passes begin
    units,       ///< the same gradients; the parameters of a unit are there when the passes come to it
    tasks,       ///< gradients of one group of tasks after the other: `turns`
    keys,        ///< gradients of a sparse batch
    assignments  ///< the sums of Lloyd's algorithm
  };
  Passes passes = Passes::whole;
  /// The passes of that worker: a master has all parameters when its passes begin.
  Passes passes_of(int worker) const {
    return passes == Passes::units && holder == Holder::master && worker == 0 ? Passes::whole : passes;
  }
  /// The turns of a step of that worker, each over the worker's rows; null where a model has one task.
  std::function<std::vector<TaskTurn>(const Learning&, int worker, int workers)> turns = {};
  /// The disks that the strategy has. Its rows are there too, unless training.input reads them from elsewhere.
  std::optional<RowsOnDisk> disk = {};
  /// Whether the first worker sends the others their rows with the parameters.
  bool deals_rows = false;
  /// The micro-batches whose gradients a step adds up, without those of a mesh.
  std::int64_t micro_batches = 1;
  /// Whether gradients that are kept in float32 beside a shorter format are in one buffer.
  MainGradients main_gradients = MainGradients::never;

  bool lockstep() const { return pace == Pace::lockstep; }
  bool own_pace() const { return pace == Pace::own_pace; }
  /// Whether each server holds a part of the parameters as Shards deals them.
  bool deals_parameters() const { return sharding == Sharding::range || sharding == Sharding::hash; }
  /// The host of each of P workers, then of each server.
  std::vector<int> places(int P) const;
  int hosts_needed(int P) const;
  std::int64_t side_actors(const cluster::Options& cluster) const;
};

/// Traits::step_is of servers, or of a shared memory, whose updates take so many gradients of any of P workers.
std::string step_of_gradients(std::int64_t gradients, int P);

/// A sentence about the meaning of stop.steps, where a step is no update by every worker; else empty.
std::string about_steps(const Traits& traits, std::int64_t steps);

/// A sentence about workers without rows, where a step's batch has fewer rows than there are workers; else empty.
std::string about_rows(const Traits& traits, const Batches& batches, int workers);

struct Program {
  std::function<Traits(int P)> traits = [](int) { return Traits(); };  ///< P: the scenario's workers
  std::function<void(Worker&)> work = {};
  std::function<void(Server&)> serve = {};  ///< null without servers
};

}  // namespace simgrad::training
