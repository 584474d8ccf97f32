#include "collectives/butterfly.h"

#include <bit>
#include <vector>

namespace simgrad::collectives {

using values::Combination;
using values::Tensor;

namespace {

/// The core of 2^k members does the work. The others are the even ones of the first 2 beyond_ members: each hands its
/// vector to its neighbour before, and receives the result from it after.
class Butterfly : public JointSchedule {
 public:
  Butterfly(const Extent& x, int P)
      : JointSchedule(Split(x, std::bit_floor(static_cast<unsigned>(P)))),
        core_(split().chunks()),
        beyond_(P - core_),
        lg_(std::bit_width(static_cast<unsigned>(core_)) - 1) {}

  int rounds() const final { return core_rounds() + (beyond_ > 0 ? 2 : 0); }

  Exchange exchange(int round, int r) const final {
    const bool paired = r < 2 * beyond_, in_core = !paired || r % 2 == 1;
    const bool before = beyond_ > 0 && round == 0, after = beyond_ > 0 && round == rounds() - 1;
    if (!before && !after) return in_core ? core_exchange(round - (beyond_ > 0 ? 1 : 0), r) : Exchange{};
    if (!paired) return {};
    const Stretch all = split().whole();
    if (before) return in_core ? receiving(r - 1, all, true) : sending(r + 1, all);
    return in_core ? sending(r - 1, all) : receiving(r + 1, all, false);
  }

  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const final {
    const std::size_t P = brought.size();
    return std::vector(P, total(brought, how, 0, core_));
  }

 protected:
  /// The stretches that a member of the core sends and receives in a round.
  struct Parts {
    Stretch sent, received;
    bool reduce = false;
  };

  virtual int core_rounds() const = 0;
  /// The one bit in which the places of a round's partners differ.
  virtual int bit(int round) const = 0;
  /// place, other: of the member and of its partner in the core.
  virtual Parts parts(int round, int place, int other) const = 0;

  int core() const { return core_; }
  int lg() const { return lg_; }

 private:
  static Exchange sending(int target, Stretch what) { return {.target = target, .sent = what}; }
  static Exchange receiving(int source, Stretch what, bool reduce) {
    return {.source = source, .received = what, .reduce = reduce};
  }

  int member_at(int place) const { return place < beyond_ ? 2 * place + 1 : place + beyond_; }
  int place_of(int member) const { return member < 2 * beyond_ ? member / 2 : member - beyond_; }

  Exchange core_exchange(int round, int r) const {
    const int place = place_of(r), other = place ^ (1 << bit(round)), partner = member_at(other);
    const Parts round_parts = parts(round, place, other);
    return {.target = partner,
            .sent = round_parts.sent,
            .source = partner,
            .received = round_parts.received,
            .reduce = round_parts.reduce};
  }

  /// The vectors of `size` places of the core, from `first` on, combined; the last exchanges are outermost, and those
  /// are of the farthest. A tensor that is done with is released, so that little is held.
  Tensor total(std::vector<Tensor>& x, Combination how, int first, int size) const {
    if (size > 1) {
      const Tensor one = total(x, how, first, size / 2);
      return values::combine(how, one, total(x, how, first + size / 2, size / 2));
    }
    const auto at = static_cast<std::size_t>(member_at(first));
    const Tensor own = std::move(x[at]);
    return first < beyond_ ? values::combine(how, own, std::move(x[at - 1])) : own;
  }

  int core_;
  int beyond_;
  int lg_;
};

class Doubling final : public Butterfly {
 public:
  using Butterfly::Butterfly;
  std::string_view name() const override { return "recursive_doubling"; }

 protected:
  int core_rounds() const override { return lg(); }
  int bit(int round) const override { return round; }
  Parts parts(int /*round*/, int /*place*/, int /*other*/) const override {
    return {.sent = split().whole(), .received = split().whole(), .reduce = true};
  }
};

class Halving final : public Butterfly {
 public:
  using Butterfly::Butterfly;
  std::string_view name() const override { return "rabenseifner"; }

 protected:
  int core_rounds() const override { return 2 * lg(); }
  /// The largest halves go to the nearest.
  int bit(int round) const override { return round < lg() ? round : 2 * lg() - 1 - round; }
  Parts parts(int round, int place, int other) const override {
    const bool reduce = round < lg();
    const Stretch own = part(place, bit(round) + 1), others = part(other, bit(round) + 1);
    return {.sent = reduce ? others : own, .received = reduce ? own : others, .reduce = reduce};
  }

 private:
  /// The chunks that a place is responsible for after so many halvings: its lowest bit says which half of the vector,
  /// the next one which half of this half.
  Stretch part(int place, int halvings) const {
    int first = 0;
    for (int k = 0; k < halvings; ++k) first += (place >> k & 1) * (core() >> (k + 1));
    return split().chunks(first, first + (core() >> halvings));
  }
};

}  // namespace

std::shared_ptr<const JointSchedule> RecursiveDoubling::schedule(const Extent& x, int P) const {
  return std::make_shared<Doubling>(x, P);
}

std::shared_ptr<const JointSchedule> Rabenseifner::schedule(const Extent& x, int P) const {
  return std::make_shared<Halving>(x, P);
}

}  // namespace simgrad::collectives
