#include "cluster/usage/under_way.h"

#include <algorithm>
#include <deque>
#include <random>

#include "catch.h"

namespace under_way_test {

using namespace simgrad::cluster;

TEST_CASE("messages under way are those from or to a rank that have not been taken off, in whatever order they end") {
  MessagesUnderWay all(4);
  std::deque<UnderWay> messages;
  std::vector<UnderWay*> expected;
  std::mt19937 random(7);
  for (int step = 0; step < 2000; ++step) {
    if (expected.empty() || random() % 3 != 0) {
      const int source = static_cast<int>(random() % 4), target = (source + 1 + static_cast<int>(random() % 3)) % 4;
      UnderWay& message = messages.emplace_back(UnderWay{.source = source, .target = target, .bytes = 1.0 * step});
      all.add(message);
      expected.push_back(&message);
    } else {
      std::swap(expected[random() % expected.size()], expected.back());
      all.remove(*expected.back());
      CHECK(expected.back()->list == nullptr);
      expected.pop_back();
    }
    for (int rank = 0; rank < 4; ++rank) {
      std::vector<UnderWay*> involved, of_rank(all.of(rank).begin(), all.of(rank).end());
      std::ranges::copy_if(expected, std::back_inserter(involved),
                           [&](const UnderWay* message) { return message->source == rank || message->target == rank; });
      std::ranges::sort(involved);
      std::ranges::sort(of_rank);
      REQUIRE(involved == of_rank);
    }
  }
}

}  // namespace under_way_test
