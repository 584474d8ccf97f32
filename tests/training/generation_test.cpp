// The ranks of a generation, and the state that each begins with.
#include "training/session/generation.h"

#include "cluster/ranks/peer_lost.h"
#include "training/session_parts.h"

namespace generation_test {

using namespace simgrad::tests;
using simgrad::training::Generation;
using simgrad::training::Holder;
using simgrad::training::Sharding;
using simgrad::training::Snapshots;

TEST_CASE("the members of a generation are the living workers, then the living servers") {
  SessionParts parts;
  const Generation generation = parts.generation({true, false, true, false, true}, 3, Holder::servers);
  CHECK(*generation.members() == std::vector{0, 2, 4});
  CHECK(generation.number() == 0);
  CHECK(generation.workers() == 2);
  CHECK(generation.servers() == 1);
  CHECK(generation.reporters() == 1);
  CHECK(generation.reporter(0) == 4);
  CHECK(generation.place(4) == 0);
}

TEST_CASE("workers that are lost stay members where the others go on, and servers do not") {
  SessionParts parts;
  const Generation generation =
      parts.generation({true, false, false}, 2, Holder::workers, nullptr, nullptr, /*lost_stay=*/true);
  CHECK(*generation.members() == std::vector{0, 1});
  CHECK(generation.reporters() == 2);
  CHECK(generation.place(1) == 1);
}

TEST_CASE("a master, and workers that share their memory, report one state") {
  SessionParts parts;
  for (const Holder holder : {Holder::master, Holder::memory}) {
    const Generation generation = parts.generation({true, true, true}, 3, holder);
    CHECK(generation.reporters() == 1);
    CHECK(generation.place(2) == 0);
  }
}

TEST_CASE("the first generation begins at step 0, each server with its shard") {
  SessionParts parts;
  parts.traits.sharding = Sharding::range;
  const Generation generation = parts.generation({true, true, true}, 1, Holder::servers);
  CHECK(generation.start_step() == 0);
  CHECK(generation.start_state(0).w.size() == 4);
  CHECK(generation.start_state(1).w.size() == 2);
  CHECK(generation.start_state(2).step == 0);
}

TEST_CASE("a later generation begins with the states that were kept, a rank without one with the first rank's") {
  SessionParts parts;
  Snapshots kept;
  kept.keep(0, parts.state({1, 1, 1, 1}, 5), 2);
  kept.keep(2, parts.state({3, 3, 3, 3}, 5), 2);
  const Generation first = parts.generation({true, true, true}, 3, Holder::workers);
  const Generation second = parts.generation({true, true, true}, 3, Holder::workers, &kept, &first);
  CHECK(second.number() == 1);
  CHECK(second.start_step() == 5);
  CHECK(SessionParts::numbers(second.start_state(2).w) == std::vector<double>{3, 3, 3, 3});
  CHECK(SessionParts::numbers(second.start_state(1).w) == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("states that two servers kept are dealt to the one that is left") {
  SessionParts parts;
  parts.traits.sharding = Sharding::range;
  const Generation two = parts.generation({true, true, true}, 1, Holder::servers);
  Snapshots kept;
  kept.keep(1, parts.state({1, 2}, 7), 2);
  kept.keep(2, parts.state({3, 4}, 7), 2);
  const Generation one = parts.generation({true, false, true}, 1, Holder::servers, &kept, &two);
  CHECK(one.servers() == 1);
  CHECK(SessionParts::numbers(one.start_state(2).w) == std::vector<double>{1, 2, 3, 4});
  CHECK(one.start_state(2).step == 7);
}

TEST_CASE("a round is one gradient of every worker") {
  SessionParts parts;
  CHECK(parts.generation({true, true, true}, 3, Holder::workers).rounds(6) == 6.0);  // a step has all gradients
  parts.traits.pace = simgrad::training::Traits::Pace::server_updates;
  parts.traits.gradients_an_update = 1;
  CHECK(parts.generation({true, true, true}, 3, Holder::workers).rounds(6) == 2.0);  // 6 x 1 / 3
  parts.traits.gradients_an_update = 0;
  CHECK(parts.generation({true, true, true}, 3, Holder::workers).rounds(6) == 6.0);
}

TEST_CASE("a start state that crashes have erased names the rank whose memory went last") {
  SessionParts parts;
  Snapshots kept;
  for (const int rank : {0, 1}) kept.keep(rank, parts.state({1, 2, 3, 4}, 3), 2);
  const Generation generation = parts.generation({true, true}, 2, Holder::workers, &kept);
  kept.forget(0);
  kept.forget(1);  // meanwhile rank 0 is back
  try {
    generation.start_state(0);
    FAIL("a state of nobody");
  } catch (const simgrad::cluster::PeerLost& lost) {
    CHECK(lost.rank() == 1);
  }
}

}  // namespace generation_test
