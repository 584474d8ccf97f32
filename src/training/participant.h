/// The common part of workers and servers: a rank's communicator, its clock, its memory and its updates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cluster/ranks/communicator.h"
#include "training/memory/ledger.h"
#include "training/precision.h"
#include "training/state.h"

namespace simgrad::cluster {
class Storage;
}

namespace simgrad::models {
class ModelPart;
}

namespace simgrad::training {

class Learning;
class Mesh;
enum class Dimension : unsigned char;
struct MeshTime;
class Optimizer;
class RankWork;
struct InStep;
class Session;
class Shards;
class SparseLearning;
struct SparseOptions;
class Store;

/// The common part of workers and servers.
class Participant {
 public:
  Participant(Session& session, int position);
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  virtual ~Participant() = default;

  /// The living workers, then the servers; of a cut model, the ranks that train the same parameters.
  const cluster::Communicator& comm() const { return comm_; }
  /// All ranks of a mesh; as comm() where there is none.
  cluster::Communicator everyone() const;
  bool on_mesh() const;  ///< whether the model is cut
  /// The part of a cut model that this rank has. Only where it has one.
  const models::ModelPart& part() const;
  const Mesh& mesh() const;
  /// Whether comm() has the ranks that differ from this one along that dimension; and whether the strategy sums
  /// gradients over them. Only on a mesh.
  bool workers_along(Dimension dimension) const;
  bool sums_along(Dimension dimension) const;
  int rank() const { return comm_.rank(); }  ///< its place in comm()
  int workers() const;                       ///< P; of a cut model, the ranks that train the same parameters
  /// The workers that have rows of their own, and this one's place among them: of a cut model the replicas, whose
  /// ranks share rows.
  int replicas() const;
  int replica() const;
  /// The updates that this rank makes in a step: several in a stage that has fewer replicas than a step has shares
  /// (Mesh::shares). The steps of its states and of its gradients are then such updates.
  int updates_a_step() const { return updates_a_step_; }
  double now() const { return comm_.now(); }

  const Learning& learning() const { return *learning_; }
  const Optimizer& optimizer() const;
  bool clips() const;  ///< whether gradients are clipped by their norm (training.clip_norm)
  /// Whether an update depends on the norm of the whole gradient: it is clipped, or left out where it has overflowed.
  bool needs_norm() const;
  std::uint64_t seed() const;
  /// The rows of a step's batch, over all workers; and the share of one of the replicas().
  std::int64_t batch() const;
  std::int64_t rows(int replica) const;
  /// The rows of the training set that its shares are drawn from.
  std::int64_t shard_rows(int replica) const;
  /// A worker's number among all that the scenario has, lost ones included.
  int number(int worker) const;
  /// The parts of the parameters that the servers hold.
  const Shards& shards() const;
  /// The ranks' common view of a sparse model; made when it is first asked for.
  SparseLearning& sparse(const SparseOptions& options) const;

  /// Parameters, the optimizer's vectors and step to begin with: fresh, or from a checkpoint after a failure.
  State start() const;
  /// Whether that state is from a checkpoint: as this rank, or the one that it stands in for, reported it.
  bool resumes() const;
  /// Reports the state to the training, which evaluates and tests the stopping rules, in no virtual time; then a
  /// checkpoint is written, if one is due. Returns whether to go on.
  bool continues(const State& state) const;
  /// Reports parameters that are changed where they are, after `step` updates.
  bool continues(const std::shared_ptr<const Store>& store, std::int64_t step) const;

  /// One update with gradient g, at the learning rate times a factor.  Virtual time: the optimizer's flops, and 3 a
  /// number where training.clip_norm clips g, unless reductions are free.
  /// squares: (1), the sum of squares of the whole gradient, where g is a shard and the update needs the norm.
  void update(State& state, const values::Tensor& g, double rate_factor = 1.0,
              const values::Tensor& squares = {}) const;
  /// Updates the state on the host of the rank's device, which takes so long.
  void update_on_host(State& state, const values::Tensor& g, double seconds, const values::Tensor& squares = {}) const;
  /// The learning rate of the update that follows `step` updates.
  double learning_rate(std::int64_t step) const;
  /// The number of gradients that a worker has given after `step` steps, on average, rounded down.
  std::int64_t rounds(std::int64_t step) const;
  /// One step of Lloyd's algorithm: every centre in state.w moves to the mean of its rows.  sums: those of all ranks'
  /// `assignments`.  Virtual time: a division a number, unless reductions are free.
  void move_centres(State& state, const values::Tensor& sums) const;

  /// Charges flops of an addition, an average or an update, which take no time where the scenario makes them free.
  void charge(double flops, record::Work work = record::Work::reduce) const { comm_.charge_reduction(flops, work); }
  /// Charges flops that the host's other ranks may slow down.
  void compute(double flops, record::Work work) const;
  /// Takes flops off the record's that only stand for time: of a straggler.
  void count_less(double flops) const;
  /// Adds a sentence to the run's notes.
  void note(std::string text) const;

  /// The time of this rank that goes to the other ranks of its replica.
  MeshTime& mesh_time() const;

  /// The memory that this rank holds; and the bytes of the numbers that it holds.
  Ledger& memory() const { return *ledger_; }
  NumberBytes number_bytes() const;
  /// Bytes of a copy of so many gradients in buckets: none where gradients are in a buffer, of which buckets are views.
  double bucket_bytes(std::int64_t numbers) const;
  /// Whether its backward passes add their gradients to a buffer in the time that their device takes for it, so that a
  /// sum of micro-batches takes no time besides.
  bool passes_add_up() const;
  /// This rank has so many of the parameters, whatever the length of its vectors: its memory and its updates count
  /// these.
  void has_parameters(std::int64_t count) { own_parameters_ = count; }
  /// The optimizer's vectors, or its share of the parameters too, are in the host's memory, not in the device's.
  void keep_on_host(bool optimizer, bool parameters);
  /// Time of so many bytes over the link between this rank's device and its host. Only where there is one.
  double host_link_s(double bytes) const;
  /// Spends so long, whatever the device.
  void spend(double seconds, record::Work work) const;

  /// The strategy's disks. Only where it has them (Traits::disk).
  const cluster::Storage& disk() const;

  /// Whether the training goes on without a lost worker, and with it once it is back (recovery = "continue").
  bool keeps_going() const;

 protected:
  /// comm: the ranks that it sends to and receives from.
  Participant(Session& session, cluster::Communicator comm);
  int world_rank() const { return comm_.world_rank(comm_.rank()); }
  Session& session() const { return session_; }
  /// The gradient has been applied or sent: no more than its buffer is in memory, if it has one.
  void release_gradients() const;
  /// Sets the rank's step for the texts of errors, and for the draws of codes.
  void set_step(std::int64_t step) const;
  void charge_update(const State& state) const;
  /// The sum of squares of the whole gradient where the update needs its norm and this rank has a part of it.
  virtual values::Tensor squares_of_all(const values::Tensor& /*g*/, const values::Tensor& squares) const {
    return squares;
  }
  /// The work of this rank's gradients: of all of a step at once, or of a pass among others of it.
  RankWork work() const;
  RankWork work(const InStep& pass) const;
  double learning_rate_after(double rounds) const;
  /// Whether the summed gradient is applied: not if a float16 one has overflowed, which halves the loss scale.  g: the
  /// gradient, or the sum of its squares.
  bool applies(const values::Tensor& g) const;
  /// g, or g times clip_norm / (|g| + 1e-6) where |g| is above clip_norm. Source: R. Pascanu, T. Mikolov, Y. Bengio, On
  /// the difficulty of training recurrent neural networks, 2013; PyTorch's clip_grad_norm_, which adds 1e-6 to |g|.
  /// squares: as for `update`.
  values::Tensor clipped(const values::Tensor& g, const values::Tensor& squares = {}) const;
  /// One update at the learning rate of that many rounds, times a factor; takes no time.
  void apply(double rounds, State& state, const values::Tensor& g, double rate_factor = 1.0,
             const values::Tensor& squares = {}) const;

 private:
  void count_memory(const State& state) const;
  double buffer_bytes() const;
  /// The step of the training that an update belongs to.
  std::int64_t step_of(std::int64_t update) const { return update / updates_a_step_; }
  /// The factor of the learning rate in a stage with replicas of its own.
  double rate_of_stage() const;
  /// The numbers of such a vector that this rank has.
  double own_numbers(const values::Tensor& vector) const;

  Session& session_;
  const Learning* learning_;
  cluster::Communicator comm_;
  Ledger* ledger_;
  int updates_a_step_;
  bool optimizer_on_host_ = false, parameters_on_host_ = false;
  std::optional<std::int64_t> own_parameters_;  ///< none: those of its vectors
};

}  // namespace simgrad::training
