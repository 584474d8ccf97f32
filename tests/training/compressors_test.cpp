// Bytes, unbiasedness and contraction of the compressors, against their papers.
#include "training/compressors.h"

#include <limits>

#include "training/compressors/compressor.h"
#include "training/compressors/formats.h"
#include "training/compressors/int8.h"
#include "training/compressors/qsgd.h"
#include "training/compressors/random_k.h"
#include "training/compressors/sign.h"
#include "training/compressors/top_k.h"

namespace compressors_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::training;

namespace {

constexpr std::int64_t d = 1000;

/// The mean of many codes of x must be x: along x within four standard deviations of a mean of so many draws; and
/// E |mean - x|^2 is the mean of |C(x) - x|^2 / draws, to which a bias would add its square.
void check_unbiased(const Compressor& compressor, const std::vector<double>& x, int draws) {
  Sender sender(compressor);
  std::vector<double> mean(x.size());
  double error = 0.0, along = 0.0, along_squared = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<double> sent = sender.sent(x);
    error += distance_squared(sent, x) / draws;
    double product = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean[i] += sent[i] / draws;
      product += (sent[i] - x[i]) * x[i];
    }
    along += product / draws;
    along_squared += product * product / draws;
  }
  CHECK(std::fabs(along) <= 4.0 * std::sqrt(along_squared / draws));
  // The sum of hundreds of squares: its deviation is about a twentieth of it.
  CHECK(distance_squared(mean, x) * draws / error == Approx(1.0).margin(0.3));
}

/// The mean over draws of |C(x) - x|^2 / |x|^2.
double relative_error(const Compressor& compressor, const std::vector<double>& x, int draws = 1) {
  Sender sender(compressor);
  double sum = 0.0;
  for (int draw = 0; draw < draws; ++draw) sum += distance_squared(sender.sent(x), x);
  return sum / draws / norm_squared(x);
}

}  // namespace

TEST_CASE("a code weighs what its kind says") {
  const auto bytes = [](const Compressor& compressor, std::int64_t n) {
    return Sender(compressor).code(spiky(n)).size_bytes();
  };
  CHECK(bytes(None(), d) == 8000);
  CHECK(bytes(Float64(), d) == 8000);
  CHECK(bytes(Float32(), d) == 4000);
  CHECK(bytes(Float16(), d) == 2000);
  CHECK(bytes(BFloat16(), d) == 2000);
  Int8 int8;
  int8.bucket = 300;
  CHECK(bytes(int8, d) == 1000 + 4 * 4);
  Qsgd qsgd;  // 15 values are four bits; 1000 numbers two buckets
  CHECK(bytes(qsgd, d) == 500 + 2 * 4);
  qsgd.levels = 1;  // three values are two bits
  CHECK(bytes(qsgd, 7) == 2 + 4);
  Sign sign;
  CHECK(bytes(sign, 9) == 2 + 4);
  sign.scale = Scale::majority;
  CHECK(bytes(sign, 9) == 2);
  TopK top;
  top.kept.k = 10;
  CHECK(bytes(top, d) == 80);
  RandomK random;
  random.kept.fraction = 0.02;
  CHECK(bytes(random, d) == 20 * 8);
}

TEST_CASE("what is drawn is right in the mean") {
  const std::vector<double> x = spiky(d);
  check_unbiased(Int8(), x, 400);
  Qsgd qsgd;
  check_unbiased(qsgd, x, 400);
  qsgd.levels = 1;
  check_unbiased(qsgd, x, 2000);
  RandomK random;
  random.kept.fraction = 0.2;
  check_unbiased(random, x, 2000);
}

TEST_CASE("qsgd's variance is within the paper's bound") {
  // E |Q(x) - x|^2 <= min(n / s^2, sqrt(n) / s) |x|^2 in a bucket of n numbers.
  const std::vector<double> x = spiky(d);
  for (const std::int64_t s : {1, 4, 7, 64})
    for (const std::int64_t n : {1, 50, 1000}) {
      Qsgd qsgd;
      qsgd.levels = s;
      qsgd.bucket = n;
      const double levels = static_cast<double>(s);
      const double size = static_cast<double>(n);
      CAPTURE(s, n);
      CHECK(relative_error(qsgd, x, 100) <= std::min(size / (levels * levels), std::sqrt(size) / levels));
    }
}

TEST_CASE("int8 is off by a unit at most, to the nearest by half of one") {
  const std::vector<double> x = spiky(d);
  Int8 int8;
  int8.bucket = d;
  double most = 0.0;
  for (const double each : x) most = std::max(most, std::fabs(each));
  for (const auto rounding : {Rounding::stochastic, Rounding::nearest}) {
    int8.rounding = rounding;
    const double unit = most / 127.0 * (1.0 + 1e-6);  // in single precision
    const std::vector<double> sent = Sender(int8).sent(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      REQUIRE(std::fabs(sent[i] - x[i]) <= (rounding == Rounding::nearest ? 0.5 : 1.0) * unit);
  }
}

TEST_CASE("top_k and random_k leave out what their papers say") {
  const std::vector<double> x = spiky(d);
  const std::vector<double> equal(d, 0.75);
  for (const double part : {0.01, 0.1, 0.5}) {
    CAPTURE(part);
    TopK top;
    top.kept.fraction = part;
    CHECK(relative_error(top, x) <= 1.0 - part);
    CHECK(relative_error(top, equal) == Approx(1.0 - part).epsilon(1e-12));  // the bound is reached
    RandomK random;
    random.kept.fraction = part;
    random.unbiased = false;
    // 1 - k/d in the mean: of 2000 draws within a twentieth of what is kept.
    CHECK(relative_error(random, x, 2000) == Approx(1.0 - part).margin(0.05 * part + 0.003));
    random.unbiased = true;
    CHECK(relative_error(random, equal, 3) ==
          Approx(1.0 / part - 1.0).epsilon(1e-12));  // in every draw: the numbers are equal
  }
}

TEST_CASE("top_k keeps the largest, the first of equal ones, in single precision") {
  TopK top;
  top.kept.k = 3;
  const std::vector<double> x{0.1, -4.0, 2.0, 0.3, 2.0, -2.0, 1.0 / 3.0};
  CHECK(Sender(top).sent(x) == std::vector<double>{0, -4, 2, 0, 2, 0, 0});
  top.kept.k = 4;
  CHECK(Sender(top).sent({1.0 / 3.0, 0.1, 0.2, 0.7, -0.4}) == std::vector<double>{1.0F / 3.0F, 0.0, 0.2F, 0.7F, -0.4F});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  top.kept.k = 1;
  CHECK(std::isnan(Sender(top).sent({3.0, nan, 5.0})[1]));
}

TEST_CASE("sign with the mean size contracts as its paper says") {
  // |C(x) - x|^2 = (1 - |x|_1^2 / (d |x|_2^2)) |x|_2^2.
  const std::vector<double> x = spiky(d);
  double l1 = 0.0;
  for (const double each : x) l1 += std::fabs(each);
  CHECK(relative_error(Sign(), x) == Approx(1.0 - l1 * l1 / (d * norm_squared(x))).epsilon(1e-6));
  CHECK(Sender(Sign()).sent({1.0, -3.0, 0.0, -0.0}) == std::vector<double>{1, -1, 1, -1});
  Sign vote;
  vote.scale = Scale::majority;
  Sender sender(vote);
  const values::Tensor vote_of_three = vote.concluded(sender.dispatcher.constant({3, -1, 0}));
  const auto concluded = vote_of_three.value();
  CHECK(std::vector<double>(concluded.begin(), concluded.end()) == std::vector<double>{1, -1, 0});
}

TEST_CASE("formats round each number by half a unit of the last place") {
  const std::vector<double> x = spiky(d);
  CHECK(relative_error(Float32(), x) <= 0x1p-48);
  CHECK(relative_error(Float16(), x) <= 0x1p-22);
  CHECK(relative_error(BFloat16(), x) <= 0x1p-16);
}

TEST_CASE("with k = d nothing is left out, bit for bit") {
  const std::vector<double> x = spiky(d);
  TopK top;
  top.kept.k = d;
  RandomK random;
  random.kept.k = d;
  CHECK(Sender(top).sent(x) == x);
  CHECK(Sender(top).code(x).size_bytes() == 8 * d);  // places and values would be as many
  CHECK(Sender(random).sent(x) == x);
}

TEST_CASE("random places are the same on all ranks and others each time") {
  RandomK random;
  random.kept.k = 5;
  Sender sender(random);
  const std::vector<double> x = spiky(d);
  const std::vector<double> first = sender.sent(x);
  CHECK(sender.sent(x) != first);
  CHECK(Sender(random).sent(x) == first);
  Sender other(random);
  Occasion elsewhere = other.occasion(d);
  elsewhere.draws.rank = 9;
  const auto sent = random.encode(other.dispatcher.constant(x), elsewhere, other.memory);
  CHECK(std::vector<double>(sent.value().begin(), sent.value().end()) == first);
}

TEST_CASE("vectors without numbers and with none are compressed as well") {
  for (const auto& entry : compressors().entries()) {
    CAPTURE(entry.about.kind);
    const auto compressor = entry.make();
    Sender sender(*compressor);
    values::Dispatcher timing({.numbers = false});
    const Occasion seen = sender.occasion(d);
    const Occasion unseen{.dispatcher = timing,
                          .draws = seen.draws,
                          .shared_draws = seen.shared_draws,
                          .parameters = d,
                          .pieces = seen.pieces};
    CompressorMemory memory;
    CHECK(compressor->encode(timing.zeros(d), unseen, memory).size_bytes() == sender.code(spiky(d)).size_bytes());
    for (const double each : sender.sent(std::vector<double>(d, 0.0))) REQUIRE(each == 0.0);
  }
}

}  // namespace compressors_test
