#include "values/map.h"

#include <cmath>

#include "base/errors.h"
#include "catch.h"
#include "values/kernels.h"

namespace simgrad::values {

TEST_CASE("map applies a function of one to four numbers to every element") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads, .inline_below_s = 0.0});
    const Tensor a = dispatcher.constant({1, 4, 9}), b = dispatcher.constant({10, 20, 30});
    CHECK(numbers_of(map<1>("root", {}, {a}, [](double x) { return std::sqrt(x); })) == std::vector<double>{1, 2, 3});
    CHECK(numbers_of(map<2>("ratio", {}, {b, a}, [](double x, double y) { return x / y; })) ==
          std::vector<double>{10, 5, 30.0 / 9.0});
    CHECK(numbers_of(map<4>("four", {}, {a, b, b, a}, [](double x, double y, double z, double t) {
            return x * t + y - z;
          })) == std::vector<double>{1, 16, 81});
  }
}

TEST_CASE("maps of one name, scalars and operands are one tensor, and others are not") {
  Dispatcher dispatcher({});
  const Tensor a = dispatcher.constant({1, 2}), b = dispatcher.constant({3, 4});
  const auto scaled = [](std::string_view name, double s, const Tensor& x, const Tensor& y) {
    return map<2>(name, {{s}}, {x, y}, [s](double u, double v) { return s * (u - v); });
  };
  const Tensor kept = scaled("scaled", 2, a, b);
  CHECK(scaled("scaled", 2, a, b).identity() == kept.identity());
  CHECK(scaled("scaled", 3, a, b).identity() != kept.identity());
  CHECK(scaled("scaled", 2, b, a).identity() != kept.identity());
  CHECK(scaled("otherwise", 2, a, b).identity() != kept.identity());
}

TEST_CASE("a map may take over the storage of operands that nobody else holds, and leaves the others alone") {
  Dispatcher dispatcher({});
  const std::size_t n = 10000;
  const Tensor kept = dispatcher.constant(std::vector<double>(n, 3.0));
  Tensor chain = dispatcher.constant(std::vector<double>(n, 1.0));
  for (int k = 0; k < 5; ++k) chain = map<2>("add", {}, {chain, kept}, [](double x, double y) { return x + y; });
  CHECK(numbers_of(chain) == std::vector<double>(n, 16.0));
  CHECK(numbers_of(kept) == std::vector<double>(n, 3.0));
}

TEST_CASE("maps know their size in a timing-only run, and refuse operands of different sizes") {
  Dispatcher dispatcher({.numbers = false});
  const Tensor a = dispatcher.zeros(5), b = dispatcher.zeros(6);
  const auto sum = [](double x, double y) { return x + y; };
  CHECK(map<2>("sum", {}, {a, a}, sum).size() == 5);
  CHECK_THROWS_AS(map<2>("sum", {}, {a, b}, sum), base::InvariantError);
}

}  // namespace simgrad::values
