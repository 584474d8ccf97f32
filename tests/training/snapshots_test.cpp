// States kept to go on from, whose copies are in other ranks' memories; and the bytes of a state in a checkpoint.
#include "training/checkpoints/snapshots.h"

#include "training/checkpoints/checkpoint_store.h"
#include "training/session_parts.h"

namespace snapshots_test {

using namespace simgrad::tests;
using namespace simgrad::training;

namespace {

/// Snapshots of three ranks, each of which keeps a copy of the next one's state; a step is complete.
Snapshots copied_in_a_ring(SessionParts& parts) {
  Snapshots kept;
  kept.copy_to({2, 0, 1});
  for (const int rank : {0, 1, 2}) kept.keep(rank, parts.state({1.0 * rank}, 4), 3);
  return kept;
}

}  // namespace

TEST_CASE("a state is gone with its rank's memory, or with the last of two memories") {
  SessionParts parts;
  Snapshots alone;
  for (const int rank : {0, 1}) alone.keep(rank, parts.state({1.0}, 4), 2);
  alone.forget(0);
  CHECK_FALSE(alone.whole());
  CHECK_FALSE(alone.states().contains(0));

  Snapshots copied = copied_in_a_ring(parts);
  copied.forget(1);
  CHECK(copied.whole());
  CHECK(copied.memory_of(1) == 0);
  CHECK(copied.memory_of(2) == 2);
  copied.forget(0);  // with the copy of rank 1's; its own is at rank 2
  CHECK_FALSE(copied.whole());
  CHECK_FALSE(copied.states().contains(1));
  CHECK(copied.memory_of(0) == 2);
  CHECK(copied.last_forgotten() == 1);
}

TEST_CASE("the copy is gone first where its holder is lost first") {
  SessionParts parts;
  Snapshots copied = copied_in_a_ring(parts);
  copied.forget(0);
  CHECK(copied.whole());
  copied.forget(1);
  CHECK_FALSE(copied.whole());
  CHECK_FALSE(copied.states().contains(1));
}

TEST_CASE("a rank that is back has its state and its copy again, and a later step has all of them") {
  SessionParts parts;
  Snapshots copied = copied_in_a_ring(parts);
  copied.forget(0);
  copied.regain(0);
  CHECK(copied.memory_of(0) == 0);
  copied.forget(1);  // whose copy rank 0 has got again
  CHECK(copied.whole());
  CHECK(copied.memory_of(1) == 0);
  for (const int rank : {0, 1, 2}) copied.keep(rank, parts.state({2.0}, 5), 3);
  CHECK(copied.complete_step() == 5);
  CHECK(copied.memory_of(1) == 1);
  copied.clear();
  CHECK_FALSE(copied.complete_step());
}

TEST_CASE("a checkpoint has the numbers that the optimizer updates, and no half-precision copy of them") {
  SessionParts parts;
  State state = parts.state({1, 2, 3, 4}, 7);
  for (int k = 0; k < 2; ++k) state.optimizer.push_back(parts.dispatcher.constant({0, 0, 0, 0}));
  CHECK(bytes_of(state, number_bytes(Precision::float64)) == 4 * 3 * 8);
  CHECK(bytes_of(state, number_bytes(Precision::float32)) == 4 * 3 * 4);
  CHECK(bytes_of(state, number_bytes(Precision::bfloat16)) == 4 * 3 * 4);
}

}  // namespace snapshots_test
