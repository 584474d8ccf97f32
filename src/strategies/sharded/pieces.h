/// The parameters in pieces, each of which is cut into a chunk for every member of a group.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/split.h"
#include "models/cut_model.h"
#include "strategies/buckets/buckets.h"
#include "strategies/strategy.h"
#include "training/learning/units.h"

namespace simgrad::cluster {
class Communicator;
}

namespace simgrad::strategies {

/// The units of the model.
std::vector<Stretch> stretches_of(std::span<const training::ModelUnit> units);

/// Member r's shard is its chunk of every piece, one behind the other; chunks as collectives::ring_shard cuts them.
class Pieces {
 public:
  /// pieces: in ascending order; together they are w.
  Pieces(std::vector<Stretch> pieces, int members) : pieces_(std::move(pieces)), members_(members) {}

  const std::vector<Stretch>& stretches() const { return pieces_; }
  std::size_t count() const { return pieces_.size(); }
  int members() const { return members_; }
  const Stretch& operator[](std::size_t i) const { return pieces_[i]; }
  /// The member's chunk of each piece, in its shard.
  std::vector<Stretch> chunks(int member) const;
  /// w: (d).  Returns the member's shard of it.
  Tensor shard(const Tensor& w, int member) const;
  /// Where these stretches of w, ascending, stand in the member's shard, as far as it has them.
  std::vector<models::ParameterStretch> in_shard(int member, std::span<const models::ParameterStretch> of_w) const;
  /// The vector of all members' shards; shards of further members are not looked at.
  Tensor whole(std::span<const Tensor> shards) const;

 private:
  std::vector<Stretch> pieces_;
  int members_;
};

/// The state of a member that holds a shard: its part of the fresh state, or its own as it was restored.
State sharded(State started, const Pieces& pieces, int member, const Worker& worker);

/// The sum of squares of the gradient, where the update needs its norm; else nothing. On a mesh that of this part, of
/// which other ranks count some.  g: this member's shard.  sharers: the members who share the parameters.  Returns (1).
/// Virtual time: T_recursive_doubling of one float64.
Tensor squares_of_whole(const Worker& worker, const cluster::Communicator& sharers, const Pieces& pieces, int member,
                        const Tensor& g);

/// The reason why shards cannot be updated apart, or nothing.
std::optional<Refusal> sharding_refusal(const Circumstances& circumstances);

}  // namespace simgrad::strategies
