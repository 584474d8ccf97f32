#include "collectives/butterfly.h"

#include <bit>
#include <vector>

namespace simgrad::collectives {

using values::Combination;
using values::Tensor;

namespace {

/// The core of 2^k members does the work; members beyond it send their vectors before and receive the result after.
class Butterfly : public JointSchedule {
 public:
  Butterfly(const Extent& x, int P)
      : JointSchedule(Split(x, std::bit_floor(static_cast<unsigned>(P)))),
        core_(split().chunks()),
        beyond_(P - core_),
        lg_(std::bit_width(static_cast<unsigned>(core_)) - 1) {}

  int rounds() const final { return core_rounds() + (beyond_ > 0 ? 2 : 0); }

  Exchange exchange(int round, int r) const final {
    if (beyond_ == 0) return core_exchange(round, r);
    const Stretch all = split().whole();
    const bool first = round == 0;
    if (!first && round <= core_rounds()) return r < core_ ? core_exchange(round - 1, r) : Exchange{};
    if (r >= core_) return first ? sending(r - core_, all) : receiving(r - core_, all, false);
    if (r >= beyond_) return {};
    return first ? receiving(r + core_, all, true) : sending(r + core_, all);
  }

  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const final {
    const std::size_t P = brought.size();
    return std::vector(P, total(brought, how, 0, 1));
  }

 protected:
  virtual int core_rounds() const = 0;
  virtual Exchange core_exchange(int round, int r) const = 0;
  /// Whether the first partners are the nearest.
  virtual bool nearest_first() const = 0;

  static Exchange sending(int target, Stretch what) { return {.target = target, .sent = what}; }
  static Exchange receiving(int source, Stretch what, bool reduce) {
    return {.source = source, .received = what, .reduce = reduce};
  }

  int core() const { return core_; }
  int lg() const { return lg_; }

 private:
  /// The members that agree with `first` modulo `step` (nearest first: that lie in first's stretch of core/step)
  /// combined, the last exchanges outermost. A tensor that is done with is released, so that little is held.
  Tensor total(std::vector<Tensor>& x, Combination how, int first, int step) const {
    const auto at = static_cast<std::size_t>(first);
    if (step == core_) {
      const Tensor own = std::move(x[at]);
      return first < beyond_ ? values::combine(how, own, std::move(x[at + static_cast<std::size_t>(core_)])) : own;
    }
    const int other = first + (nearest_first() ? core_ / step / 2 : step);
    const Tensor one = total(x, how, first, 2 * step);
    return values::combine(how, one, total(x, how, other, 2 * step));
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
  bool nearest_first() const override { return true; }
  Exchange core_exchange(int round, int r) const override {
    const int partner = r ^ (1 << round);
    return {.target = partner, .sent = split().whole(), .source = partner, .received = split().whole(), .reduce = true};
  }
};

class Halving final : public Butterfly {
 public:
  using Butterfly::Butterfly;
  std::string_view name() const override { return "rabenseifner"; }

 protected:
  int core_rounds() const override { return 2 * lg(); }
  bool nearest_first() const override { return false; }
  /// After k halvings a member is responsible for the chunks of all whose first k bits are its own.
  Exchange core_exchange(int round, int r) const override {
    const bool reduce = round < lg();
    const int halvings = reduce ? round + 1 : 2 * lg() - round;  // halvings that led to the part
    const int partner = r ^ (core() >> halvings);
    const Stretch own = part(r, halvings);
    const Stretch others = part(partner, halvings);
    return {.target = partner,
            .sent = reduce ? others : own,
            .source = partner,
            .received = reduce ? own : others,
            .reduce = reduce};
  }

 private:
  Stretch part(int r, int halvings) const {
    const int size = core() >> halvings;
    const int first = r / size * size;
    return split().chunks(first, first + size);
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
