#include "strategies/sharded/pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/butterfly.h"
#include "collectives/ring.h"
#include "strategies/circumstances.h"
#include "training/learning/clipping.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using collectives::ring_shard;

std::vector<Stretch> stretches_of(std::span<const training::ModelUnit> units) {
  std::vector<Stretch> stretches;
  for (const training::ModelUnit& unit : units) stretches.push_back({unit.first, unit.count});
  return stretches;
}

std::vector<Stretch> Pieces::chunks(int member) const {
  std::vector<Stretch> all;
  for (const Stretch& piece : pieces_)
    all.push_back({all.empty() ? 0 : all.back().end(), ring_shard(piece.count, members_, member).count});
  return all;
}

Tensor Pieces::shard(const Tensor& w, int member) const {
  std::vector<Tensor> chunks;
  for (const Stretch& piece : pieces_) {
    const Stretch chunk = ring_shard(piece.count, members_, member);
    chunks.push_back(values::slice(w, piece.first + chunk.first, chunk.count));
  }
  return values::concatenate(chunks);
}

std::vector<models::ParameterStretch> Pieces::in_shard(int member,
                                                       std::span<const models::ParameterStretch> of_w) const {
  std::vector<models::ParameterStretch> all;
  std::int64_t at = 0;  // in the shard
  for (const Stretch& piece : pieces_) {
    const Stretch chunk = ring_shard(piece.count, members_, member);
    const std::int64_t begin = piece.first + chunk.first, end = begin + chunk.count;
    for (const models::ParameterStretch& stretch : of_w) {
      const std::int64_t from = std::max(begin, stretch.first), to = std::min(end, stretch.first + stretch.count);
      if (from < to) all.push_back({at + from - begin, to - from});
    }
    at += chunk.count;
  }
  return all;
}

Tensor Pieces::whole(std::span<const Tensor> shards) const {
  std::vector<std::int64_t> at(static_cast<std::size_t>(members_));
  std::vector<Tensor> pieces;
  for (const Stretch& piece : pieces_) {
    std::vector<Tensor> chunks(static_cast<std::size_t>(members_));
    for (int member = 0; member < members_; ++member) {
      const auto m = static_cast<std::size_t>(member);
      const std::int64_t count = ring_shard(piece.count, members_, member).count;
      chunks[(m + 1) % chunks.size()] = values::slice(shards[m], at[m], count);
      at[m] += count;
    }
    pieces.push_back(values::concatenate(chunks));
  }
  return values::concatenate(pieces);
}

State sharded(State started, const Pieces& pieces, int member, const Worker& worker) {
  if (worker.resumes() || pieces.members() == 1) return started;  // one member's shard is the whole
  State state{.w = pieces.shard(started.w, member), .step = started.step};
  worker.optimizer().start(state);
  return state;
}

Tensor squares_of_whole(const Worker& worker, const cluster::Communicator& sharers, const Pieces& pieces, int member,
                        const Tensor& g) {
  if (!worker.needs_norm()) return {};
  const std::vector<models::ParameterStretch> elsewhere = pieces.in_shard(member, worker.counted_elsewhere());
  return collectives::RecursiveDoubling()(sharers.unrounded(), training::sum_of_squares(g, elsewhere));
}

std::optional<Refusal> sharding_refusal(const Circumstances& circumstances) {
  if (circumstances.optimizer.elementwise()) return {};
  return Refusal{"kind", fmt::format("each worker updates its shard alone, but under optimizer = \"{}\" the update of "
                                     "one parameter depends on others, which other workers have; take an optimizer "
                                     "that works element by element, or strategy allreduce",
                                     circumstances.optimizer_kind)};
}

}  // namespace simgrad::strategies
