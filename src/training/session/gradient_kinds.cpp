#include "training/session/gradient_kinds.h"

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"
#include "training/learning/rank_work.h"
#include "training/session/session.h"
#include "training/session/tally.h"

namespace simgrad::training {

using record::GradientPart;
using record::GradientTimes;

namespace {

GradientTimes as_recorded(const KindTimes& times) {
  GradientTimes recorded;
  recorded[GradientPart::products] = times.products;
  recorded[GradientPart::attention] = times.attention;
  recorded[GradientPart::elementwise] = times.elementwise;
  return recorded;
}

}  // namespace

void GradientKinds::add(int rank, const cluster::Device& device, const RankWork& work, std::int64_t rows) {
  const auto [known, is_new] =
      known_.try_emplace({&device, work.layers(), rows, work.passes().sum_bytes, work.passes().casts});
  if (is_new) known->second = work.by_kind(rows);
  add(rank, known->second);
}

void GradientKinds::add(int rank, const KindTimes& times) {
  const auto place = static_cast<std::size_t>(rank);
  if (sums_.size() <= place) sums_.resize(place + 1);
  sums_[place] += times;
}

void GradientKinds::repeat(const std::vector<int>& of) {
  sums_.resize(of.size());
  for (std::size_t rank = 0; rank < of.size(); ++rank) sums_[rank] = sums_[static_cast<std::size_t>(of[rank])];
}

void GradientKinds::fill(record::Record& record) const {
  KindTimes all;
  double workers = 0.0;
  bool known = true;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    record::RankUse& rank_use = record.ranks[rank];
    if (rank_use.role != "worker") continue;
    workers += 1.0;
    const KindTimes sums = rank < sums_.size() ? sums_[rank] : KindTimes();
    known = known && sums.sum() > 0.0;
    if (!(sums.sum() > 0.0)) continue;
    const KindTimes spent = sums * (rank_use.parts[record::TimePart::compute_gradient] / sums.sum());
    rank_use.gradient = as_recorded(spent);
    all += spent;
  }
  if (known && workers > 0.0) record.gradient = as_recorded(all * (1.0 / workers));
}

void count_gradient(Session& session, int rank, const RankWork& work, std::int64_t rows) {
  const cluster::World& world = session.world();
  if (const cluster::Device* const device = world.cluster().device(world.host(rank)))
    session.tally().gradient_kinds().add(rank, *device, work, rows);
}

/// A task's layers go with the actor of a rank that is lost, and others may take their place in memory.
void count_task_gradient(Session& session, int rank, const RankWork& work, std::int64_t rows) {
  const cluster::World& world = session.world();
  if (world.cluster().device(world.host(rank))) session.tally().gradient_kinds().add(rank, work.by_kind(rows));
}

}  // namespace simgrad::training
