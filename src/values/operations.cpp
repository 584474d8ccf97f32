/// Arithmetic on tensors.
///
/// Sums are rounded as written: no product is fused with the addition after it, on any machine. Baseline x86-64 has no
/// such instruction; builds for other targets (or -march=native) need -ffp-contract=off to give the same bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/errors.h"
#include "values/dispatcher_impl.h"
#include "values/rounding.h"

namespace simgrad::values {

namespace {

using base::check;
using Inputs = std::span<const std::span<const double>>;
using Result = std::span<double>;

constexpr double seconds_per_byte = 1e-10;  // one core streaming from memory
constexpr std::int64_t bytes_at_a_time = std::int64_t{64} << 20;
constexpr std::size_t block = 2048;  // 16 KB: the partial sums stay in the first-level cache

double seconds(std::size_t operands, std::int64_t size) {
  return seconds_per_byte * 8.0 * static_cast<double>(operands + 1) * static_cast<double>(size);
}

/// result[i] = f(x[i], y[i]). The result may be x or y itself, which makes no dependence between different i. `ivdep`
/// says so to the compiler, which would otherwise not vectorise that case.
template <class F>
void each(Result result, std::span<const double> x, std::span<const double> y, F f) {
  const double* const xs = x.data();
  const double* const ys = y.data();
  double* const results = result.data();
  const std::size_t n = result.size();
#pragma GCC ivdep
  for (std::size_t i = 0; i < n; ++i) results[i] = f(xs[i], ys[i]);
}

template <class F>
Tensor elementwise(std::string_view name, std::span<const std::uint64_t> key, std::span<const Tensor> inputs, F f) {
  const std::int64_t size = inputs.front().size();
  for (const Tensor& input : inputs) check(input.size() == size, "operands of different sizes");
  const Operation operation{
      .name = name, .key = key, .seconds = seconds(inputs.size(), size), .overwrites = static_cast<int>(inputs.size())};
  return Node::of(inputs.front()).dispatcher->dispatch(operation, size, inputs, [f](Inputs numbers, Result result) {
    each(result, numbers.front(), numbers.back(), f);
  });
}

/// Rounds the numbers to the format, 2^exponent times as large. Powers of 2 change no digit.
void round_in_place(const WireFormat& wire, Result numbers) {
  const double scale = std::ldexp(1.0, wire.exponent), back = std::ldexp(1.0, -wire.exponent);
  if (wire.exponent != 0) each(numbers, numbers, numbers, [scale](double x, double) { return scale * x; });
  round_numbers(wire.format, numbers, numbers);
  if (wire.exponent != 0) each(numbers, numbers, numbers, [back](double x, double) { return back * x; });
}

/// x + y, rounded to the format, block by block.
void add_rounded(const WireFormat& wire, Result result, std::span<const double> x, std::span<const double> y) {
  for (std::size_t first = 0; first < result.size(); first += block) {
    const std::size_t count = std::min(block, result.size() - first);
    const Result part = result.subspan(first, count);
    each(part, x.subspan(first, count), y.subspan(first, count), std::plus<>());
    round_in_place(wire, part);
  }
}

/// The format of sums of these: their common rounding format, else float64.
WireFormat wire_of_sum(std::span<const Tensor> terms) {
  const WireFormat wire = terms.front().wire_format();
  const bool one =
      std::all_of(terms.begin(), terms.end(), [&](const Tensor& term) { return term.wire_format() == wire; });
  return one && rounds(wire.format) ? wire : WireFormat{};
}

/// Adds the terms in one pass over the elements, block by block, and in a block term by term. So additions keep the
/// terms' order, and every number is read once from memory.
void add_terms(Inputs terms, std::span<const double> scales, Result result) {
  for (std::size_t first = 0; first < result.size(); first += block) {
    const std::size_t count = std::min(block, result.size() - first);
    const Result part = result.subspan(first, count);
    const auto start = terms[0].subspan(first, count);
    each(part, start, start, [s = scales[0]](double t, double) { return s * t; });
    for (std::size_t k = 1; k < terms.size(); ++k)
      each(part, part, terms[k].subspan(first, count), [s = scales[k]](double r, double t) { return r + s * t; });
  }
}

Tensor dispatch_sum(std::string_view name, std::span<const std::uint64_t> key, std::span<const Tensor> terms,
                    std::vector<double> scales) {
  const std::int64_t size = terms.front().size();
  for (const Tensor& term : terms) check(term.size() == size, "terms of different sizes");
  const Operation operation{.name = name, .key = key, .seconds = seconds(terms.size(), size), .overwrites = 1};
  return Node::of(terms.front())
      .dispatcher->dispatch(operation, size, terms, [scales = std::move(scales)](Inputs numbers, Result result) {
        add_terms(numbers, scales, result);
      });
}

/// The larger of two. It does not depend on their order, even for zeros of two signs; NaN stays NaN.
double larger(double x, double y) {
  if (x == y) return std::signbit(x) ? y : x;
  return x < y ? y : x > y ? x : x + y;
}
double smaller(double x, double y) { return -larger(-x, -y); }

/// Dispatches on a and b in the order of their identities, so that f(a, b) and f(b, a) are one tensor.  kernel: a
/// function of the result and the two operands' numbers, in that order.
template <class F>
Tensor symmetric(std::string_view name, const Tensor& a, const Tensor& b, F kernel) {
  check(a.size() == b.size(), "operands of different sizes");
  const bool in_order = a.identity() <= b.identity();
  const Tensor inputs[] = {in_order ? a : b, in_order ? b : a};
  const WireFormat wire = wire_of_sum(inputs);
  const Operation operation{
      .name = name, .seconds = seconds(2, a.size()), .wire_format = wire, .commutes = true, .overwrites = 2};
  return Node::of(a).dispatcher->dispatch(
      operation, a.size(), inputs, [kernel](Inputs numbers, Result result) { kernel(result, numbers[0], numbers[1]); });
}

/// Combines the terms chunk by chunk, each chunk in its own order.  fold(part, term): combines the next term's chunk
/// into the result's, `part`.
template <class F>
void fold_around(Inputs terms, std::span<const std::int64_t> starts, int shift, Result result, F fold) {
  const std::size_t P = terms.size();
  for (std::size_t c = 0; c < P; ++c) {
    const auto end = c + 1 < P ? static_cast<std::size_t>(starts[c + 1]) : result.size();
    for (auto first = static_cast<std::size_t>(starts[c]); first < end; first += block) {
      const std::size_t count = std::min(block, end - first);
      const Result part = result.subspan(first, count);
      const auto term = [&](std::size_t hop) {
        return terms[(c + static_cast<std::size_t>(shift) + hop) % P].subspan(first, count);
      };
      std::copy_n(term(0).begin(), count, part.begin());
      for (std::size_t hop = 1; hop < P; ++hop) fold(part, term(hop));
    }
  }
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) {
  const Tensor both[] = {a, b};
  const WireFormat wire = wire_of_sum(both);
  if (wire.format == Format::float64)
    return symmetric("add", a, b, [](Result result, auto x, auto y) { each(result, x, y, std::plus<>()); });
  return symmetric("add", a, b, [wire](Result result, auto x, auto y) { add_rounded(wire, result, x, y); });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return symmetric("maximum", a, b, [](Result result, auto x, auto y) { each(result, x, y, larger); });
}
Tensor minimum(const Tensor& a, const Tensor& b) {
  return symmetric("minimum", a, b, [](Result result, auto x, auto y) { each(result, x, y, smaller); });
}

Tensor combine(Combination how, const Tensor& a, const Tensor& b) {
  switch (how) {
    case Combination::add:
      return a + b;
    case Combination::maximum:
      return maximum(a, b);
    case Combination::minimum:
      return minimum(a, b);
  }
  return {};
}

Tensor combine_around(Combination how, std::span<const Tensor> terms, std::span<const std::int64_t> starts, int shift) {
  check(!terms.empty() && starts.size() == terms.size(), "as many stretches as terms");
  const std::int64_t size = terms.front().size();
  for (const Tensor& term : terms) check(term.size() == size, "terms of different sizes");
  std::vector<std::uint64_t> key{static_cast<std::uint64_t>(how), static_cast<std::uint64_t>(shift)};
  key.insert(key.end(), starts.begin(), starts.end());
  const WireFormat wire = wire_of_sum(terms);
  const Operation operation{
      .name = "combine_around", .key = key, .seconds = seconds(terms.size(), size), .wire_format = wire};
  const auto fold = [how, shift, wire, begins = std::vector(starts.begin(), starts.end())](Inputs all, Result result) {
    const auto around = [&](auto f) { fold_around(all, begins, shift, result, f); };
    switch (how) {
      case Combination::add:
        if (wire.format != Format::float64)
          return around([&](Result part, auto term) { add_rounded(wire, part, part, term); });
        return around([](Result part, auto term) { each(part, part, term, std::plus<>()); });
      case Combination::maximum:
        return around([](Result part, auto term) { each(part, part, term, larger); });
      case Combination::minimum:
        return around([](Result part, auto term) { each(part, part, term, smaller); });
    }
  };
  return Node::of(terms.front()).dispatcher->dispatch(operation, size, terms, fold);
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  const Tensor inputs[] = {a, b};
  return elementwise("subtract", {}, inputs, [](double x, double y) { return x - y; });
}

Tensor operator*(double scale, const Tensor& a) {
  const std::uint64_t key[] = {std::bit_cast<std::uint64_t>(scale)};
  return elementwise("scale", key, {&a, 1}, [scale](double x, double) { return scale * x; });
}

Tensor add_scaled(const Tensor& a, double scale, const Tensor& b) {
  const Tensor inputs[] = {a, b};
  const std::uint64_t key[] = {std::bit_cast<std::uint64_t>(scale)};
  return elementwise("add_scaled", key, inputs, [scale](double x, double y) { return x + scale * y; });
}

Tensor weighted_sum(std::span<const Tensor> terms, std::span<const double> scales) {
  check(!terms.empty() && terms.size() == scales.size(), "a weighted sum needs a term, and a scale for each");
  std::vector<std::uint64_t> key(scales.size());
  std::transform(scales.begin(), scales.end(), key.begin(), [](double s) { return std::bit_cast<std::uint64_t>(s); });
  return dispatch_sum("weighted_sum", key, terms, {scales.begin(), scales.end()});
}

Tensor sum(std::vector<Tensor> terms) {
  check(!terms.empty(), "a sum needs a term");
  // Groups are summed from the left, each beginning with the sum so far, and 1 x is x: to the last bit the sum of all
  // terms in order.
  const std::int64_t length = std::max<std::int64_t>(terms.front().size(), 1);
  const auto at_a_time = static_cast<std::size_t>(std::clamp<std::int64_t>(bytes_at_a_time / (8 * length), 2, 1 << 20));
  std::vector<Tensor> group;
  for (std::size_t next = 0; next < terms.size();) {
    const std::size_t count = std::min(at_a_time - group.size(), terms.size() - next);
    std::move(terms.begin() + static_cast<std::ptrdiff_t>(next),
              terms.begin() + static_cast<std::ptrdiff_t>(next + count), std::back_inserter(group));
    next += count;
    if (group.size() > 1) group = {dispatch_sum("sum", {}, group, std::vector<double>(group.size(), 1.0))};
  }
  return group.front();
}

Tensor slice(const Tensor& a, std::int64_t first, std::int64_t count) {
  check(first >= 0 && count >= 0 && first <= a.size() - count, "a slice outside of its tensor");
  if (count == a.size()) return a;
  const Node& node = Node::of(a);
  return node.dispatcher->view(a, node.first + first, count, node.wire_format);
}

Tensor concatenate(std::span<const Tensor> parts) {
  check(!parts.empty(), "a concatenation needs a part");
  // Empty parts are skipped: a vector shorter than the number of ranks has empty chunks, which may be of any tensor.
  const auto filled = std::find_if(parts.begin(), parts.end(), [](const Tensor& part) { return part.size() > 0; });
  if (filled == parts.end()) return parts.front();
  const Node& front = Node::of(*filled);
  std::int64_t size = 0;
  std::int64_t bytes = 0;
  bool adjoin = true;  // adjacent slices of one tensor
  bool alike = true;   // parts of one wire format
  for (const Tensor& part : parts) {
    const Node& node = Node::of(part);
    if (node.size > 0) adjoin = adjoin && &node.root() == &front.root() && node.first == front.first + size;
    if (node.size > 0) alike = alike && node.wire_format == front.wire_format;
    size += node.size;
    bytes += part.size_bytes();
  }
  const WireFormat wire =
      alike ? front.wire_format : WireFormat{Format::encoded, static_cast<double>(bytes) / static_cast<double>(size)};
  if (adjoin) return front.dispatcher->view(*filled, front.first, size, wire);
  const Operation operation{.name = "concatenate", .seconds = seconds(1, size), .wire_format = wire, .joins = true};
  return front.dispatcher->dispatch(operation, size, parts, [](Inputs numbers, Result result) {
    auto to = result.begin();
    for (const auto part : numbers) to = std::copy(part.begin(), part.end(), to);
  });
}

Tensor transposed(const Tensor& x, std::int64_t outer, std::int64_t inner) {
  check(outer > 0 && inner > 0 && x.size() % (outer * inner) == 0, "blocks of one size fill a vector");
  if (outer == 1 || inner == 1) return x;
  const std::uint64_t key[] = {static_cast<std::uint64_t>(outer), static_cast<std::uint64_t>(inner)};
  const Operation operation{
      .name = "transpose", .key = key, .seconds = seconds(1, x.size()), .wire_format = x.wire_format()};
  return Node::of(x).dispatcher->dispatch(operation, x.size(), {&x, 1}, [outer, inner](Inputs numbers, Result result) {
    const std::int64_t n = std::ssize(result) / (outer * inner);
    for (std::int64_t i = 0; i < outer; ++i)
      for (std::int64_t j = 0; j < inner; ++j)
        std::copy_n(numbers[0].begin() + (i * inner + j) * n, n, result.begin() + (j * outer + i) * n);
  });
}

Tensor rounded(const Tensor& x, Format format) {
  if (x.wire_format().format == format) return x;
  if (format == Format::float64) return decoded(x);
  const std::uint64_t key[] = {static_cast<std::uint64_t>(format)};
  const Operation operation{.name = "round",
                            .key = key,
                            .seconds = seconds(1, x.size()),
                            .wire_format = wire_format(format),
                            .overwrites = 1};
  return Node::of(x).dispatcher->dispatch(operation, x.size(), {&x, 1}, [format](Inputs numbers, Result result) {
    round_numbers(format, numbers.front(), result);
  });
}

Tensor decoded(const Tensor& x) {
  const Node& node = Node::of(x);
  return node.wire_format == WireFormat{} ? x : node.dispatcher->view(x, node.first, node.size, {});
}

Tensor encoded(const Tensor& x, std::int64_t bytes) {
  const Node& node = Node::of(x);
  if (node.size == 0) return x;
  return node.dispatcher->view(x, node.first, node.size,
                               {Format::encoded, static_cast<double>(bytes) / static_cast<double>(node.size)});
}

}  // namespace simgrad::values
