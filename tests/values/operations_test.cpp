#include <algorithm>
#include <cmath>
#include <random>

#include "base/errors.h"
#include "catch.h"
#include "values/kernels.h"
#include "values/tensor.h"

namespace simgrad::values {

namespace {

/// Numbers of very different size, so that any other order of additions shows.
std::vector<double> rough_numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> numbers(n);
  for (double& x : numbers) x = std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 60));
  return numbers;
}

}  // namespace

TEST_CASE("arithmetic does to every element what it says") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads, .inline_below_s = 0.0});
    const Tensor a = dispatcher.constant({1, 2, 3});
    const Tensor b = dispatcher.constant({10, 20, 30});
    CHECK(numbers_of(a + b) == std::vector<double>{11, 22, 33});
    CHECK(numbers_of(a - b) == std::vector<double>{-9, -18, -27});
    CHECK(numbers_of(0.5 * b) == std::vector<double>{5, 10, 15});
    CHECK(numbers_of(add_scaled(a, -0.5, b)) == std::vector<double>{-4, -8, -12});
    Tensor w = a;
    w += b;
    w -= a;
    CHECK(numbers_of(w) == std::vector<double>{10, 20, 30});
    CHECK(numbers_of(a) == std::vector<double>{1, 2, 3});
    CHECK(numbers_of(a + a) == std::vector<double>{2, 4, 6});
  }
}

TEST_CASE("both sides of an exchange hold the same sum") {
  Dispatcher dispatcher({});
  const Tensor mine = dispatcher.constant({1});
  const Tensor theirs = dispatcher.constant({2});
  const Tensor kept = mine + theirs;
  CHECK((theirs + mine).identity() == kept.identity());
}

TEST_CASE("sums add in the order of their terms, to the last bit") {
  for (const int threads : {0, 2})
    for (const std::size_t n : {0, 1, 2047, 2048, 5000})
      for (const std::size_t terms : {1, 2, 3, 9}) {
        Dispatcher dispatcher({.threads = threads, .inline_below_s = 0.0});
        std::vector<Tensor> tensors;
        std::vector<double> scales, plain, weighted;
        for (std::size_t k = 0; k < terms; ++k) {
          const auto numbers = rough_numbers(n, static_cast<unsigned>(k));
          scales.push_back(0.1 + 0.3 * static_cast<double>(k));
          tensors.push_back(dispatcher.constant(numbers));
          plain.resize(n, -0.0), weighted.resize(n, -0.0);  // -0 + x is x, even for x = -0
          for (std::size_t i = 0; i < n; ++i) plain[i] = plain[i] + numbers[i];
          for (std::size_t i = 0; i < n; ++i) weighted[i] = weighted[i] + scales[k] * numbers[i];
        }
        CHECK(same_bits(numbers_of(sum(tensors)), plain));
        CHECK(same_bits(numbers_of(weighted_sum(tensors, scales)), weighted));
      }
}

TEST_CASE("a running sum needs one buffer, and leaves alone what somebody still holds") {
  constexpr std::int64_t bytes = 1000 * 8;
  Dispatcher dispatcher({.threads = 1});
  const Tensor one = dispatcher.constant(std::vector<double>(1000, 1.0));
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  const Tensor late[] = {gate.tensor};
  Tensor running = dispatcher.dispatch({.name = "late"}, 1000, late, [](auto, std::span<double> result) {
    std::fill(result.begin(), result.end(), 2.0);
  });
  for (int k = 0; k < 100; ++k) running += one;
  gate.open();
  CHECK(running.value()[999] == 102.0);
  CHECK(one.value()[0] == 1.0);
  CHECK(dispatcher.statistics().peak_bytes == 2 * bytes + 8);  // one, the sum, and the gate's number
}

TEST_CASE("storage that was lent is not found again by value numbering") {
  Dispatcher dispatcher({.threads = 1});
  const Tensor a = dispatcher.constant({1, 2});
  const Tensor b = dispatcher.constant({3, 4});
  const auto overwritten = std::make_shared<std::atomic<bool>>(false);
  const auto open = std::make_shared<std::atomic<bool>>(false);
  Gate gate(dispatcher);
  REQUIRE(gate.holds_a_thread());
  std::vector<Tensor> inputs{a + b};
  const std::uint64_t lender = inputs[0].identity();
  const Tensor borrower = dispatcher.dispatch({.name = "overwrite", .seconds = long_s, .overwrites = 1}, 2, inputs,
                                              [overwritten, open](auto, std::span<double> result) {
                                                std::fill(result.begin(), result.end(), 0.0);
                                                *overwritten = true;
                                                eventually([&] { return open->load(); });
                                              });
  inputs.clear();
  gate.open();
  REQUIRE(eventually([&] { return overwritten->load(); }));
  const Tensor again = a + b;
  *open = true;
  CHECK(again.identity() != lender);
  CHECK(numbers_of(again) == std::vector<double>{4, 6});
}

TEST_CASE("a slice shares its tensor's numbers, and a slice of a slice is a slice") {
  Dispatcher dispatcher({});
  const Tensor a = dispatcher.constant({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor middle = slice(a, 2, 6);
  const Tensor inner = slice(middle, 1, 3);
  CHECK(numbers_of(inner) == std::vector<double>{3, 4, 5});
  CHECK(inner.value().data() == a.value().data() + 3);
  CHECK(inner.identity() == slice(a, 3, 3).identity());
  CHECK(slice(a, 0, 10).identity() == a.identity());
  CHECK(slice(a, 4, 0).size() == 0);
  CHECK(numbers_of(slice(a, 4, 0)).empty());
  CHECK(dispatcher.statistics().live_bytes == 10 * 8);
}

TEST_CASE("a slice of unfinished work waits for it, and keeps it") {
  Dispatcher dispatcher({.threads = 1});
  Tensor part;
  {
    Gate gate(dispatcher);
    const Tensor pending[] = {gate.tensor};
    const Tensor whole = dispatcher.dispatch({.name = "late"}, 4, pending,
                                             [](auto, std::span<double> r) { std::fill(r.begin(), r.end(), 7); });
    part = slice(whole, 1, 2);
  }
  CHECK(numbers_of(3.0 * part) == std::vector<double>{21, 21});
  CHECK(numbers_of(part) == std::vector<double>{7, 7});
}

TEST_CASE("slices that adjoin are put together without a copy") {
  Dispatcher dispatcher({});
  const Tensor a = dispatcher.constant({0, 1, 2, 3, 4});
  const Tensor b = dispatcher.constant({5});
  const auto join = [](std::vector<Tensor> parts) { return concatenate(parts); };
  CHECK(join({slice(a, 0, 2), slice(a, 2, 0), slice(a, 2, 3)}).identity() == a.identity());
  CHECK(join({slice(a, 1, 2), slice(a, 3, 1)}).identity() == slice(a, 1, 3).identity());
  CHECK(join({b}).identity() == b.identity());
  CHECK(join({slice(b, 0, 0), a, slice(b, 1, 0)}).identity() == a.identity());
  CHECK(numbers_of(join({slice(a, 2, 3), slice(a, 0, 2)})) == std::vector<double>{2, 3, 4, 0, 1});
  CHECK(numbers_of(join({a, a})) == std::vector<double>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
  CHECK(numbers_of(join({slice(a, 0, 2), b, slice(a, 2, 3)})) == std::vector<double>{0, 1, 5, 2, 3, 4});
  CHECK(join({slice(a, 2, 0), slice(b, 0, 0)}).size() == 0);
}

TEST_CASE("operands that do not fit are refused") {
  Dispatcher dispatcher({}), other({});
  const Tensor a = dispatcher.zeros(3);
  const std::vector<Tensor> none;
  const std::vector<double> one{1.0};
  CHECK_THROWS_AS(a + dispatcher.zeros(4), base::InvariantError);
  CHECK_THROWS_AS(a + other.zeros(3), base::InvariantError);
  CHECK_THROWS_AS(a + Tensor(), base::InvariantError);
  CHECK_THROWS_AS(sum(none), base::InvariantError);
  CHECK_THROWS_AS(weighted_sum(none, one), base::InvariantError);
  CHECK_THROWS_AS(concatenate(none), base::InvariantError);
  CHECK_THROWS_AS(slice(a, 1, 3), base::InvariantError);
  CHECK_THROWS_AS(slice(a, -1, 1), base::InvariantError);
}

}  // namespace simgrad::values
