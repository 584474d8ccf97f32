// Lloyd's map and reduce as tensors, against the model's own.
#include <memory>

#include "base/errors.h"
#include "base/random.h"
#include "catch.h"
#include "models/k_means.h"
#include "training/learning/learning.h"

namespace clustering_test {

using namespace simgrad;
using training::Learning;
using values::Tensor;

namespace {

constexpr std::int64_t rows = 90, d = 3, k = 4;

std::shared_ptr<const data::Split> normal_data() {
  data::Split split;
  split.train.rows = rows;
  split.train.columns = d;
  base::Stream stream({.seed = 5, .purpose = base::Purpose::test});
  for (std::int64_t i = 0; i < rows * d; ++i) split.train.features.push_back(stream.normal());
  split.train.targets.assign(rows, 0.0);
  return std::make_shared<const data::Split>(std::move(split));
}

Learning::Setup setup(std::shared_ptr<const data::Split> data, std::int64_t batch = rows) {
  auto model = std::make_shared<models::KMeans>();
  model->clusters = k;
  return {
      .data = std::move(data), .model = model, .problem = {.features = d, .classes = 0}, .rows = rows, .batch = batch};
}

std::vector<double> numbers(const Tensor& x) { return {x.value().begin(), x.value().end()}; }

}  // namespace

TEST_CASE("Lloyd's steps by the parts of several ranks are those of the whole") {
  const auto data = normal_data();
  values::Dispatcher dispatcher({.label = {}});
  const Learning learning(setup(data), dispatcher);
  REQUIRE(learning.clusters());
  const auto& model = dynamic_cast<const models::KMeans&>(learning.model());
  Tensor w = learning.initial_values();
  std::vector<double> expected = numbers(w);
  for (std::int64_t step = 0; step < 8; ++step) {
    Tensor sums = learning.assignments(w, {step, 0, 3});
    for (int part = 1; part < 3; ++part) sums += learning.assignments(w, {step, part, 3});
    CHECK(sums.size() == k * (d + 1));
    w = learning.centres(w, sums);

    std::vector<double> whole(k * (d + 1)), centres(k * d);
    model.assign(
        learning.problem(),
        {.features = data->train.features.data(), .targets = data->train.targets.data(), .columns = d, .count = rows},
        expected, whole);
    models::centres_of(expected, whole, centres);
    expected = centres;
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(w.value()[i] == Approx(expected[i]).epsilon(1e-12));
  }
}

TEST_CASE("an assignment passes over a rank's share of the batch, at 3 d k + d flops a row") {
  values::Dispatcher dispatcher({.label = {}});
  const Learning learning(setup(normal_data(), 20), dispatcher);
  CHECK(learning.assignment_flops(0, 2) == 10 * (3 * d * k + d));
  const Tensor w = learning.initial_values();
  const auto counted = [&](std::int64_t step) {
    double count = 0.0;
    for (int part = 0; part < 2; ++part)
      for (std::size_t c = 0; c < k; ++c) count += learning.assignments(w, {step, part, 2}).value()[c * (d + 1) + d];
    return count;
  };
  CHECK(counted(0) == 20);
  CHECK(counted(1) == 20);
  CHECK(numbers(learning.assignments(w, {0, 0, 2})) != numbers(learning.assignments(w, {1, 0, 2})));
}

TEST_CASE("timing only, assignments and centres have their sizes") {
  values::Dispatcher dispatcher({.numbers = false, .label = {}});
  const Learning learning(setup(nullptr), dispatcher);
  const Tensor w = learning.initial_values(), sums = learning.assignments(w, {0, 0, 1});
  CHECK(sums.size() == k * (d + 1));
  CHECK(learning.centres(w, sums).size() == k * d);
}

TEST_CASE("only k-means has centres") {
  values::Dispatcher dispatcher({.label = {}});
  Learning::Setup other = setup(normal_data());
  other.model = models::registry().find("least_squares")->make();
  const Learning learning(other, dispatcher);
  CHECK_FALSE(learning.clusters());
  CHECK_THROWS_AS(learning.assignments(learning.initial_values(), {0, 0, 1}), base::InvariantError);
}

}  // namespace clustering_test
