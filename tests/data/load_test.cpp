#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "catch.h"
#include "data/csv.h"
#include "data/files.h"
#include "data/house_prices.h"
#include "data/source.h"

namespace load_test {

using namespace simgrad;
using data::Dataset;
using data::load;
using data::Options;
using data::Preparation;
using data::Split;
using data::Task;
using data::test::fault;
using data::test::Folder;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

namespace {

/// Options for a CSV file in this folder, neither standardised nor split.
Options options_of(const Folder& folder, const std::string& text) {
  Options options;
  REQUIRE(options.source.choose("csv"));
  dynamic_cast<data::Csv&>(*options.source.object()).path = folder.file("t.csv", text);
  options.standardize = false;
  options.standardize_target = false;
  return options;
}

/// Rows 0 .. n-1 with feature i and target 10 i.
std::string counted_rows(int n) {
  std::string text = "a,y\n";
  for (int i = 0; i < n; ++i) text += std::to_string(i) + "," + std::to_string(10 * i) + "\n";
  return text;
}

template <class Values>
Values sorted(Values values) {
  std::sort(values.begin(), values.end());
  return values;
}

/// The losses of full-batch gradient descent on mean (x.w - y)^2 / 2 from w = 0, at steps 0 .. steps.
Numbers descent(const Dataset& set, double learning_rate, int steps) {
  const auto d = static_cast<std::size_t>(set.columns);
  const auto n = static_cast<double>(set.rows);
  Numbers w(d, 0.0);
  Numbers losses;
  for (int step = 0; step <= steps; ++step) {
    Numbers g(d, 0.0);
    double loss = 0.0;
    for (std::int64_t i = 0; i < set.rows; ++i) {
      const double* x = set.row(i).data();
      double residual = -set.targets[static_cast<std::size_t>(i)];
      for (std::size_t j = 0; j < d; ++j) residual += x[j] * w[j];
      loss += residual * residual / 2.0;
      for (std::size_t j = 0; j < d; ++j) g[j] += residual * x[j];
    }
    losses.push_back(loss / n);
    for (std::size_t j = 0; j < d; ++j) w[j] -= learning_rate * g[j] / n;
  }
  return losses;
}

}  // namespace

TEST_CASE("without a test fraction all rows are for training") {
  const Folder folder;
  const Split split = load(options_of(folder, counted_rows(5)), {.shuffle = false});
  CHECK(split.train.features == Numbers{0, 1, 2, 3, 4});
  CHECK(split.train.targets == Numbers{0, 10, 20, 30, 40});
  CHECK(split.test.rows == 0);
  CHECK(split.test.columns == 1);
}

TEST_CASE("the test set has the rounded share of the rows and no row is lost") {
  const Folder folder;
  Options options = options_of(folder, counted_rows(11));
  options.test_fraction = 0.25;
  const Split split = load(options, {.shuffle = false});
  // round(0.25 * 11) = round(2.75)
  CHECK(split.test.rows == 3);
  CHECK(split.train.rows == 8);
  auto all = split.train.features;
  all.insert(all.end(), split.test.features.begin(), split.test.features.end());
  CHECK(sorted(all) == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(std::is_sorted(split.train.features.begin(), split.train.features.end()));
}

TEST_CASE("the split depends on the seed and on nothing else") {
  const Folder folder;
  Options options = options_of(folder, counted_rows(100));
  options.test_fraction = 0.3;
  const Split first = load(options, {.seed = 1});
  CHECK(load(options, {.seed = 1, .shuffle = false}).test.features == first.test.features);
  CHECK(load(options, {.seed = 2}).test.features != first.test.features);
}

TEST_CASE("a split with an empty side is refused") {
  const Folder folder;
  Options options = options_of(folder, counted_rows(3));
  options.test_fraction = 0.1;
  CHECK(fault([&] { return load(options, {}); }) ==
        "test_fraction = 0.1 of 3 rows leaves no row to test on, expected at least one");
  options.test_fraction = 0.9;
  CHECK(fault([&] { return load(options, {}); }) ==
        "test_fraction = 0.9 of 3 rows leaves no row to train on, expected at least one");
}

TEST_CASE("training rows are shuffled by the seed, features and targets together") {
  const Folder folder;
  const Options options = options_of(folder, counted_rows(100));
  const Split split = load(options, {.seed = 3});
  CHECK(load(options, {.seed = 3}).train.features == split.train.features);
  CHECK(load(options, {.seed = 4}).train.features != split.train.features);
  CHECK(!std::is_sorted(split.train.features.begin(), split.train.features.end()));
  CHECK(sorted(split.train.features) == load(options, {.shuffle = false}).train.features);
  for (std::size_t i = 0; i < 100; ++i) CHECK(split.train.targets[i] == 10.0 * split.train.features[i]);
}

TEST_CASE("both sets are standardised by the training set's statistics") {
  const Folder folder;
  Options options = options_of(folder, counted_rows(10));
  options.test_fraction = 0.3;
  const Split raw = load(options, {.shuffle = false});
  options.standardize = true;
  options.standardize_target = true;
  const Split split = load(options, {.shuffle = false});
  const double n = 7.0;
  const double mean = std::accumulate(raw.train.features.begin(), raw.train.features.end(), 0.0) / n;
  double variance = 0.0;
  for (const double x : raw.train.features) variance += (x - mean) * (x - mean) / n;
  for (std::size_t i = 0; i < 7; ++i)
    CHECK(split.train.features[i] == Approx((raw.train.features[i] - mean) / std::sqrt(variance)).epsilon(1e-12));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(split.test.features[i] == Approx((raw.test.features[i] - mean) / std::sqrt(variance)).epsilon(1e-12));
    // The target is ten times the feature.
    CHECK(split.test.targets[i] == Approx(split.test.features[i]).epsilon(1e-12));
  }
}

TEST_CASE("standardize leaves the target alone and standardize_target the features") {
  const Folder folder;
  Options options = options_of(folder, "a,y\n1,2\n3,6\n");
  options.standardize = true;
  CHECK(load(options, {.shuffle = false}).train.features == Numbers{-1, 1});
  CHECK(load(options, {.shuffle = false}).train.targets == Numbers{2, 6});
  options.standardize = false;
  options.standardize_target = true;
  CHECK(load(options, {.shuffle = false}).train.features == Numbers{1, 3});
  CHECK(load(options, {.shuffle = false}).train.targets == Numbers{-1, 1});
}

TEST_CASE("class numbers are never standardised") {
  const Folder folder;
  Options options = options_of(folder, "a,y\n1,cat\n3,dog\n");
  options.standardize_target = true;
  const Split split = load(options, {.task = Task::classification, .shuffle = false});
  CHECK(split.train.targets == Numbers{0, 1});
  CHECK(split.train.classes == 2);
  CHECK(split.train.class_names == Names{"cat", "dog"});
}

TEST_CASE("the bias is a last column of ones in both sets, not standardised") {
  const Folder folder;
  Options options = options_of(folder, "a,y\n1,2\n3,6\n1,2\n3,6\n");
  options.standardize = true;
  options.test_fraction = 0.5;
  const Split split = load(options, {.shuffle = false, .bias = true});
  for (const Dataset* set : {&split.train, &split.test}) {
    CHECK(set->columns == 2);
    CHECK(set->feature_names == Names{"a", "bias"});
    for (std::int64_t i = 0; i < set->rows; ++i) CHECK(set->row(i)[1] == 1.0);
  }
}

TEST_CASE("data do not depend on the number of threads that make and standardise them") {
  Options options;
  options.samples = 3000;
  options.features = 77;  // several blocks of rows, and columns that two threads cannot share equally
  options.test_fraction = 0.4;
  const auto loaded = [&](int threads) { return load(options, {.seed = 2, .bias = true, .threads = threads}); };
  const Split one = loaded(1);
  for (const int threads : {0, 2, 3, 100}) {
    const Split several = loaded(threads);
    CHECK(several.train.features == one.train.features);
    CHECK(several.train.targets == one.train.targets);
    CHECK(several.test.features == one.test.features);
    CHECK(several.test.targets == one.test.targets);
  }
}

TEST_CASE("gradient descent on standardised house prices reaches a loss of 0.02 within 60 steps") {
  // By the eigenvalues in house_prices.h: 0.005 + 0.495 (1 - 0.1/3)^(2 k) <= 0.02 for k >= 52.
  for (const std::int64_t features : {100, 10, 4, 2, 1})
    for (const std::uint64_t seed : {1, 2, 3}) {
      Options options;
      options.samples = features == 100 ? 20000 : 1000;
      options.features = features;
      const Numbers losses = descent(load(options, {.seed = seed}).train, 0.1, 60);
      // Standardised target: half its variance of 1.
      CHECK(losses.front() == Approx(0.5).epsilon(1e-9));
      CHECK(losses.back() < 0.02);
      CHECK(std::is_sorted(losses.rbegin(), losses.rend()));
    }
}

}  // namespace load_test
