/// The gathers of a stream of units.
#include "base/errors.h"
#include "cluster/ranks/ranks.h"
#include "collectives/ring.h"
#include "strategies/sharded/tied_gather.h"
#include "strategies/sharded/unit_stream.h"

namespace simgrad::strategies {

using cluster::Communicator;
using record::MemoryPart;

void UnitStream::enter(std::size_t unit) {
  const std::size_t visit = entered_++;
  base::check(visits_[visit] == unit, "units are visited in the order that was given");
  latest_visit_[unit] = visit;
  for (; started_ < ends_[visit]; ++started_)
    if (gathers(started_)) gather(started_);
  if (gather_tasks_[visit] >= 0) stream_.wait_until_over(gather_tasks_[visit]);
}

void UnitStream::leave(std::size_t unit) {
  const bool stays = !options_.reshard_after_forward && !visits_.last(latest_visit_[unit]);
  if (!stays && options_.group > 1)
    worker_.memory().release(MemoryPart::gathered, parameter_bytes(numbers(latest_visit_[unit])));
}

void UnitStream::gather(std::size_t visit) {
  const std::size_t u = visits_[visit];
  const Stretch chunk = chunks_[u];
  if (options_.group > 1) worker_.memory().hold(MemoryPart::gathered, parameter_bytes(numbers(visit)));
  const std::int64_t embedding = numbers(visit) - units_[u].count;
  const std::int64_t shard = chunk.count + collectives::ring_shard(embedding, options_.group, member_).count;
  const double up_s = options_.host.takes_parameters() ? worker_.host_link_s(parameter_bytes(shard)) : 0.0;
  if (up_s > 0.0)
    stream_.start([up_s](const Communicator&) {
      cluster::pause(up_s);  // from the host's memory
      return Tensor();
    });
  if (embedding > 0) return gather_with_embedding(visit, own_.take(shard_, chunk), embedding);
  const auto gathers = [beside = beside_, own = own_.take(shard_, chunk), count = units_[u].count,
                        rings = options_.rings](const Communicator&) {
    return collectives::gather_shards(*beside->inside, own, count, rings);
  };
  gather_tasks_[visit] = stream_.start_collective(
      gathers, [beside = beside_, u](Tensor unit) { return beside->gathered[u] = std::move(unit); });
}

/// The embedding is that of unit 0, or a copy of it, which is a unit that no pass visits.
void UnitStream::gather_with_embedding(std::size_t visit, const Tensor& own, std::int64_t embedding) {
  const std::size_t u = visits_[visit];
  const bool anew = !visits_.visited(0);
  const TiedGather tied(options_.group, units_[u].count, embedding, anew);
  const Tensor shared = anew ? own_.take(shard_, chunks_.front()) : beside_->gathered.front();
  gather_tasks_[visit] = stream_.start_collective(
      [beside = beside_, tied, own, shared, member = member_, rings = options_.rings](const Communicator&) {
        const Communicator& inside = *beside->inside;
        // Both in the format in which they travel: parts of two formats would go as they are.
        const Tensor brought = tied.brought(member, inside.on_wire(own), inside.on_wire(shared));
        return collectives::all_gather(inside, brought, tied.lengths(), rings);
      },
      [beside = beside_, tied, anew, u](const Tensor& all) {
        if (anew) beside->gathered.front() = tied.embedding(all);
        return beside->gathered[u] = tied.head(all);
      });
}

}  // namespace simgrad::strategies
