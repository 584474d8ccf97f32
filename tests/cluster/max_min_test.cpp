// Max-min fair shares against allocations that can be worked out by hand, and against their definition.
#include "cluster/fabric/max_min.h"

#include <map>
#include <random>

#include "catch.h"

namespace max_min_test {

using simgrad::cluster::MaxMinSharing;

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

struct Shares {
  Shares(const std::vector<double>& bandwidths, double limit = no_limit) : sharing(bandwidths, limit) {}
  void share() {
    sharing.share([&](int flow, double rate) { rates[flow] = rate; });
  }
  MaxMinSharing sharing;
  std::map<int, double> rates;
};

}  // namespace

TEST_CASE("flows through one link have equal shares, and what one leaves goes to the others") {
  Shares shares({12.0, 3.0});
  const std::vector<int> wide{0}, both{0, 1};
  const int a = shares.sharing.add(wide), b = shares.sharing.add(both), c = shares.sharing.add(wide);
  shares.share();
  CHECK(shares.rates[b] == 3.0);  // its other link is narrower than a third of this one
  CHECK(shares.rates[a] == 4.5);
  CHECK(shares.rates[c] == 4.5);
  shares.sharing.remove(a);
  shares.share();
  CHECK(shares.rates[b] == 3.0);
  CHECK(shares.rates[c] == 9.0);
}

TEST_CASE("no flow is faster than the limit of flows") {
  Shares shares({10.0, 1.0}, 2.0);
  const std::vector<int> wide{0}, both{0, 1};
  const int a = shares.sharing.add(wide), b = shares.sharing.add(both);
  shares.share();
  CHECK(shares.rates[a] == 2.0);
  CHECK(shares.rates[b] == 1.0);
}

TEST_CASE("a flow's own limit leaves more to the others") {
  Shares shares({12.0, 100.0});
  const std::vector<int> first{0}, second{1};
  const int a = shares.sharing.add(first, 1.0), b = shares.sharing.add(first), c = shares.sharing.add(first, 4.0);
  const int alone = shares.sharing.add(second, 3.0);
  shares.share();
  CHECK(shares.rates[a] == 1.0);
  CHECK(shares.rates[c] == 4.0);
  CHECK(shares.rates[b] == 7.0);
  CHECK(shares.rates[alone] == 3.0);
  const int d = shares.sharing.add(first);
  shares.share();  // 11 for three flows
  CHECK(shares.rates[a] == 1.0);
  for (const int flow : {b, c, d}) CHECK(shares.rates[flow] == Approx(11.0 / 3.0).epsilon(1e-15));
  shares.sharing.remove(d);
  shares.share();
  CHECK(shares.rates[c] == 4.0);
  CHECK(shares.rates[b] == 7.0);
}

TEST_CASE("a flow that nothing connects with a change is not looked at again") {
  Shares shares({1.0, 1.0});
  const std::vector<int> first{0}, second{1};
  shares.sharing.add(first);
  shares.share();
  shares.rates.clear();
  const int other = shares.sharing.add(second);
  shares.share();
  CHECK(shares.rates.size() == 1);
  CHECK(shares.rates[other] == 1.0);
}

TEST_CASE("every flow of random ones has a full link on which nobody has more") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const int links = 2 + static_cast<int>(random() % 8), flows = 1 + static_cast<int>(random() % 20);
    std::vector<double> bandwidths;
    for (int i = 0; i < links; ++i) bandwidths.push_back(1.0 + static_cast<double>(random() % 5));
    std::vector<std::vector<int>> routes;
    for (int f = 0; f < flows; ++f) {
      std::vector<int> route;
      for (int i = 0; i < links; ++i)
        if (random() % 3 == 0) route.push_back(i);
      if (route.empty()) route.push_back(static_cast<int>(random() % static_cast<unsigned>(links)));
      routes.push_back(route);
    }
    Shares shares(bandwidths);
    std::vector<int> numbers;
    for (const auto& route : routes) {
      numbers.push_back(shares.sharing.add(route));
      if (random() % 2 == 0) shares.share();  // some come later
    }
    shares.share();
    const auto rate = [&](std::size_t f) { return shares.rates[numbers[f]]; };
    const auto on = [&](std::size_t f, int link) { return std::ranges::find(routes[f], link) != routes[f].end(); };
    for (std::size_t f = 0; f < routes.size(); ++f) {
      const bool bound = std::ranges::any_of(routes[f], [&](int link) {
        double sum = 0.0, most = 0.0;
        for (std::size_t g = 0; g < routes.size(); ++g)
          if (on(g, link)) sum += rate(g), most = std::max(most, rate(g));
        CHECK(sum <= bandwidths[static_cast<std::size_t>(link)] * (1.0 + 1e-12));
        return sum >= bandwidths[static_cast<std::size_t>(link)] * (1.0 - 1e-12) && rate(f) >= most * (1.0 - 1e-12);
      });
      CHECK(bound);
    }
  }
}

}  // namespace max_min_test
