/// The exchanges of a segment's steps among the ranks that share it: at once, or beside its work.
#include "strategies/parallel/segment_passes.h"
#include "training/parts/along_scope.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using models::Step;
using training::AlongScope;

/// The numbers of all ranks that share the unit, as the next step reads them.
Tensor SegmentPasses::exchanged(const Step& step, const Tensor& numbers, std::int64_t rows) const {
  const Communicator* const comm = sharing_.among(step.among);
  if (!comm || step.then == Step::Then::nothing) return numbers;
  const AlongScope timed(worker_.mesh_use(), *comm, dimension_of(step.among));
  return Exchange(step.then, rows)(*comm, numbers);
}

/// Likewise, beside work: that on the numbers of n - 1 ranks, then that on the last ones.
Tensor SegmentPasses::beside(const At& at, const Step& step, const Tensor& numbers) {
  const Communicator& comm = *sharing_.among(step.among);
  cluster::SideStream& stream = *streams_[static_cast<std::size_t>(step.among)];
  const Exchange exchange(step.then, at.micro.passes.rows());
  const int members = comm.size();
  const int task =
      stream.start_collective([exchange, sent = exchange.sent(numbers, members)](const Communicator& of_side) {
        return exchange.collective(of_side, sent);
      });
  at.micro.passes.more(at.chunk, at.segment, at.backward, step.beside * (members - 1) / members);
  Tensor all;
  {
    const AlongScope timed(worker_.mesh_use(), comm, dimension_of(step.among));
    all = exchange.received(stream.wait(task), members);
  }
  at.micro.passes.more(at.chunk, at.segment, at.backward, step.beside / members);
  return all;
}

/// Waits for what a step gathers beside the segment's work.
void SegmentPasses::finish_gathering(At& at) {
  if (!at.gathering) return;
  const Step& step = at.its.backward[at.made.size() - 1];
  const Communicator& comm = *sharing_.among(step.among);
  const AlongScope timed(worker_.mesh_use(), comm, dimension_of(step.among));
  at.made.back() = Exchange(step.then, at.micro.passes.rows())
                       .received(streams_[static_cast<std::size_t>(step.among)]->wait(*at.gathering), comm.size());
  at.gathering.reset();
}

}  // namespace simgrad::strategies
