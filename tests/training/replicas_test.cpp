// Which workers' replicas take part while workers come and go.
#include "training/session/replicas.h"

#include "catch.h"

namespace replicas_test {

using simgrad::training::Replicas;

TEST_CASE("a worker that is back takes part from the step at which it joins another") {
  std::vector<bool> alive{true, true, true};
  Replicas replicas(true, [&](int rank) { return alive[static_cast<std::size_t>(rank)]; });
  replicas.begin(3);
  CHECK(replicas.takes_part(1, 0));
  CHECK(replicas.active_count() == 3);

  alive[1] = false;
  replicas.lose(1);
  CHECK_FALSE(replicas.takes_part(1, 5));
  CHECK(replicas.active_count() == 2);

  alive[1] = true;
  replicas.bring_back(1);
  CHECK(replicas.rejoins(1));
  CHECK_FALSE(replicas.takes_part(1, 1'000'000));
  replicas.join(1, 8, 2);
  CHECK_FALSE(replicas.takes_part(1, 7));
  CHECK(replicas.takes_part(1, 8));
  CHECK_FALSE(replicas.active(1));
  replicas.report(1, 8);
  CHECK(replicas.active(1));
}

TEST_CASE("a joiner is sent the parameters of its step, once, if it is still there") {
  std::vector<bool> alive{true, true, true};
  Replicas replicas(true, [&](int rank) { return alive[static_cast<std::size_t>(rank)]; });
  replicas.begin(3);
  replicas.join(1, 8, 2);
  CHECK(replicas.joiners(2, 7).empty());
  CHECK(replicas.joiners(0, 8).empty());
  CHECK(replicas.joiners(2, 8) == std::vector{1});
  CHECK(replicas.joiners(2, 9).empty());
  replicas.join(0, 9, 2);
  alive[0] = false;
  CHECK(replicas.joiners(2, 9).empty());
}

TEST_CASE("all have reported a step when every active worker has") {
  Replicas replicas(true, [](int rank) { return rank != 2; });
  replicas.begin(3);  // rank 2 is down
  replicas.report(0, 4);
  replicas.report(1, 3);
  CHECK(replicas.all_reported(3));
  CHECK_FALSE(replicas.all_reported(4));
  CHECK_FALSE(replicas.rejoins(3));  // a server
}

}  // namespace replicas_test
