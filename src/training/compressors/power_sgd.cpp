#include "training/compressors/power_sgd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training/compressors/gram_schmidt.h"

namespace simgrad::training {

using values::Tensor;
using Inputs = std::span<const std::span<const double>>;
using Result = std::span<double>;
using Matrices = std::vector<LowRank>;

namespace {

constexpr double seconds_per_flop = 1e-9;

std::int64_t left_size(const Matrices& all) {
  std::int64_t size = 0;
  for (const LowRank& one : all) size += one.rows * one.rank;
  return size;
}
std::int64_t right_size(const Matrices& all) {
  std::int64_t size = 0;
  for (const LowRank& one : all) size += one.columns * one.rank;
  return size;
}
double product_flops(const Matrices& all) {
  double flops = 0.0;
  for (const LowRank& one : all) flops += 2.0 * static_cast<double>(one.rows * one.columns * one.rank);
  return flops;
}

/// f(matrix, where its left factor begins, where its right one does)
template <class F>
void each(const Matrices& all, F f) {
  std::size_t left = 0;
  std::size_t right = 0;
  for (const LowRank& one : all) {
    f(one, left, right);
    left += static_cast<std::size_t>(one.rows * one.rank);
    right += static_cast<std::size_t>(one.columns * one.rank);
  }
}

/// f(row, column, the number's place in the vector) for all numbers of the matrix.
template <class F>
void each_number(const LowRank& one, F f) {
  for (std::int64_t i = 0; i < one.count; ++i)
    f(static_cast<std::size_t>(i / one.columns), static_cast<std::size_t>(i % one.columns),
      static_cast<std::size_t>(one.first + i));
}

Tensor product(std::string_view name, const Matrices& all, std::int64_t size, const Tensor& a, const Tensor& b,
               const Occasion& occasion, values::Kernel kernel) {
  std::vector<std::uint64_t> key;
  for (const LowRank& one : all) {
    key.push_back(static_cast<std::uint64_t>(one.count));
    key.push_back(static_cast<std::uint64_t>(one.rank));
  }
  const Tensor inputs[] = {a, b};
  const values::Operation operation{.name = name, .key = key, .seconds = seconds_per_flop * product_flops(all)};
  return occasion.dispatcher.dispatch(operation, size, inputs, std::move(kernel));
}

/// M Q, of each matrix.
Tensor left_factors(const Matrices& all, const Tensor& x, const Tensor& q, const Occasion& occasion) {
  return product("power_sgd left", all, left_size(all), x, q, occasion, [all](Inputs in, Result p) {
    std::fill(p.begin(), p.end(), 0.0);
    each(all, [&](const LowRank& one, std::size_t left, std::size_t right) {
      const auto r = static_cast<std::size_t>(one.rank);
      each_number(one, [&](std::size_t row, std::size_t column, std::size_t at) {
        for (std::size_t c = 0; c < r; ++c) p[left + row * r + c] += in[0][at] * in[1][right + column * r + c];
      });
    });
  });
}

/// M' P, of each matrix.
Tensor right_factors(const Matrices& all, const Tensor& x, const Tensor& p, const Occasion& occasion) {
  return product("power_sgd right", all, right_size(all), x, p, occasion, [all](Inputs in, Result q) {
    std::fill(q.begin(), q.end(), 0.0);
    each(all, [&](const LowRank& one, std::size_t left, std::size_t right) {
      const auto r = static_cast<std::size_t>(one.rank);
      each_number(one, [&](std::size_t row, std::size_t column, std::size_t at) {
        for (std::size_t c = 0; c < r; ++c) q[right + column * r + c] += in[0][at] * in[1][left + row * r + c];
      });
    });
  });
}

/// P Q', of each matrix.
Tensor products(const Matrices& all, std::int64_t n, const Tensor& p, const Tensor& q, const Occasion& occasion) {
  return product("power_sgd product", all, n, p, q, occasion, [all](Inputs in, Result x) {
    each(all, [&](const LowRank& one, std::size_t left, std::size_t right) {
      const auto r = static_cast<std::size_t>(one.rank);
      each_number(one, [&](std::size_t row, std::size_t column, std::size_t at) {
        double sum = 0.0;
        for (std::size_t c = 0; c < r; ++c) sum += in[0][left + row * r + c] * in[1][right + column * r + c];
        x[at] = sum;
      });
    });
  });
}

Tensor orthonormal(const Matrices& all, const Tensor& p, const Occasion& occasion) {
  return product("power_sgd orthonormal", all, left_size(all), p, p, occasion, [all](Inputs in, Result result) {
    std::copy(in[0].begin(), in[0].end(), result.begin());
    each(all, [&](const LowRank& one, std::size_t left, std::size_t) {
      const auto rows = static_cast<std::size_t>(one.rows);
      const auto columns = static_cast<std::size_t>(one.rank);
      orthonormalize(result.subspan(left, rows * columns), rows, columns);
    });
  });
}

Tensor first_factors(const Matrices& all, const Occasion& occasion) {
  const std::vector<std::uint64_t> key = words(occasion.shared_draws);
  const values::Operation operation{.name = "power_sgd start", .key = key,
                                    .seconds = 50e-9 * static_cast<double>(right_size(all))};
  return occasion.dispatcher.dispatch(operation, right_size(all), {}, [draws = occasion.shared_draws](Inputs, Result q) {
    base::Stream stream(draws);
    std::generate(q.begin(), q.end(), [&] { return stream.normal(); });
  });
}

}  // namespace

std::vector<LowRank> low_ranks(std::span<const std::int64_t> layers, std::int64_t rank) {
  std::vector<LowRank> all;
  std::int64_t first = 0;
  for (const std::int64_t count : layers) {
    if (count == 0) continue;
    auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(count)));
    while (rows * rows > count) --rows;
    all.push_back({first, count, rows, (count + rows - 1) / rows, std::min(rank, rows)});
    first += count;
  }
  return all;
}

void PowerSgd::describe(base::Describer& d) {
  d.integer("rank", rank, "r: columns of the factors; at most the rows of the largest layer as a matrix",
            base::Bounds::between(1, 10'000));
  describe_error_feedback(d);
}

Tensor PowerSgd::encode(const Tensor& x, const Occasion& occasion, CompressorMemory& memory) const {
  const Summed alone = summed(x, occasion, memory, [](const Tensor& factors) { return factors; });
  const Matrices all = low_ranks(occasion.layers, rank);
  return values::encoded(alone.sum, 8 * (left_size(all) + right_size(all)));
}

Compressor::Summed PowerSgd::summed(const Tensor& x, const Occasion& occasion, CompressorMemory& memory,
                                    const SumOverRanks& sum) const {
  if (x.size() == 0) return {x, x};
  const Matrices all = low_ranks(occasion.layers, rank);
  if (!memory.factors) memory.factors = first_factors(all, occasion);
  const Tensor p = orthonormal(all, sum(left_factors(all, x, memory.factors, occasion)), occasion);
  const Tensor own = right_factors(all, x, p, occasion);
  memory.factors = sum(own);
  const Tensor result = products(all, x.size(), p, memory.factors, occasion);
  return {result, error_feedback ? products(all, x.size(), p, own, occasion) : result};
}

double PowerSgd::encode_flops(std::int64_t, const Occasion& occasion) const {
  const Matrices all = low_ranks(occasion.layers, rank);
  double flops = 2.0 * product_flops(all);
  for (const LowRank& one : all) flops += 4.0 * static_cast<double>(one.rows * one.rank * one.rank);
  return flops;
}

double PowerSgd::decode_flops(std::int64_t, const Occasion& occasion) const {
  return product_flops(low_ranks(occasion.layers, rank));
}

std::string PowerSgd::unfit(std::int64_t, std::span<const models::Layer> layers) const {
  std::vector<std::int64_t> counts;
  for (const models::Layer& layer : layers) counts.push_back(layer.count);
  const Matrices all = low_ranks(counts, rank);
  const auto most = std::max_element(all.begin(), all.end(),
                                     [](const LowRank& a, const LowRank& b) { return a.rows < b.rows; });
  if (most == all.end() || rank <= most->rows) return {};
  return fmt::format("rank = {}, but the largest layer has {} parameters, which as a matrix of {} x {} has a rank of at most "
                     "{}; expected at most that",
                     rank, most->count, most->rows, most->columns, most->rows);
}

}  // namespace simgrad::training
