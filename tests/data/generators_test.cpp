#include <algorithm>
#include <cmath>
#include <vector>

#include "catch.h"
#include "data/blobs.h"
#include "data/files.h"
#include "data/house_prices.h"
#include "data/logistic.h"

namespace generators_test {

using namespace simgrad;
using data::Blobs;
using data::Dataset;
using data::HousePrices;
using data::Logistic;
using data::Request;
using data::Task;
using data::test::fault;

namespace {

Request request(Task task, std::int64_t samples, std::int64_t features, std::uint64_t seed = 1) {
  return {.task = task, .seed = seed, .samples = samples, .features = features};
}

Request numbers(std::int64_t samples, std::int64_t features, std::uint64_t seed = 1) {
  return request(Task::regression, samples, features, seed);
}

Request classes(std::int64_t samples, std::int64_t features, std::uint64_t seed = 1) {
  return request(Task::classification, samples, features, seed);
}

std::vector<double> column(const Dataset& set, std::int64_t j) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < set.rows; ++i) all.push_back(set.row(i)[static_cast<std::size_t>(j)]);
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double covariance(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size());
}

double deviation(const std::vector<double>& values) { return std::sqrt(covariance(values, values)); }

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return covariance(a, b) / (deviation(a) * deviation(b));
}

template <class Source>
void check_draws(Source source, Task task) {
  const Dataset few = source.load(request(task, 10, 4));
  const Dataset again = source.load(request(task, 10, 4));
  const Dataset many = source.load(request(task, 50, 4));
  const Dataset other = source.load(request(task, 10, 4, 2));
  CHECK(again.features == few.features);
  CHECK(again.targets == few.targets);
  CHECK(std::vector<double>(many.features.begin(), many.features.begin() + 40) == few.features);
  CHECK(std::vector<double>(many.targets.begin(), many.targets.begin() + 10) == few.targets);
  CHECK(other.features != few.features);
}

}  // namespace

TEST_CASE("a generator's rows depend on the seed, not on how many there are") {
  check_draws(HousePrices(), Task::regression);
  check_draws(Logistic(), Task::classification);
  check_draws(Blobs(), Task::classification);
}

TEST_CASE("house prices name their first twelve features and number the others") {
  const Dataset set = HousePrices().load(numbers(3, 14));
  CHECK(set.feature_names[0] == "area");
  CHECK(set.feature_names[11] == "advert_words");
  CHECK(set.feature_names[12] == "feature_13");
  CHECK(set.feature_names[13] == "feature_14");
  CHECK(set.target_name == "price");
  CHECK(set.classes == 0);
}

TEST_CASE("house prices have the documented means, deviations and correlations") {
  const Dataset set = HousePrices().load(numbers(20000, 10));
  // Standard errors: 1/sqrt(20000) = 0.7 % of a deviation; four of them are allowed.
  const double error = 4.0 / std::sqrt(20000.0);
  CHECK(mean(column(set, 0)) == Approx(120.0).margin(25.0 * error));
  CHECK(deviation(column(set, 0)) == Approx(25.0).margin(25.0 * error));
  CHECK(mean(set.targets) == Approx(400e3).margin(80e3 * error));
  CHECK(deviation(set.targets) == Approx(80e3).margin(80e3 * error));
  // 0.5^|i-j|; larger houses have more rooms, older ones fewer.
  CHECK(correlation(column(set, 0), column(set, 1)) == Approx(0.5).margin(error));
  CHECK(correlation(column(set, 1), column(set, 2)) == Approx(-0.5).margin(error));
  CHECK(correlation(column(set, 0), column(set, 3)) == Approx(0.125).margin(error));
}

TEST_CASE("house prices are the true line without noise") {
  HousePrices houses;
  houses.noise = 0.0;
  const Dataset set = houses.load(numbers(20, 15, 7));
  const auto w = houses.weights(7, 15);
  for (std::int64_t i = 0; i < set.rows; ++i) {
    double price = houses.constant(7, 15);
    for (std::size_t j = 0; j < w.size(); ++j) price += w[j] * set.row(i)[j];
    CHECK(set.targets[static_cast<std::size_t>(i)] == Approx(price).epsilon(1e-12));
  }
}

TEST_CASE("the noise of house prices is the asked share of their deviation") {
  HousePrices houses;
  houses.noise = 0.3;
  const Dataset set = houses.load(numbers(20000, 10));
  const auto w = houses.weights(1, 10);
  std::vector<double> residuals;
  for (std::int64_t i = 0; i < set.rows; ++i) {
    residuals.push_back(set.targets[static_cast<std::size_t>(i)] - houses.constant(1, 10));
    for (std::size_t j = 0; j < w.size(); ++j) residuals.back() -= w[j] * set.row(i)[j];
  }
  // Standard error of a deviation: 1/sqrt(2 n) of it; four of them.
  CHECK(deviation(residuals) / 80e3 == Approx(0.3).margin(0.3 * 4.0 / std::sqrt(40000.0)));
}

TEST_CASE("the asked share of house price weights is zero and no other") {
  HousePrices houses;
  for (const double share : {0.0, 0.1, 0.25, 0.5, 0.9})
    for (const std::int64_t features : {1, 2, 4, 10, 100}) {
      houses.zero_weights = share;
      std::int64_t zeros = 0;
      for (const double weight : houses.weights(1, features)) zeros += weight == 0.0;
      CHECK(zeros == static_cast<std::int64_t>(std::floor(share * static_cast<double>(features) + 1e-9)));
    }
}

TEST_CASE("a feature with a zero weight does not move the price") {
  HousePrices houses;
  houses.correlation = 0.0;
  const Dataset set = houses.load(numbers(20000, 4));
  REQUIRE(houses.weights(1, 4)[3] == 0.0);
  // Four standard errors.
  CHECK(correlation(column(set, 3), set.targets) == Approx(0.0).margin(4.0 / std::sqrt(20000.0)));
}

TEST_CASE("larger houses cost more and older ones less") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto w = HousePrices().weights(seed, 10);
    CHECK(w[0] > 0.0);
    CHECK(w[2] < 0.0);
  }
}

TEST_CASE("logistic labels have the probability of their log-odds") {
  const Logistic logistic;
  const Dataset set = logistic.load(classes(20000, 5));
  CHECK(set.classes == 2);
  const auto w = logistic.weights(1, 5);
  double squares = 0.0;
  for (const double weight : w) squares += weight * weight;
  CHECK(std::sqrt(squares) == Approx(3.0).epsilon(1e-12));
  // sum (y - p) / sqrt(sum p (1 - p)) ~ N(0, 1), over all rows and over those that favour class 1; four deviations.
  for (const double least : {-1e9, 0.0}) {
    double excess = 0.0;
    double variance = 0.0;
    for (std::int64_t i = 0; i < set.rows; ++i) {
      double log_odds = 0.0;
      for (std::size_t j = 0; j < w.size(); ++j) log_odds += w[j] * set.row(i)[j];
      if (log_odds < least) continue;
      const double p = 1.0 / (1.0 + std::exp(-log_odds));
      excess += set.targets[static_cast<std::size_t>(i)] - p;
      variance += p * (1.0 - p);
    }
    CHECK(std::abs(excess / std::sqrt(variance)) < 4.0);
  }
}

TEST_CASE("flip turns over its share of the logistic labels") {
  Logistic logistic;
  const Dataset plain = logistic.load(classes(20000, 3));
  logistic.flip = 0.2;
  const Dataset flipped = logistic.load(classes(20000, 3));
  CHECK(flipped.features == plain.features);
  double turned = 0.0;
  for (std::size_t i = 0; i < 20000; ++i) turned += plain.targets[i] != flipped.targets[i];
  // Binomial: deviation sqrt(0.2 * 0.8 / n); four of them.
  CHECK(turned / 20000.0 == Approx(0.2).margin(4.0 * std::sqrt(0.16 / 20000.0)));
}

TEST_CASE("blobs lie around their centres with the asked spread") {
  Blobs blobs;
  blobs.classes = 4;
  blobs.spread = 0.5;
  const Dataset set = blobs.load(classes(20000, 3));
  CHECK(set.classes == 4);
  CHECK(set.class_names.size() == 4);
  const auto centres = blobs.centres(1, 3);
  std::vector<double> away;
  for (std::int64_t i = 0; i < set.rows; ++i) {
    const auto k = static_cast<std::size_t>(set.targets[static_cast<std::size_t>(i)]);
    for (std::size_t j = 0; j < 3; ++j) away.push_back(set.row(i)[j] - centres[3 * k + j]);
  }
  // Standard errors over n = 60000 draws: 0.5/sqrt(n) and 0.5/sqrt(2 n); four of them.
  CHECK(mean(away) == Approx(0.0).margin(4.0 * 0.5 / std::sqrt(60000.0)));
  CHECK(deviation(away) == Approx(0.5).margin(4.0 * 0.5 / std::sqrt(120000.0)));
}

TEST_CASE("row i of a generator is drawn from the data stream of step i") {
  const Blobs blobs;
  const Dataset set = blobs.load(classes(6, 2, 9));
  base::Stream stream({.seed = 9, .purpose = base::Purpose::data, .step = 5});
  // Class 5 mod 3 = 2; spread 1.
  CHECK(set.row(5)[0] == blobs.centres(9, 2)[2 * 2] + stream.normal());
  CHECK(set.row(5)[1] == blobs.centres(9, 2)[2 * 2 + 1] + stream.normal());
}

TEST_CASE("blobs are balanced") {
  const Dataset set = Blobs().load(classes(30, 2));
  for (double k = 0.0; k < 3.0; ++k) CHECK(std::count(set.targets.begin(), set.targets.end(), k) == 10);
}

TEST_CASE("a generator of classes refuses a model that predicts a number") {
  const std::string tail =
      " makes classes, but the model predicts a number; use \"house_prices\", or a model that predicts classes";
  CHECK(fault([] { return Blobs().load(numbers(10, 2)); }) == "data source \"blobs\"" + tail);
  CHECK(fault([] { return Logistic().load(numbers(10, 2)); }) == "data source \"logistic\"" + tail);
}

TEST_CASE("a generator of numbers refuses a model that predicts classes") {
  CHECK(
      fault([] { return HousePrices().load(classes(10, 2)); }) ==
      "data source \"house_prices\" makes numbers, but the model predicts classes; use \"logistic\" or \"blobs\", or a "
      "model that predicts a number");
}

TEST_CASE("a generator refuses more than a matrix may hold") {
  // 2^31 + 1 numbers of 8 bytes are a little more than 16 GiB.
  CHECK(fault([] { return HousePrices().load(numbers((std::int64_t{1} << 31) + 1, 1)); }) ==
        "data source \"house_prices\": 2147483649 rows x 1 columns would take 16.0 GiB; the limits are 16 GiB and "
        "16777216 columns");
  // The product overflows 64 bits.
  CHECK(fault([] { return Logistic().load(classes(std::int64_t{1} << 62, 1 << 20)); }) != "");
  Blobs blobs;
  blobs.classes = 1000;
  CHECK(
      fault([&] { return blobs.load(classes(1, 1 << 24)); }).starts_with("the centres of data source \"blobs\": 1000"));
}

}  // namespace generators_test
