#include "base/random.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "base/errors.h"
#include "base/normals.h"
#include "base/rank_and_retry.h"
#include "catch.h"

namespace random_test {

using namespace simgrad::base;

namespace {

std::vector<std::uint64_t> bits(const Stream::Key& key, int count) {
  Stream stream(key);
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(stream.bits());
  return drawn;
}

std::vector<std::uint64_t> images(const Permutation& permutation) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < permutation.size(); ++i) all.push_back(permutation(i));
  return all;
}

double correlation(const Stream::Key& one, const Stream::Key& other, int count) {
  Stream a(one), b(other);
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
  return sum / count * 12.0;
}

}  // namespace

TEST_CASE("equal keys draw equal numbers") {
  const Stream::Key key{.seed = 42, .purpose = Purpose::batch, .step = 7, .rank = 3, .attempt = 1};
  CHECK(bits(key, 1000) == bits(key, 1000));
}

TEST_CASE("a stream does not depend on what others have drawn") {
  Stream alone({.seed = 1}), beside({.seed = 1}), other({.seed = 2});
  for (int i = 0; i < 100; ++i) {
    (void)other.bits();
    CHECK(alone.bits() == beside.bits());
  }
}

TEST_CASE("every rank of a large run has streams of its own, whatever it begins again") {
  std::set<std::uint32_t> all;
  constexpr std::uint32_t ranks = 131'072, retries = 4;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t retry = 0; retry < retries; ++retry) all.insert(rank_and_retry(rank, retry));
  CHECK(all.size() == ranks * retries);
  CHECK(rank_and_retry(65'535, 3) == (65'535 | 3 << 16));  // results of smaller runs stay what they were
}

TEST_CASE("any part of the key alone makes another stream") {
  const Stream::Key key{.seed = 5, .purpose = Purpose::data, .step = 1, .rank = 2, .attempt = 3};
  std::vector<Stream::Key> others(8, key);
  others[0].seed = 6;
  others[1].seed = 5 + (std::uint64_t{1} << 32);
  others[2].purpose = Purpose::split;
  others[3].step = 2;
  others[4].step = 1 + (std::uint64_t{1} << 32);
  others[5].rank = 1;
  others[6].attempt = 2;
  others[7].purpose = Purpose::test;
  for (const Stream::Key& other : others) CHECK(bits(key, 4) != bits(other, 4));
}

TEST_CASE("streams of two purposes are uncorrelated under one seed") {
  constexpr int n = 100000;
  // The correlation of n independent pairs has a standard deviation of 1/sqrt(n).
  const double bound = 4.0 / std::sqrt(n);
  CHECK(std::abs(correlation({.purpose = Purpose::batch}, {.purpose = Purpose::straggler}, n)) < bound);
  CHECK(std::abs(correlation({.step = 1}, {.step = 2}, n)) < bound);
  CHECK(std::abs(correlation({.rank = 0}, {.rank = 1}, n)) < bound);
}

TEST_CASE("uniform draws lie in 0 to 1 with mean 1/2 and variance 1/12") {
  constexpr int n = 200000;
  Stream stream({.seed = 3});
  double sum = 0.0, squares = 0.0;
  bool inside = true;
  for (int i = 0; i < n; ++i) {
    const double x = stream.uniform();
    inside = inside && x >= 0.0 && x < 1.0;
    sum += x;
    squares += x * x;
  }
  CHECK(inside);
  // Standard errors: sqrt(1/12/n) of the mean; sqrt((1/80 - 1/144)/n) of the variance. Four of them each.
  CHECK(std::abs(sum / n - 0.5) < 4.0 * std::sqrt(1.0 / 12.0 / n));
  CHECK(std::abs(squares / n - sum / n * sum / n - 1.0 / 12.0) < 4.0 * std::sqrt((1.0 / 80.0 - 1.0 / 144.0) / n));
}

TEST_CASE("normal draws have the moments 0, 1, 0, 3") {
  constexpr int n = 200000;
  Stream stream({.seed = 4});
  double first = 0.0, second = 0.0, third = 0.0, fourth = 0.0;
  for (int i = 0; i < n; ++i) {
    const double x = stream.normal();
    first += x / n;
    second += x * x / n;
    third += x * x * x / n;
    fourth += x * x * x * x / n;
  }
  // The variance of x^k is E x^2k - (E x^k)^2: 1, 2, 15, 96. Four standard errors each.
  CHECK(std::abs(first) < 4.0 * std::sqrt(1.0 / n));
  CHECK(std::abs(second - 1.0) < 4.0 * std::sqrt(2.0 / n));
  CHECK(std::abs(third) < 4.0 * std::sqrt(15.0 / n));
  CHECK(std::abs(fourth - 3.0) < 4.0 * std::sqrt(96.0 / n));
}

TEST_CASE("many normal draws at once are those drawn one by one") {
  for (const std::size_t n : {0, 1, 2, 3, 127, 128, 129, 257, 784}) {
    Stream one_by_one({.seed = 5, .step = n}), at_once({.seed = 5, .step = n});
    std::vector<double> expected(n), x(n);
    for (double& number : expected) number = one_by_one.normal();
    fill_normals(at_once, x);
    CHECK(x == expected);
    // The next draw is the same, too: behind an odd number it is the other one of a pair.
    CHECK(at_once.normal() == one_by_one.normal());
  }
}

TEST_CASE("below(n) favours no number") {
  const auto n = GENERATE(1u, 2u, 3u, 7u, 10u, 64u);
  constexpr int draws = 100000;
  Stream stream({.seed = 9, .rank = n});
  std::vector<int> counts(n);
  for (int i = 0; i < draws; ++i) ++counts.at(stream.below(n));
  double chi_squared = 0.0;
  const double expected = static_cast<double>(draws) / n;
  for (const int count : counts) chi_squared += (count - expected) * (count - expected) / expected;
  // Chi-squared with n - 1 degrees of freedom: mean n - 1, variance 2(n - 1).
  CHECK(chi_squared <= n - 1.0 + 4.0 * std::sqrt(2.0 * (n - 1.0)));
}

TEST_CASE("below(n) is unbiased where a remainder would favour the small numbers") {
  // With n = 3 * 2^62 a plain remainder of 64 bits would fall below 2^62 half the time; without bias a third.
  constexpr std::uint64_t quarter = std::uint64_t{1} << 62;
  constexpr int draws = 20000;
  Stream stream({.seed = 10});
  int small = 0;
  for (int i = 0; i < draws; ++i) small += stream.below(3 * quarter) < quarter ? 1 : 0;
  CHECK(std::abs(small / static_cast<double>(draws) - 1.0 / 3.0) < 4.0 * std::sqrt(2.0 / 9.0 / draws));
}

TEST_CASE("below(0) is our own mistake") {
  Stream stream({});
  CHECK_THROWS_AS(stream.below(0), InvariantError);
}

TEST_CASE("a permutation takes every value once") {
  std::vector<std::uint64_t> sizes{1000};
  for (std::uint64_t n = 1; n <= 70; ++n) sizes.push_back(n);
  for (const std::uint64_t n : sizes) {
    CAPTURE(n);
    std::vector<int> taken(n);
    for (const std::uint64_t image : images(Permutation({.seed = 1}, n))) ++taken.at(image);
    CHECK(taken == std::vector<int>(n, 1));
  }
}

TEST_CASE("a permutation is the same for a key and another for another") {
  CHECK(images(Permutation({.seed = 1}, 100)) == images(Permutation({.seed = 1}, 100)));
  CHECK(images(Permutation({.seed = 1}, 100)) != images(Permutation({.seed = 2}, 100)));
  CHECK(images(Permutation({.step = 1}, 100)) != images(Permutation({.step = 2}, 100)));
}

TEST_CASE("a permutation sends an element anywhere with the same chance") {
  constexpr std::uint64_t n = 100;
  constexpr int draws = 20000;
  std::vector<int> counts(n);
  for (std::uint64_t seed = 0; seed < draws; ++seed) ++counts.at(Permutation({.seed = seed}, n)(3));
  double chi_squared = 0.0;
  constexpr double expected = static_cast<double>(draws) / n;
  for (const int count : counts) chi_squared += (count - expected) * (count - expected) / expected;
  // Chi-squared with 99 degrees of freedom: mean 99, variance 198.
  CHECK(chi_squared <= 99.0 + 4.0 * std::sqrt(198.0));
}

}  // namespace random_test
