#include "training/compressors/power_sgd.h"

#include <fmt/format.h>

#include <algorithm>

#include "training/compressors/gram_schmidt.h"

namespace simgrad::training {

using values::Tensor;
using Inputs = std::span<const std::span<const double>>;
using Result = std::span<double>;
using Matrices = std::vector<LowRank>;

namespace {

constexpr double seconds_per_flop = 1e-9;

std::int64_t left_size(const LowRank& one) { return one.rank > 0 ? one.rows * one.rank : one.count; }
std::int64_t left_size(const Matrices& all) {
  std::int64_t size = 0;
  for (const LowRank& one : all) size += left_size(one);
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

/// Calls f(matrix, where its left factor begins, where its right factor begins) for each matrix.
template <class F>
void each(const Matrices& all, F f) {
  std::size_t left = 0;
  std::size_t right = 0;
  for (const LowRank& one : all) {
    f(one, left, right);
    left += static_cast<std::size_t>(left_size(one));
    right += static_cast<std::size_t>(one.columns * one.rank);
  }
}

/// Calls f(row, column, the number's place in the vector) for all numbers of the matrix.
template <class F>
void each_number(const LowRank& one, F f) {
  std::size_t row = 0;
  auto column = static_cast<std::size_t>(one.column);
  for (std::int64_t i = 0; i < one.count; ++i) {
    f(row, column, static_cast<std::size_t>(one.first + i));
    if (++column == static_cast<std::size_t>(one.columns)) {
      column = 0;
      ++row;
    }
  }
}

/// Copies the numbers that are sent uncompressed from one place to another.
void copy_vector(const LowRank& one, std::span<const double> from, std::size_t at, Result to, std::size_t place) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(one.count); ++i) to[place + i] = from[at + i];
}

Tensor product(std::string_view name, const Matrices& all, std::int64_t size, const std::vector<Tensor>& inputs,
               const Occasion& occasion, values::Kernel kernel) {
  std::vector<std::uint64_t> key;
  for (const LowRank& one : all) {
    for (const std::int64_t part : {one.count, one.column, one.columns, one.rank})
      key.push_back(static_cast<std::uint64_t>(part));
  }
  const values::Operation operation{.name = name, .key = key, .seconds = seconds_per_flop * product_flops(all)};
  return occasion.dispatcher.dispatch(operation, size, inputs, std::move(kernel));
}

/// M Q for each matrix; vectors are copied.
Tensor left_factors(const Matrices& all, const Tensor& x, const Tensor& q, const Occasion& occasion) {
  return product("power_sgd left", all, left_size(all), {x, q}, occasion, [all](Inputs in, Result p) {
    std::fill(p.begin(), p.end(), 0.0);
    each(all, [&](const LowRank& one, std::size_t left, std::size_t right) {
      const auto r = static_cast<std::size_t>(one.rank);
      if (r == 0) return copy_vector(one, in[0], static_cast<std::size_t>(one.first), p, left);
      each_number(one, [&](std::size_t row, std::size_t column, std::size_t at) {
        for (std::size_t c = 0; c < r; ++c) p[left + row * r + c] += in[0][at] * in[1][right + column * r + c];
      });
    });
  });
}

/// M' P for each matrix.
Tensor right_factors(const Matrices& all, const Tensor& x, const Tensor& p, const Occasion& occasion) {
  return product("power_sgd right", all, right_size(all), {x, p}, occasion, [all](Inputs in, Result q) {
    std::fill(q.begin(), q.end(), 0.0);
    each(all, [&](const LowRank& one, std::size_t left, std::size_t right) {
      const auto r = static_cast<std::size_t>(one.rank);
      if (r == 0) return;
      each_number(one, [&](std::size_t row, std::size_t column, std::size_t at) {
        for (std::size_t c = 0; c < r; ++c) q[right + column * r + c] += in[0][at] * in[1][left + row * r + c];
      });
    });
  });
}

/// P Q' for each matrix; vectors are copied from `as_they_are`, which has the layout of P.
Tensor products(const Matrices& all, std::int64_t n, const Tensor& p, const Tensor& q, const Tensor& as_they_are,
                const Occasion& occasion) {
  return product("power_sgd product", all, n, {p, q, as_they_are}, occasion, [all](Inputs in, Result x) {
    each(all, [&](const LowRank& one, std::size_t left, std::size_t right) {
      const auto r = static_cast<std::size_t>(one.rank);
      if (r == 0) return copy_vector(one, in[2], left, x, static_cast<std::size_t>(one.first));
      each_number(one, [&](std::size_t row, std::size_t column, std::size_t at) {
        double sum = 0.0;
        for (std::size_t c = 0; c < r; ++c) sum += in[0][left + row * r + c] * in[1][right + column * r + c];
        x[at] = sum;
      });
    });
  });
}

Tensor orthonormal(const Matrices& all, const Tensor& p, const Occasion& occasion) {
  return product("power_sgd orthonormal", all, left_size(all), {p}, occasion, [all](Inputs in, Result result) {
    std::copy(in[0].begin(), in[0].end(), result.begin());
    each(all, [&](const LowRank& one, std::size_t left, std::size_t) {
      if (one.rank == 0) return;
      const auto rows = static_cast<std::size_t>(one.rows);
      const auto columns = static_cast<std::size_t>(one.rank);
      orthonormalize(result.subspan(left, rows * columns), rows, columns);
    });
  });
}

Tensor first_factors(const Matrices& all, const Occasion& occasion) {
  const std::vector<std::uint64_t> key = words(occasion.shared_draws);
  const values::Operation operation{
      .name = "power_sgd start", .key = key, .seconds = 50e-9 * static_cast<double>(right_size(all))};
  return occasion.dispatcher.dispatch(operation, right_size(all), {},
                                      [draws = occasion.shared_draws](Inputs, Result q) {
                                        base::Stream stream(draws);
                                        std::generate(q.begin(), q.end(), [&] { return stream.normal(); });
                                      });
}

}  // namespace

std::vector<LowRank> low_ranks(std::span<const LayerPiece> pieces, std::int64_t rank) {
  std::vector<LowRank> all;
  std::int64_t first = 0;
  for (const LayerPiece& piece : pieces) {
    LowRank one{.first = first, .count = piece.count, .column = piece.column, .columns = piece.columns};
    if (piece.columns > 0) {
      one.rows = (piece.column + piece.count + piece.columns - 1) / piece.columns;
      const std::int64_t r = std::min({rank, one.rows, one.columns});
      if (r * (one.rows + one.columns) < one.count) one.rank = r;
    }
    all.push_back(one);
    first += piece.count;
  }
  return all;
}

void PowerSgd::describe(base::Describer& d) {
  d.integer("rank", rank, "r: the columns of the factors; at most the rows and the columns of some layer",
            base::Bounds::between(1, 10'000));
  describe_error_feedback(d);
  describe_passes(d);
}

Tensor PowerSgd::encode(const Tensor& x, const Occasion& occasion, CompressorMemory& memory) const {
  const Summed alone = summed(x, occasion, memory, [](const Tensor& factors) { return factors; });
  const Matrices all = low_ranks(occasion.pieces, rank);
  return values::encoded(alone.sum, 8 * (left_size(all) + right_size(all)));
}

Compressor::Summed PowerSgd::summed(const Tensor& x, const Occasion& occasion, CompressorMemory& memory,
                                    const SumOverRanks& sum) const {
  if (x.size() == 0) return {x, x};
  const Matrices all = low_ranks(occasion.pieces, rank);
  if (right_size(all) == 0) return {sum(x), x};  // vectors alone
  if (!memory.factors) memory.factors = first_factors(all, occasion);
  const Tensor own_left = left_factors(all, x, memory.factors, occasion);
  const Tensor left = sum(own_left);
  const Tensor p = orthonormal(all, left, occasion);
  const Tensor own = right_factors(all, x, p, occasion);
  memory.factors = sum(own);
  const Tensor result = products(all, x.size(), p, memory.factors, left, occasion);
  return {result, error_feedback ? products(all, x.size(), p, own, own_left, occasion) : result};
}

double PowerSgd::encode_flops(std::int64_t, const Occasion& occasion) const {
  const Matrices all = low_ranks(occasion.pieces, rank);
  double flops = (error_feedback ? 3.0 : 2.0) * product_flops(all);
  for (const LowRank& one : all) flops += 4.0 * static_cast<double>(one.rows * one.rank * one.rank);
  return flops;
}

double PowerSgd::decode_flops(std::int64_t, const Occasion& occasion) const {
  return product_flops(low_ranks(occasion.pieces, rank));
}

std::string PowerSgd::refusal(std::int64_t, std::span<const models::Layer> layers) const {
  const auto most = [](const models::Layer& layer) { return std::min(layer.rows, layer.columns); };
  const auto widest = std::ranges::max_element(layers, {}, most);
  if (widest == layers.end() || most(*widest) == 0)
    return "the model's parameters are vectors, which power_sgd does not compress; take another kind, or leave it out";
  if (rank <= most(*widest)) return {};
  return fmt::format(
      "rank = {}, but the model's layers are matrices of a rank of at most {} ({} x {}); expected at most that", rank,
      most(*widest), widest->rows, widest->columns);
}

}  // namespace simgrad::training
