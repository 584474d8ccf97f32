// The walk of a ring in loops over arrays, beside the walk of any schedule.
#include "collectives/ring_walk.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "catch.h"
#include "collectives/ring.h"
#include "collectives/schedule_walk.h"

namespace ring_walk_test {

using namespace simgrad;

namespace {

/// Every third hop is slower than the others.
class Hops final : public cluster::MemberRoutes {
 public:
  const cluster::MemberRoute& between(int source, int /*target*/) const override {
    return source % 3 == 0 ? slow_ : fast_;
  }
  double bandwidth(int /*link*/) const override { return 1e9; }
  int links() const override { return 0; }

 private:
  cluster::MemberRoute slow_{.latency_s = 7e-6, .bandwidth_bytes_per_s = 0.7e9, .links = {}};
  cluster::MemberRoute fast_{.latency_s = 3e-6, .bandwidth_bytes_per_s = 1e9, .links = {}};
};

cluster::AlphaBetaGamma costs_of(int P, bool alike) {
  cluster::AlphaBetaGamma costs{.latency_s = 3e-6, .bandwidth_bytes_per_s = 1e9, .seconds_per_flop = {}};
  for (int r = 0; r < P; ++r) costs.seconds_per_flop.push_back(1e-9 / (1 + r % 5));
  if (!alike) costs.routes = std::make_shared<Hops>();
  return costs;
}

/// Members come in no order, within 10 ms.
std::vector<double> arrivals_of(int P) {
  std::vector<double> all;
  for (int r = 0; r < P; ++r) all.push_back(0.01 * std::abs(std::sin(r * r + 1.0)));
  return all;
}

/// Members for which the two walks differ. The seconds of sums are added as they are, or as differences of dates.
int differences(int P, std::int64_t length, bool alike, const cluster::Until& until) {
  const auto schedule = collectives::Ring().schedule({length, values::wire_format(values::Format::float64)}, P);
  const cluster::AlphaBetaGamma costs = costs_of(P, alike);
  const std::vector<double> arrivals = arrivals_of(P);
  const auto in_arrays = schedule->timings(costs, arrivals, until);
  const auto by_exchanges = collectives::ScheduleWalk(*schedule, costs, arrivals, until).timings();
  int different = 0;
  for (std::size_t r = 0; r < by_exchanges.size(); ++r)
    different += in_arrays[r].end_s != by_exchanges[r].end_s ||
                 in_arrays[r].communicate_s != by_exchanges[r].communicate_s ||
                 in_arrays[r].compute_s != Approx(by_exchanges[r].compute_s).epsilon(1e-9).margin(1e-13);
  return different;
}

}  // namespace

TEST_CASE("the ring's walk in arrays has the dates of a walk through its exchanges, bit for bit") {
  // Eight rounds go together over 512 members at a time: fewer rounds, other numbers of them, and more members.
  for (const int P : {2, 3, 8, 9, 10, 17, 511, 530, 1030})
    for (const std::int64_t length : {3 * P, 3 * P + 1, 4 * P - 1, P / 2})
      for (const bool alike : {true, false}) {
        CAPTURE(P, length, alike);
        CHECK(differences(P, length, alike, cluster::Until::never) == 0);
      }
}

TEST_CASE("the ring's walk in arrays counts the time until a date as a walk through its exchanges does") {
  for (const int P : {3, 10, 40})
    for (const bool alike : {true, false}) {
      CAPTURE(P, alike);
      std::vector<double> each;
      for (int r = 0; r < P; ++r) each.push_back(1.0 + r);  // beyond the end: all of the walk is made
      CHECK(differences(P, 3 * P + 1, alike, cluster::Until(each)) == 0);
    }
}

}  // namespace ring_walk_test
