// Compressors on their own, without ranks.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "catch.h"
#include "training/compressors/compressor.h"

namespace simgrad::tests {

inline double norm_squared(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double each : x) sum += each * each;
  return sum;
}

inline double distance_squared(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Numbers of both signs and of very different sizes.
inline std::vector<double> spiky(std::int64_t n) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i);
    x.push_back(std::sin(1.3 * t + 0.2) * std::exp(2.0 * std::sin(0.37 * t)));
  }
  return x;
}

/// The first numbers of a matrix that is about as wide as high.
inline training::LayerPiece matrix(std::int64_t n) {
  return {.count = n, .columns = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))))};
}

/// One sender of vectors.
struct Sender {
  explicit Sender(const training::Compressor& its_compressor) : compressor(its_compressor) {}

  training::Occasion occasion(std::int64_t n) {
    const base::Stream::Key key{
        .seed = 7, .purpose = base::Purpose::compression, .step = step++, .rank = 3, .attempt = 0};
    base::Stream::Key shared = key;
    shared.rank = 0;
    return {.dispatcher = dispatcher, .draws = key, .shared_draws = shared, .parameters = n, .pieces = {matrix(n)}};
  }
  values::Tensor code(const std::vector<double>& x) {
    return compressor.encode(dispatcher.constant(x), occasion(static_cast<std::int64_t>(x.size())), memory);
  }
  std::vector<double> sent(const std::vector<double>& x) {
    const values::Tensor tensor = code(x);
    const auto numbers = tensor.value();
    return {numbers.begin(), numbers.end()};
  }

  const training::Compressor& compressor;
  values::Dispatcher dispatcher{{}};
  training::CompressorMemory memory;
  std::uint64_t step = 0;
};

}  // namespace simgrad::tests
