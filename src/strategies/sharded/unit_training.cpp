#include "strategies/sharded/unit_training.h"

#include <utility>

#include "collectives/lengths.h"
#include "collectives/ring.h"
#include "strategies/micro_batches.h"
#include "strategies/sharded/unit_stream.h"
#include "training/learning/learning.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using training::MicroBatch;
using training::ModelUnit;

namespace {

/// The passes of a step's micro-batches: parameters come from a stream, and gradients go to it.
class StepUnits final : public training::UnitVisitor {
 public:
  StepUnits(const Worker& worker, UnitStream& stream, const Pieces& units, const UnitOptions& options)
      : worker_(worker),
        stream_(stream),
        units_(units),
        no_sync_(options.no_sync),
        sums_once_(options.no_sync && options.micro_batches > 1) {}

  void begin(const Tensor& shard, MicroBatch micro) {
    if (micro.part == 0) not_summed_ = {};
    reduces_ = !sums_once_ || micro.last();
    stream_.begin(shard, micro.part == 0);
    const bool of_all = no_sync_ && worker_.adds_up_micro_batches();
    if (sums_once_ || of_all) stream_.keep_gradients(of_all);
  }
  /// Returns this member's shard of the sum over all workers; nothing where it is left to a later micro-batch.
  Tensor reduced() {
    if (!reduces_) not_summed_ = not_summed_ ? not_summed_ + made_ : made_;
    return stream_.reduced();
  }

  void enter(std::size_t unit) override { stream_.enter(unit); }
  void leave(std::size_t unit) override { stream_.leave(unit); }
  Tensor parameters(std::size_t unit) const override { return stream_.parameters(unit); }
  bool takes_each_micro_batch() const override { return !no_sync_; }
  void make_gradient(std::size_t unit) override { stream_.make_gradient(unit); }
  void complete(std::size_t unit, const Tensor& g) override {
    made_ = g;
    const Stretch& stretch = units_[unit];
    Tensor sum = not_summed_ ? values::slice(not_summed_, stretch.first, stretch.count) : Tensor();
    accumulate(worker_, sum, of_units_.take(g, stretch));
    if (reduces_) stream_.reduce(unit, sum);
  }

 private:
  const Worker& worker_;
  UnitStream& stream_;
  const Pieces& units_;
  bool no_sync_;    ///< micro-batches of a mesh are added up before they are summed over the workers
  bool sums_once_;  ///< a step's micro-batches are summed over the workers together
  bool reduces_ = true;
  collectives::Stretches of_units_;
  Tensor made_;        ///< the gradient of the micro-batch
  Tensor not_summed_;  ///< of micro-batches that are not summed over the workers
};

}  // namespace

void train_by_units(Worker& worker, const UnitOptions& options) {
  const Pieces pieces(stretches_of(worker.learning().units()), options.group);
  UnitStream stream(worker, pieces, options);
  StepUnits units(worker, stream, pieces, options);
  worker.keep_gradients(false);
  worker.keep_on_host(options.host.takes_optimizer(), options.host.takes_parameters());
  State state = sharded(worker.start(), pieces, stream.member(), worker);
  const cluster::Communicator sharers = stream.sharers(worker.comm());
  while (worker.continues(state)) {
    Tensor g;  // this worker's shard of the sum over all workers
    for (const MicroBatch micro : micro_batches_of(options.micro_batches)) {
      units.begin(state.w, micro);
      worker.gradient(units, micro);
      if (const Tensor reduced = units.reduced()) accumulate(worker, g, reduced);
    }
    options.host.update(worker, state, g, squares_of_whole(worker, sharers, pieces, stream.member(), g));
  }
}

Tensor gathered(const cluster::Communicator& comm, const Pieces& pieces, const Tensor& shard,
                const collectives::Rings& rings) {
  std::vector<Tensor> all;
  const std::vector<Stretch> chunks = pieces.chunks(comm.rank());
  for (std::size_t i = 0; i < pieces.count(); ++i) {
    const Stretch chunk = chunks[i];
    if (pieces[i].count == 0) continue;
    all.push_back(
        collectives::gather_shards(comm, values::slice(shard, chunk.first, chunk.count), pieces[i].count, rings));
  }
  return all.empty() ? values::slice(shard, 0, 0) : values::concatenate(all);
}

Traits sharded_traits(int members, std::function<std::vector<Stretch>(const training::Learning&)> pieces) {
  return {.replicas_differ = true,
          .state_shards = members,
          .recoveries = {cluster::Recovery::restart},  // a lost worker's shard is in the last checkpoint alone
          .assembly = [members, pieces = std::move(pieces)](const std::vector<Tensor>& shards,
                                                            const training::Learning& learning) -> Tensor {
            const values::Dispatcher& dispatcher = learning.dispatcher();
            if (!dispatcher.numbers() && !dispatcher.lineages()) return learning.initial_values();
            return Pieces(pieces(learning), members).whole(shards);
          }};
}

}  // namespace simgrad::strategies
