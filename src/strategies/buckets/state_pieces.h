/// A training's state in pieces that are updated one by one, by an optimizer that works element by element.
#pragma once

#include <cstdint>
#include <vector>

#include "strategies/strategy.h"

namespace simgrad::strategies {

class StatePieces {
 public:
  /// lengths: of the pieces, one behind the other; together they are the state's w. The state has no vectors of the
  /// strategy.
  StatePieces(const State& state, const std::vector<std::int64_t>& lengths);

  std::size_t count() const { return pieces_.size(); }
  State& operator[](std::size_t piece) { return pieces_[piece]; }
  const State& operator[](std::size_t piece) const { return pieces_[piece]; }
  /// The whole, once all pieces are after equally many updates.
  State joined() const;

 private:
  std::vector<State> pieces_;
};

}  // namespace simgrad::strategies
