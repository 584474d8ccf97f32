/// A rank's view of its training: the reports and questions of workers and servers.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"

namespace simgrad::cluster {
class Communicator;
class Storage;
class World;
}  // namespace simgrad::cluster

namespace simgrad::training {

class Generation;
class Learning;
class LossScales;
class ModelParts;
class Progress;
class Replicas;
class RowSource;
class SharedStates;
class Store;
class Tally;
struct Options;
struct State;

class Session {
 public:
  virtual ~Session() = default;

  virtual const Learning& learning() const = 0;
  /// The parts of a cut model; null where every worker has the whole one.
  virtual const ModelParts* parts() const = 0;
  /// The section [training].
  virtual const Options& options() const = 0;
  virtual cluster::World& world() = 0;
  /// The ranks that take part now: P, members, shards, the state to begin with.
  virtual const Generation& generation() const = 0;
  /// The workers that are at work, in a training that goes on without lost ones.
  virtual Replicas& replicas() = 0;
  virtual SharedStates& shared() = 0;
  /// Takes samples, stalenesses, notes.
  virtual Tally& tally() = 0;
  /// The scales of float16 gradients.
  virtual LossScales& loss_scales() = 0;
  /// The steps that the ranks' reports make up.
  virtual Progress& progress() = 0;
  /// Where rows are read from; null where they take no time.
  virtual RowSource* rows() = 0;
  /// The strategy's disks (Traits::disk); null: it has none.
  virtual const cluster::Storage* disk() const = 0;

  /// Reports a rank's state after state.step updates, writes it as a checkpoint if that is due, and waits for the
  /// job's turn. Once all reporting ranks have arrived at that step, its state is observed. Returns whether the rank
  /// goes on. Virtual time: a checkpoint's bytes / cluster.storage_bandwidth.
  virtual bool arrive(const cluster::Communicator& comm, const State& state) = 0;
  /// As above, of parameters that are changed in place: they become tensors when they are evaluated or written.
  virtual bool arrive(const cluster::Communicator& comm, std::int64_t step, std::shared_ptr<const Store> store) = 0;
  /// The last step that is complete.
  virtual std::int64_t latest_step() const = 0;
  /// Whether steps, samples or epochs end the training with that step.
  virtual bool last_step(std::int64_t step) const = 0;
  /// Random draws of a rank's step. A step that is repeated after a failure draws anew, while its batch is dealt by
  /// step alone: a repeated step sees the same rows.  retry: how often the rank has given the step up and begun again
  /// in this generation.
  virtual base::Stream stream(base::Purpose purpose, int rank, std::int64_t step, std::uint32_t retry = 0) const = 0;
};

}  // namespace simgrad::training
