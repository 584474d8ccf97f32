// Faults of some grid points name them; those of all points do not.
#include "experiment/plan/value_faults.h"

#include <functional>
#include <utility>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace value_faults_test {

using namespace simgrad;
using namespace simgrad::experiment;
using scenario::Document;

namespace {

/// Eight points: cluster.workers = 1, 2, 4, 8 by data.samples = 100, 200.
std::vector<Point> eight_points() {
  std::vector<scenario::Axis> axes = Document::axes("cluster.workers=1,2,4,8");
  axes.push_back(Document::axes("data.samples=100,200").front());
  return expand(Document::parse("[model]\nkind = \"mlp\"\n", "x.toml"), axes);
}

using Say = std::function<std::string(int workers, int samples)>;

/// The faults that are told where each point says one of the model, or nothing.
std::vector<std::string> told(const Say& say, bool cut = false) {
  const std::vector<Point> points = eight_points();
  ValueFaults of_points;
  for (const Point& point : points) {
    scenario::Faults found;
    const std::string text =
        say(point.parameters.at("cluster.workers").get<int>(), point.parameters.at("data.samples").get<int>());
    if (!text.empty()) found.add(point.document.position("model.kind"), text);
    of_points.add(point, found);
  }
  scenario::Faults all;
  of_points.tell(all, cut);
  std::vector<std::string> texts;
  for (const scenario::Faults::Fault& fault : all.all()) texts.push_back(fault.message);
  return texts;
}

}  // namespace

TEST_CASE("a fault that all grid points have names none of them") {
  CHECK(told([](int, int) { return "too large"; }) == std::vector<std::string>{"too large"});
}

TEST_CASE("a fault of one axis names its values, and a fault of several each of them") {
  CHECK(told([](int workers, int) { return workers >= 4 ? "too many" : ""; }) ==
        std::vector<std::string>{"too many; only at cluster.workers = 4, 8"});
  CHECK(told([](int workers, int samples) { return workers == 8 && samples == 100 ? "too few rows" : ""; }) ==
        std::vector<std::string>{"too few rows; only at cluster.workers = 8 and data.samples = 100"});
}

TEST_CASE("a fault that is no product of values names its points, of many the first four") {
  CHECK(
      told([](int workers, int samples) { return workers * samples == 200 ? "odd" : ""; }) ==
      std::vector<std::string>{"odd; at 2 of 8 grid points: cluster.workers = 1, data.samples = 200; cluster.workers = "
                               "2, data.samples = 100"});
  const auto many = told([](int workers, int samples) { return workers * samples != 200 ? "odd" : ""; });
  REQUIRE(many.size() == 1);
  CHECK_THAT(many[0], StartsWith("odd; at 6 of 8 grid points: cluster.workers = 1, data.samples = 100; ") &&
                          EndsWith("cluster.workers = 4, data.samples = 200; and 2 more"));
}

TEST_CASE("where not all points were read, a fault is not said to be at these alone") {
  CHECK(told([](int workers, int) { return workers >= 4 ? "too many" : ""; }, true) ==
        std::vector<std::string>{"too many; at cluster.workers = 4, 8"});
}

TEST_CASE("a plan that is refused at some points of its grid names them") {
  // A hypercube has 2^k ranks; the fault stands at the graph, which no axis varies.
  const std::string text = small + "[[strategy]]\nkind = \"gossip\"\ngraph = \"hypercube\"\n[grid]\n" +
                           "\"cluster.workers\" = [2, 3, 4]\n\"data.samples\" = [100, 200]\n";
  CHECK_THROWS_WITH(planned(text), ContainsSubstring("; only at cluster.workers = 3"));
}

}  // namespace value_faults_test
