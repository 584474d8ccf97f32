#include "cluster/ranks/equal_work.h"

#include <exception>
#include <optional>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/timekeeper.h"

namespace simgrad::cluster {

namespace sg4 = simgrid::s4u;

/// A rank whose main actor blocks in compute(), on whose stack this is.
struct EqualWork::Member {
  int rank;
  std::span<const WorkPiece> pieces;
  const Over& over;
  std::optional<BusyScope> computing = {};
};

struct EqualWork::Group {
  std::vector<Member*> members;  ///< the first one's actor sleeps for all
  bool open = true;              ///< its first piece is under way
  sg4::SemaphorePtr all_over = sg4::Semaphore::create(0);
};

std::size_t EqualWork::begin(Member& member, std::span<const double> seconds, std::size_t piece) const {
  for (; piece < seconds.size(); ++piece) {
    if (seconds[piece] > 0.0) {
      member.computing.emplace(cluster_, &timekeeper_.main(member.rank), SpanLabel{.work = member.pieces[piece].work});
      return piece;
    }
    member.over(piece);
  }
  return piece;
}

void EqualWork::end(Member& member, std::size_t piece) const {
  member.computing.reset();
  ranks_.count_flops(member.pieces[piece].flops);
  member.over(piece);
}

void EqualWork::carry(Group& group, std::span<const double> seconds, std::size_t piece) const {
  while (piece < seconds.size()) {
    sg4::this_actor::sleep_for(seconds[piece]);
    group.open = false;
    std::size_t next = piece;
    for (Member* const member : group.members) try {
        end(*member, piece);
        next = begin(*member, seconds, piece + 1);
      } catch (const std::exception& error) {  // the guard around this actor would name its own rank
        ranks_.fail(member->rank, error.what());
        throw;
      }
    piece = next;
  }
  for (std::size_t other = 1; other < group.members.size(); ++other) group.all_over->release();
}

void EqualWork::compute(int rank, std::span<const WorkPiece> pieces, const Over& over) {
  std::vector<double> seconds;
  seconds.reserve(pieces.size());
  for (const WorkPiece& piece : pieces) seconds.push_back(ranks_.nominal_s(rank, piece.flops));
  Member self{.rank = rank, .pieces = pieces, .over = over};
  const std::size_t first = begin(self, seconds, 0);
  if (first == seconds.size()) return;
  if (const double now_s = cluster_.now(); std::exchange(now_s_, now_s) != now_s) groups_.clear();
  std::shared_ptr<Group>& known = groups_[seconds];
  if (const std::shared_ptr<Group> group = known; group && group->open) {
    group->members.push_back(&self);
    return group->all_over->acquire();
  }
  const std::shared_ptr<Group> own = known = std::make_shared<Group>();
  own->members.push_back(&self);
  carry(*own, seconds, first);
}

}  // namespace simgrad::cluster
