// k-means: its map and reduce by hand, Lloyd's iterations against another implementation, its costs and first centres.
#include "models/k_means.h"

#include <cmath>

#include "catch.h"
#include "models/sample_data.h"

namespace k_means_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

KMeans with_clusters(std::int64_t k) {
  KMeans model;
  model.clusters = k;
  return model;
}

std::vector<double> assigned(const KMeans& model, const Problem& problem, const Samples& rows,
                             std::span<const double> w) {
  std::vector<double> sums(static_cast<std::size_t>(model.assignment_size(problem)), 1e300);
  model.assign(problem, rows, w, sums);
  return sums;
}

std::vector<double> moved(std::span<const double> w, std::span<const double> sums) {
  std::vector<double> centres(w.size());
  centres_of(w, sums, centres);
  return centres;
}

}  // namespace

TEST_CASE("rows belong to the nearest centre, the first of equally near ones, and an empty cluster stays") {
  // One feature; rows 0, 1, 4, 6; centres 1, 5, 9: row 3 would be in the middle of 1 and 5.
  const Data data{.problem = {.features = 1, .classes = 0}, .x = {0, 1, 4, 6, 3}, .y = {0, 0, 0, 0, 0}};
  const KMeans model = with_clusters(3);
  const std::vector<double> w{1, 5, 9};
  const std::vector<double> sums = assigned(model, data.problem, data.all(), w);
  CHECK(sums == std::vector<double>{0 + 1 + 3, 3, 4 + 6, 2, 0, 0});
  CHECK(moved(w, sums) == std::vector<double>{4.0 / 3.0, 5, 9});
  // (1 + 0 + 1 + 1 + 4) / 2
  CHECK(model.score(data.problem, data.all(), w).loss == 3.5);
  // Scale 2: 2 ((1 - 0) + (1 - 1) + (1 - 3)), 2 ((5 - 4) + (5 - 6)), nothing.
  CHECK(gradient(model, data.problem, data.all(), w, 2.0, 1.0) == std::vector<double>{-2, 0, 0});
}

TEST_CASE("the assignments of parts add up to those of the whole, listed rows or a range") {
  const Data data = sample_data(60, 4, 0);
  const KMeans model = with_clusters(5);
  const std::vector<double> w = sample_parameters(5 * 4);
  std::vector<double> sum(5 * 5, 0.0);
  const std::vector<std::int64_t> rest{40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59};
  for (const Samples& part : {data.range(0, 25), data.range(25, 15), data.list(rest)}) {
    const auto sums = assigned(model, data.problem, part, w);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += sums[i];
  }
  CHECK(sum == assigned(model, data.problem, data.all(), w));  // multiples of 1/4: sums are exact
}

TEST_CASE("Lloyd's step is the gradient step whose rate is one over the centre's share of the rows") {
  const Data data = sample_data(60, 4, 0);
  const KMeans model = with_clusters(3);
  const std::vector<double> w = sample_parameters(3 * 4);
  const auto sums = assigned(model, data.problem, data.all(), w);
  const auto g = gradient(model, data.problem, data.all(), w, 1.0, 0.0);
  const auto centres = moved(w, sums);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t j = 0; j < 4; ++j) {
      const double count = sums[c * 5 + 4];
      REQUIRE(count > 0.0);
      CHECK(centres[c * 4 + j] == Approx(w[c * 4 + j] - g[c * 4 + j] / count).epsilon(1e-12));
    }
}

// Recorded from a program on PyTorch 1.13.1's torch.cdist and means (float64): x the sample data, 100 rows of 5
// features; first centres the first four rows.
TEST_CASE("ten of Lloyd's iterations are PyTorch's") {
  const Data data = sample_data(100, 5, 0);
  const KMeans model = with_clusters(4);
  std::vector<double> w(data.x.begin(), data.x.begin() + 20);
  for (int k = 0; k < 10; ++k) w = moved(w, assigned(model, data.problem, data.all(), w));
  CHECK(model.score(data.problem, data.all(), w).loss / 100 == Approx(0.6490953947368422).epsilon(1e-12));
  const std::vector<double> first{-0.7763157894736842, -0.14473684210526316, 0.4868421052631579, 1.118421052631579,
                                  -1.0};
  for (std::size_t j = 0; j < 5; ++j) CHECK(w[j] == Approx(first[j]).epsilon(1e-12).margin(1e-14));
  CHECK(assigned(model, data.problem, data.all(), w)[5] == 19);
}

TEST_CASE("k-means has k centres of d numbers, first ones of variance 1 by the seed, and costs 3 d k + 3 d flops") {
  const Problem problem{.features = 40, .classes = 7};
  const KMeans model = with_clusters(50);
  CHECK(model.parameters(problem) == 50 * 40);
  CHECK(model.assignment_size(problem) == 50 * 41);
  CHECK(model.gradient_flops(problem, 10) == 10 * (3 * 40 * 50 + 3 * 40));
  CHECK(model.assignment_flops(problem, 10) == 10 * (3 * 40 * 50 + 40));
  CHECK(model.predicts() == Predicts::cluster);
  CHECK(model.metric(problem).empty());
  CHECK_FALSE(model.constant_feature());
  std::vector<double> w(2000), again(2000), other(2000);
  model.initial_values(problem, 1, w);
  model.initial_values(problem, 1, again);
  model.initial_values(problem, 2, other);
  CHECK(w == again);
  CHECK(w != other);
  double squares = 0.0;
  for (const double w_j : w) squares += w_j * w_j;
  CHECK(squares / 2000 == Approx(1.0).epsilon(0.1));  // three standard errors: 3 sqrt(2 / 2000)
}

}  // namespace k_means_test
