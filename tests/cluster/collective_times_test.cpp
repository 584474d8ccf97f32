// How often the groups of a phase are walked.
#include <algorithm>
#include <memory>
#include <vector>

#include "catch.h"
#include "cluster/computed/collective_plan.h"

namespace collective_times_test {

using namespace simgrad::cluster;

namespace {

/// Everybody leaves a second after the last arrival. Counts how often its times are asked for.
struct OneSecond final : CollectiveTiming {
  mutable int walks = 0;

  std::string_view name() const override { return "one second"; }
  std::string signature() const override { return "one second"; }
  std::vector<MemberTiming> timings(const AlphaBetaGamma& /*costs*/, std::span<const double> arrivals,
                                    const Until& /*until*/) const override {
    ++walks;
    return std::vector(arrivals.size(), MemberTiming{.end_s = std::ranges::max(arrivals) + 1.0});
  }
  SentByPair sent(const AlphaBetaGamma& /*costs*/, std::span<const double> /*arrivals*/,
                  double /*until*/) const override {
    return {};
  }
  double show(const AlphaBetaGamma& /*costs*/, std::span<const double> /*arrivals*/, double until,
              TimingObserver& /*observer*/) const override {
    return until;
  }
  std::vector<simgrad::values::Tensor> results(std::vector<simgrad::values::Tensor> brought) const override {
    return brought;
  }
};

/// One phase of groups of two members: each of these costs' groups in turn.
struct Groups {
  std::shared_ptr<const OneSecond> timing = std::make_shared<OneSecond>();
  std::vector<AlphaBetaGamma> costs;
  CollectivePlan plan;

  explicit Groups(std::vector<AlphaBetaGamma> each) : costs(std::move(each)), plan({phase()}) {}

 private:
  PlannedPhase phase() const {
    PlannedPhase phase;
    for (std::size_t p = 0; p < costs.size(); ++p) {
      const auto first = static_cast<int>(2 * p);
      phase.parts.push_back({.group = nullptr,
                             .timing = timing,
                             .signature = timing->signature(),
                             .costs = &costs[p],
                             .positions = {first, first + 1}});
      phase.places.push_back({static_cast<int>(p), 0});
      phase.places.push_back({static_cast<int>(p), 1});
    }
    find_alike(phase);
    return phase;
  }
};

AlphaBetaGamma costs_of(double latency_s) { return {.latency_s = latency_s, .seconds_per_flop = {0.0, 0.0}}; }

}  // namespace

TEST_CASE("groups that are alike are walked once for each pair of arrivals") {
  const Groups groups(std::vector(5, costs_of(1e-6)));
  const std::vector arrivals{0.0, 1.0, 0.0, 2.0, 0.0, 2.0, 0.0, 1.0, 2.0, 0.0};
  const CollectiveTimes times(groups.plan, arrivals, CollectiveTiming::uncut);
  CHECK(groups.timing->walks == 3);  // (0, 1), (0, 2) and (2, 0)
  for (std::size_t member = 0; member < arrivals.size(); ++member)
    CHECK(times.of(member).end_s == std::max(arrivals[member], arrivals[member ^ 1]) + 1.0);
}

TEST_CASE("groups whose messages cost more are walked by themselves") {
  const Groups groups({costs_of(1e-6), costs_of(2e-6), costs_of(1e-6), costs_of(2e-6)});
  const CollectiveTimes times(groups.plan, std::vector(8, 0.0), CollectiveTiming::uncut);
  CHECK(groups.timing->walks == 2);
}

TEST_CASE("groups that are alike are walked again where their members are cut at other times") {
  const Groups groups(std::vector(3, costs_of(1e-6)));
  const CollectiveTimes whole(groups.plan, std::vector(6, 0.0), CollectiveTiming::uncut);
  CHECK(groups.timing->walks == 1);
  const CollectiveTimes cut(whole, Until(std::vector{0.5, 0.5, 0.5, 0.7, 0.5, 0.5}));
  CHECK(groups.timing->walks == 3);  // the first and the last are equal
}

}  // namespace collective_times_test
