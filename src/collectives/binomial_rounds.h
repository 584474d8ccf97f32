/// The partners in the rounds of a binomial tree, members counted from the root on.
#pragma once

#include <bit>
#include <cstdint>

#include "collectives/schedule.h"

namespace simgrad::collectives {

class BinomialRounds {
 public:
  BinomialRounds(int P, int root) : P_(P), root_(root) {}

  int count() const { return std::bit_width(static_cast<unsigned>(P_ - 1)); }

  /// A member's place in a round in which pairs are `distance` apart: the lower one is nearer to the root.
  struct Pair {
    int upper = Exchange::nobody;  ///< my partner, if I am the lower one
    int lower = Exchange::nobody;  ///< my partner, if I am the upper one
    int first = 0;                 ///< the upper one's number from the root on: the first member that it stands for
    int end = 0;                   ///< one past the last member that it stands for
  };
  Pair pair(int distance, int member) const {
    const int v = (member - root_ + P_) % P_;
    Pair pair;
    if (v % (2 * distance) == 0 && v + distance < P_) {
      pair.upper = rank(v + distance);
      pair.first = v + distance;
    } else if (v % (2 * distance) == distance) {
      pair.lower = rank(v - distance);
      pair.first = v;
    }
    pair.end = pair.first + distance < P_ ? pair.first + distance : P_;
    return pair;
  }
  int rank(int v) const { return (v + root_) % P_; }

 private:
  int P_;
  int root_;
};

}  // namespace simgrad::collectives
