#include "collectives/bcube.h"

#include <vector>

#include "collectives/flat_exchange.h"
#include "collectives/split.h"

namespace simgrad::collectives {

using cluster::Communicator;
using values::Combination;
using values::Tensor;

namespace {

/// The sizes of the groups of each stage; their product is P.
std::vector<int> stages(int P, int base) {
  std::vector<int> sizes;
  while (P > 1) {
    int size = std::min(base, P);
    while (size > 1 && P % size != 0) --size;
    if (size == 1)  // no divisor up to the base: the smallest there is
      for (size = base + 1; P % size != 0;) ++size;
    sizes.push_back(size);
    P /= size;
  }
  return sizes;
}

/// The members of a stage's block, in `size` parts; one group takes a member of each part.
struct Stage {
  int first;  ///< the block's first member
  int part;   ///< members in a part
  int size;   ///< parts
  int own;    ///< the part this member is in

  int peer(int rank, int j) const { return rank + (j - own) * part; }
  Stretch stretch(const Split& split, int j) const { return split.chunks(first + j * part, first + (j + 1) * part); }
};

/// Returns the tensors that the other members of the group send, by part; nothing stands for its own.
template <class Sent>
std::vector<Tensor> exchange(const Communicator& comm, const Stage& stage, Sent sent) {
  std::vector<int> parts, peers;
  for (int j = 0; j < stage.size; ++j)
    if (j != stage.own) {
      parts.push_back(j);
      peers.push_back(stage.peer(comm.rank(), j));
    }
  std::vector<Tensor> received = exchange_at_once(comm, peers, [&](std::size_t place) { return sent(parts[place]); });
  received.insert(received.begin() + stage.own, Tensor());
  return received;
}

}  // namespace

void BCube::describe(base::Describer& d) {
  d.integer("base", base, "members of a group, where the factors of P allow it", base::Bounds::between(2, 1024));
}

Tensor BCube::combine(const Communicator& comm, Tensor x, Combination how) const {
  const int P = comm.size();
  const Split split(x.size(), P);
  Tensor own = x;
  Stretch held = split.whole();  // the stretch that `own` covers
  std::vector<Stage> done;
  int first = 0;
  int members = P;
  for (const int size : stages(P, static_cast<int>(base))) {
    const int part = members / size;
    const Stage stage{first, part, size, (comm.rank() - first) / part};
    const auto mine = [&](int j) {
      const Stretch wanted = stage.stretch(split, j);
      return values::slice(own, wanted.first - held.first, wanted.count);
    };
    std::vector<Tensor> terms = exchange(comm, stage, mine);
    terms[static_cast<std::size_t>(stage.own)] = mine(stage.own);
    held = stage.stretch(split, stage.own);
    comm.charge_reduction(static_cast<double>((size - 1) * held.count));
    own = terms.front();
    for (std::size_t j = 1; j < terms.size(); ++j) own = values::combine(how, own, terms[j]);
    first += stage.own * part;
    members = part;
    done.push_back(stage);
  }
  for (auto stage = done.rbegin(); stage != done.rend(); ++stage) {
    std::vector<Tensor> parts = exchange(comm, *stage, [&](int) { return own; });
    parts[static_cast<std::size_t>(stage->own)] = own;
    own = values::concatenate(parts);
  }
  return own;
}

}  // namespace simgrad::collectives
