#include "training/compressors/power_sgd.h"

#include <numeric>

#include "training/compressors.h"
#include "training/compressors/gram_schmidt.h"

namespace power_sgd_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::training;

namespace {

PowerSgd of_rank(std::int64_t rank) {
  PowerSgd compressor;
  compressor.rank = rank;
  return compressor;
}

/// A matrix of 30 x 30 that is the sum of two outer products.
std::vector<double> rank_two() {
  std::vector<double> x;
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 30; ++j) x.push_back(std::sin(i) * std::cos(j) + 0.01 * std::cos(3.0 * i) * std::sin(2.0 * j));
  return x;
}

}  // namespace

TEST_CASE("power_sgd of full rank leaves nothing out") {
  for (const std::int64_t n : {1, 2, 3, 10, 99, 900}) {
    CAPTURE(n);
    const PowerSgd full = of_rank(100);
    Sender sender(full);
    for (int again = 0; again < 3; ++again) {
      std::vector<double> x = spiky(n + again);
      x.resize(static_cast<std::size_t>(n));
      CHECK(distance_squared(sender.sent(x), x) <= 1e-18 * norm_squared(x));
    }
    CHECK(distance_squared(sender.sent(std::vector<double>(static_cast<std::size_t>(n), 0.0)),
                           std::vector<double>(static_cast<std::size_t>(n), 0.0)) == 0.0);
  }
}

TEST_CASE("power_sgd sends both factors of each matrix, and vectors as they are") {
  // 20 x 45, a bias a row, and 12 x 2, whose factors of rank 2 would be no smaller.
  constexpr std::int64_t n = 20 * 45, vector = 20 + 12 * 2;
  PowerSgd two = of_rank(2);
  Sender sender(two);
  const std::vector<double> x = spiky(n + vector);
  Occasion occasion = sender.occasion(n + vector);
  occasion.pieces = {{.count = n, .columns = 45}, {.count = 20}, {.count = 24, .columns = 2}};
  const auto code = two.encode(sender.dispatcher.constant(x), occasion, sender.memory);
  CHECK(code.size_bytes() == 8 * (2 * (20 + 45) + vector));
  for (std::size_t i = n; i < x.size(); ++i) CHECK(code.value()[i] == x[i]);
  // 4 n m r + 4 n r^2, and 2 n m r; with error feedback what was left out is a product more.
  CHECK(two.encode_flops(n + vector, occasion) == 6.0 * 2 * n + 4.0 * 4 * 20);
  CHECK(two.decode_flops(n + vector, occasion) == 2.0 * 2 * n);
  two.error_feedback = false;
  CHECK(two.encode_flops(n + vector, occasion) == 4.0 * 2 * n + 4.0 * 4 * 20);
}

TEST_CASE("power_sgd keeps a layer's columns in a piece that begins in the middle of a row") {
  // An outer product of 12 x 20, from the 8th number of its first row to the 3rd of its last.
  std::vector<double> x;
  for (int i = 7; i < 11 * 20 + 3; ++i) x.push_back(std::sin(1.0 + i / 20) * std::cos(0.3 * (i % 20)));
  const PowerSgd one = of_rank(3);
  Sender sender(one);
  Occasion occasion = sender.occasion(static_cast<std::int64_t>(x.size()));
  occasion.pieces = {{.count = static_cast<std::int64_t>(x.size()), .columns = 20, .column = 7}};
  const auto code = one.encode(sender.dispatcher.constant(x), occasion, sender.memory);
  // The zeros before and behind make its rank three; as 14 x 16, say, it would be more.
  CHECK(distance_squared({code.value().begin(), code.value().end()}, x) <= 1e-18 * norm_squared(x));
  CHECK(code.size_bytes() == 8 * 3 * (12 + 20));
}

TEST_CASE("power_sgd finds a matrix of its rank at once, and the best one of lower rank step by step") {
  const std::vector<double> x = rank_two();
  const PowerSgd two = of_rank(2);
  CHECK(distance_squared(Sender(two).sent(x), x) <= 1e-18 * norm_squared(x));
  // The power iteration multiplies the part of the second direction by (s2 / s1)^2 = 1e-4 a step.
  const PowerSgd one = of_rank(1);
  Sender sender(one);
  double error = 1.0;
  for (int step = 0; step < 4; ++step) error = distance_squared(sender.sent(x), x) / norm_squared(x);
  CHECK(error == Approx(1e-4).epsilon(0.2));  // |second|^2 / |both|^2, about 0.01^2
}

TEST_CASE("power_sgd's sum over ranks is the product of the summed factors") {
  // With one Q for all, P is of the sum of the matrices: as if one rank had compressed the sum.
  const PowerSgd two = of_rank(2);
  Sender sender(two);
  const std::vector<double> x = spiky(900);
  std::vector<double> half = x;
  for (double& each : half) each *= 0.5;
  const Occasion occasion = sender.occasion(900);
  CompressorMemory of_sum, of_halves;
  const auto whole = two.encode(sender.dispatcher.constant(x), occasion, of_sum);
  const auto both = [](const values::Tensor& one) { return one + one; };
  const auto summed = two.summed(sender.dispatcher.constant(half), occasion, of_halves, both);
  const std::vector<double> a(whole.value().begin(), whole.value().end());
  CHECK(distance_squared({summed.sum.value().begin(), summed.sum.value().end()}, a) <= 1e-20 * norm_squared(a));
  CHECK(distance_squared({summed.own.value().begin(), summed.own.value().end()}, a) ==
        Approx(0.25 * norm_squared(a)).epsilon(1e-9));  // a half of it is each rank's own
}

TEST_CASE("columns become orthonormal, and those that depend on others give way") {
  for (const std::size_t columns : {1, 3, 6}) {
    std::vector<double> a(6 * columns);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i / columns + 1) * (i % 2 == 0 ? 1.0 : 1e-30);
    orthonormalize(a, 6, columns);
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double product = 0.0;
        for (std::size_t row = 0; row < 6; ++row) product += a[row * columns + i] * a[row * columns + j];
        CHECK(product == Approx(i == j ? 1.0 : 0.0).margin(1e-12));
      }
  }
}

TEST_CASE("a rank above that of the layers' matrices does not fit, nor vectors alone") {
  const std::vector<models::Layer> layers{{.first = 0, .count = 15, .rows = 3, .columns = 4},
                                          {.first = 15, .count = 30, .rows = 15, .columns = 2}};
  CHECK(of_rank(3).refusal(45, layers).empty());
  CHECK(of_rank(4).refusal(45, layers) ==
        "rank = 4, but the model's layers are matrices of a rank of at most 3 (3 x 4); expected at most that");
  CHECK(of_rank(1).refusal(9, std::vector<models::Layer>{{.first = 0, .count = 9}}) ==
        "the model's parameters are vectors, which power_sgd does not compress; take another kind, or leave it out");
}

}  // namespace power_sgd_test
