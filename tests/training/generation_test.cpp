// The ranks of a generation, and the state that each begins with.
#include "training/session/generation.h"

#include "cluster/ranks/peer_lost.h"
#include "training/parts/model_parts.h"
#include "training/session_parts.h"

namespace generation_test {

using namespace simgrad::tests;
using simgrad::training::Dimension;
using simgrad::training::Generation;
using simgrad::training::Holder;
using simgrad::training::Sharding;
using simgrad::training::Snapshots;

namespace {

/// A session of six ranks: 0, 1 and 2 have the first layer of a perceptron, 3, 4 and 5 the second one.
struct SessionOfMesh : SessionParts {
  simgrad::training::Learning whole{{.data = nullptr,
                                     .model = simgrad::models::registry().find("perceptron")->make(),
                                     .problem = {.features = 4, .classes = 0},
                                     .rows = 24,
                                     .batch = 12},
                                    dispatcher};
  simgrad::training::ModelParts two_parts{whole,
                                          {mesh(),
                                           {{simgrad::models::Chunk{.first_unit = 0, .end_unit = 1}},
                                            {simgrad::models::Chunk{.first_unit = 1, .end_unit = 2}}}}};
  Snapshots kept;

  SessionOfMesh() { model_parts = &two_parts; }
  /// Every rank's state is kept, after `holders` have got copies of others' states; none: nobody has.
  void keep_all(std::vector<int> holders = {}) {
    if (!holders.empty()) kept.copy_to(std::move(holders));
    for (int rank = 0; rank < 6; ++rank) kept.keep(rank, state({1}, 5), 6);
  }
  Generation next() { return generation(std::vector<bool>(6, true), 6, Holder::workers, &kept); }

  static simgrad::training::Mesh mesh() {
    simgrad::training::PerDimension sizes(1);
    sizes[Dimension::data] = 3;
    sizes[Dimension::pipeline] = 2;
    return simgrad::training::Mesh(sizes);
  }
};

std::vector<int> givers(const Generation& generation) {
  std::vector<int> all;
  for (int rank = 0; rank < 6; ++rank) all.push_back(generation.giver(rank));
  return all;
}

}  // namespace

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

TEST_CASE("a rank of a mesh takes its own state, or that of the first rank that kept its part") {
  SessionOfMesh session;
  session.keep_all();
  CHECK(givers(session.next()) == std::vector{0, 1, 2, 3, 4, 5});
  for (const int rank : {0, 3, 4}) session.kept.forget(rank);
  CHECK(givers(session.next()) == std::vector{1, 1, 2, 5, 5, 5});
}

TEST_CASE("the state of a rank of a mesh whose memory is gone comes from the memory with its copy, of whatever part") {
  SessionOfMesh session;
  session.keep_all({3, 4, 5, 1, 2, 0});
  session.kept.forget(0);
  session.kept.forget(4);
  CHECK(givers(session.next()) == std::vector{3, 1, 2, 3, 2, 5});
  // Rank 3 takes the copy for rank 0 with it, and its own state is in the memory of rank 1.
  session.kept.forget(3);
  CHECK(givers(session.next()) == std::vector{1, 1, 2, 1, 2, 5});
}

TEST_CASE("a rank of a mesh whose part nobody has kept is told whose memory went last") {
  SessionOfMesh session;
  session.keep_all();
  for (const int rank : {3, 5, 4}) session.kept.forget(rank);
  const Generation generation = session.next();
  CHECK(generation.giver(0) == 0);
  try {
    generation.giver(3);
    FAIL("a state of nobody");
  } catch (const simgrad::cluster::PeerLost& lost) {
    CHECK(lost.rank() == 4);
  }
}

TEST_CASE("who gives a state to a rank of a mesh is settled as the generation begins") {
  SessionOfMesh session;
  session.keep_all();
  session.kept.forget(0);
  const Generation generation = session.next();
  session.kept.forget(1);
  CHECK(givers(generation) == std::vector{1, 1, 2, 3, 4, 5});
  CHECK(givers(session.next()) == std::vector{2, 2, 2, 3, 4, 5});
}

}  // namespace generation_test
