#include "strategies/sharded/unit_training.h"

#include <utility>

#include "collectives/ring.h"
#include "strategies/micro_batches.h"
#include "strategies/sharded/unit_stream.h"
#include "training/learning/learning.h"
#include "training/passes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using training::MicroBatch;
using training::ModelUnit;
using training::Passes;

void train_by_units(Worker& worker, const UnitOptions& options) {
  const std::vector<ModelUnit>& units = worker.learning().units();
  const std::size_t U = units.size();
  const Pieces pieces(stretches_of(units), options.group);
  UnitStream stream(worker, pieces, options);
  worker.keep_on_host(options.host.takes_optimizer(), options.host.takes_parameters());
  State state = sharded(worker.start(), pieces, stream.member(), worker);
  const cluster::Communicator sharers = stream.sharers(worker.comm());
  collectives::Stretches of_units;
  const bool whole_gradient = options.no_sync && options.micro_batches > 1;
  while (worker.continues(state)) {
    Tensor g;           // this worker's shard of the sum over all workers
    Tensor not_summed;  // of micro-batches that are not summed over the workers
    for (const MicroBatch micro : micro_batches_of(options.micro_batches)) {
      Passes passes(worker, micro);
      stream.begin(state.w);
      if (whole_gradient) stream.keep_whole_gradient();
      for (std::size_t k = 0; k < U; ++k) {
        stream.enter(k);
        passes.forward(units[k]);
        stream.leave(k);
      }
      const Tensor part = passes.gradient(stream.parameters());
      for (std::size_t k = U; k-- > 0;) {
        stream.enter(2 * U - 1 - k);
        if (!whole_gradient) stream.make_gradient(k);
        passes.backward(units[k]);
        stream.leave(2 * U - 1 - k);
        Tensor sum = not_summed ? values::slice(not_summed, units[k].first, units[k].count) : Tensor();
        accumulate(worker, sum, of_units.take(part, pieces[k]));
        if (!options.no_sync || micro.last()) stream.reduce(k, sum);
      }
      if (options.no_sync && !micro.last()) not_summed = not_summed ? not_summed + part : part;
      if (const Tensor reduced = stream.reduced()) accumulate(worker, g, reduced);
    }
    options.host.update(worker, state, g, squares_of_whole(worker, sharers, g));
  }
}

Tensor gathered(const cluster::Communicator& comm, const Pieces& pieces, const Tensor& shard) {
  std::vector<Tensor> all;
  const std::vector<Stretch> chunks = pieces.chunks(comm.rank());
  for (std::size_t i = 0; i < pieces.count(); ++i) {
    const Stretch chunk = chunks[i];
    all.push_back(collectives::gather_shards(comm, values::slice(shard, chunk.first, chunk.count), pieces[i].count));
  }
  return values::concatenate(all);
}

Traits sharded_traits(int members, std::function<std::vector<Stretch>(const training::Learning&)> pieces) {
  return {.replicas_differ = true,
          .state_shards = members,
          .recoveries = {cluster::Recovery::restart},  // a lost worker's shard is in the last checkpoint alone
          .assembly = [members, pieces = std::move(pieces)](const std::vector<Tensor>& shards,
                                                            const training::Learning& learning) -> Tensor {
            if (!learning.scores()) return learning.initial_values();
            return Pieces(pieces(learning), members).whole(shards);
          }};
}

}  // namespace simgrad::strategies
