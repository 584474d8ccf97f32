// Lloyd's map and reduce as tensors, against his step in plain loops.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

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

/// Each row goes to the nearest of the centres, and each centre to the mean of its rows (S. Lloyd, Least squares
/// quantization in PCM, 1982), if it has any.
std::vector<double> lloyds_step(std::span<const double> x, const std::vector<double>& centres) {
  std::vector<double> sums(k * d), counts(k);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> away(k);
    for (std::size_t c = 0; c < k; ++c)
      for (std::size_t j = 0; j < d; ++j) away[c] += std::pow(x[i * d + j] - centres[c * d + j], 2);
    const auto own = static_cast<std::size_t>(std::ranges::min_element(away) - away.begin());
    for (std::size_t j = 0; j < d; ++j) sums[own * d + j] += x[i * d + j];
    ++counts[own];
  }
  std::vector<double> moved = centres;
  for (std::size_t c = 0; c < k; ++c)
    for (std::size_t j = 0; j < d && counts[c] > 0; ++j) moved[c * d + j] = sums[c * d + j] / counts[c];
  return moved;
}

}  // namespace

TEST_CASE("Lloyd's steps by the parts of several ranks are those of the whole") {
  const auto data = normal_data();
  values::Dispatcher dispatcher({.label = {}});
  const Learning learning(setup(data), dispatcher);
  REQUIRE(learning.clusters());
  Tensor w = learning.initial_values();
  std::vector<double> expected = numbers(w);
  for (std::int64_t step = 0; step < 8; ++step) {
    Tensor sums = learning.assignments(w, {step, 0, 3});
    for (int part = 1; part < 3; ++part) sums += learning.assignments(w, {step, part, 3});
    CHECK(sums.size() == k * (d + 1));
    w = learning.centres(w, sums);
    expected = lloyds_step(data->train.features, expected);
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(w.value()[i] == Approx(expected[i]).epsilon(1e-12));
  }
}

TEST_CASE("a centre without rows stays where it is") {
  const auto data = normal_data();
  values::Dispatcher dispatcher({.label = {}});
  const Learning learning(setup(data), dispatcher);
  std::vector<double> far = numbers(learning.initial_values());
  std::fill_n(far.begin() + d, d, 1e3);  // the second of four
  const Tensor w = dispatcher.constant(std::vector<double>(far));
  const Tensor centres = learning.centres(w, learning.assignments(w, {0, 0, 1}));
  const std::vector<double> expected = lloyds_step(data->train.features, far);
  for (std::size_t j = 0; j < d; ++j) CHECK(expected[d + j] == 1e3);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(centres.value()[i] == Approx(expected[i]).epsilon(1e-12));
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
