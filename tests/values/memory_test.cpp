// Results that nobody has read are bounded, with a pool and without, and sums let go of their terms as they go.
#include <cmath>

#include "catch.h"
#include "values/kernels.h"
#include "values/tensor.h"

namespace memory_test {

using namespace simgrad;
using namespace simgrad::values;

namespace {

constexpr std::int64_t length = 1000;

/// The i-th of many results, each of another number.
Tensor made(Dispatcher& dispatcher, int i, std::int64_t size = length) {
  const std::uint64_t key[] = {static_cast<std::uint64_t>(i)};
  return dispatcher.dispatch(
      {.name = "made", .key = key, .seconds = 1.0}, size, {},
      [i](auto, std::span<double> result) { std::fill(result.begin(), result.end(), 1.0 / (1.0 + i)); });
}

}  // namespace

TEST_CASE("results without a reader wait once there are too many bytes of them, and come all the same") {
  for (const int threads : {0, 2}) {
    CAPTURE(threads);
    Dispatcher dispatcher({.threads = threads, .unread_bytes_limit = 10 * 8 * length, .label = {}});
    std::vector<Tensor> all;
    for (int i = 0; i < 100; ++i) all.push_back(made(dispatcher, i));
    CHECK(dispatcher.statistics().peak_bytes <= (11 + threads) * 8 * length);
    for (int i = 99; i >= 0; --i) CHECK(all[static_cast<std::size_t>(i)].value()[0] == 1.0 / (1.0 + i));
  }
}

TEST_CASE("a chain of sums over results that wait runs from its beginning, a few results at a time") {
  for (const int threads : {0, 1, 2}) {
    CAPTURE(threads);
    Dispatcher dispatcher({.threads = threads, .unread_bytes_limit = 10 * 8 * length, .label = {}});
    std::vector<Tensor> all;
    for (int i = 0; i < 200; ++i) all.push_back(made(dispatcher, i));
    Tensor total = std::move(all[0]);
    for (std::size_t i = 1; i < all.size(); ++i) total = total + std::exchange(all[i], Tensor());
    double expected = 1.0;
    for (int i = 1; i < 200; ++i) expected += 1.0 / (1.0 + i);
    CHECK(total.value()[7] == expected);
    CHECK(dispatcher.statistics().peak_bytes <= (20 + 4 * threads) * 8 * length);
  }
}

TEST_CASE("a sum of long terms holds a few of them at a time, and adds in the order of the terms") {
  constexpr std::int64_t long_length = 1 << 20;  // 8 MiB: eight at a time
  for (const int threads : {0, 2}) {
    CAPTURE(threads);
    Dispatcher dispatcher({.threads = threads, .unread_bytes_limit = std::int64_t{64} << 20, .label = {}});
    std::vector<Tensor> all;
    for (int i = 0; i < 64; ++i) all.push_back(made(dispatcher, i, long_length));
    const Tensor total = sum(std::move(all));
    double expected = 1.0;
    for (int i = 1; i < 64; ++i) expected += 1.0 / (1.0 + i);
    CHECK(total.value()[0] == expected);
    CHECK(total.value()[long_length - 1] == expected);
    CHECK(dispatcher.statistics().peak_bytes <= 27 * 8 * long_length);
  }
}

TEST_CASE("without a pool the closures held are bounded too") {
  Dispatcher dispatcher({.threads = 0, .pending_limit = 16, .unread_bytes_limit = 8 * length, .label = {}});
  std::vector<Tensor> all;
  for (int i = 0; i < 100; ++i) all.push_back(made(dispatcher, i));
  CHECK(dispatcher.statistics().peak_bytes >= 80 * 8 * length);  // a closure that has no room is computed
  for (int i = 0; i < 100; ++i) CHECK(all[static_cast<std::size_t>(i)].value()[0] == 1.0 / (1.0 + i));
}

}  // namespace memory_test
