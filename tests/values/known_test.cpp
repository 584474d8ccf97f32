// Numbers that are known where none are computed.
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "base/hash.h"
#include "catch.h"
#include "values/dispatcher.h"

namespace known_test {

using namespace simgrad::values;

namespace {

/// x + 1, counted.
Tensor next(Dispatcher& dispatcher, const Tensor& x, int& count) {
  return dispatcher.dispatch({.name = "next"}, x.size(), {&x, 1},
                             [&count](std::span<const std::span<const double>> in, std::span<double> result) {
                               ++count;
                               for (std::size_t i = 0; i < result.size(); ++i) result[i] = in[0][i] + 1.0;
                             });
}

/// The number n, made of n operations that follow from nothing.
Tensor counted(Dispatcher& dispatcher, int n, int& count) {
  Tensor x = dispatcher.zeros(2);
  for (int i = 0; i < n; ++i) x = next(dispatcher, x, count);
  return x;
}

/// The numbers of the tensor 5.
std::shared_ptr<const Contents> five() {
  int count = 0;
  Dispatcher dispatcher({.lineages = true});
  const Tensor x = counted(dispatcher, 5, count);
  return std::make_shared<const Contents>(dispatcher.contents(1000).value());
}

}  // namespace

TEST_CASE("contents are the numbers of all tensors that are held, within a limit") {
  for (const int threads : {0, 2}) {
    int count = 0;
    Dispatcher dispatcher({.threads = threads, .lineages = true});
    const Tensor x = counted(dispatcher, 5, count), part = slice(x, 1, 1);
    const Contents contents = dispatcher.contents(16).value();
    REQUIRE(contents.size() == 1);  // neither those that are gone, nor a slice
    CHECK(contents.at(x.lineage()) == std::vector<double>{5.0, 5.0});
    CHECK_FALSE(dispatcher.contents(15));
    const Tensor y = x + x;
    CHECK(dispatcher.contents(32)->size() == 2);
  }
}

TEST_CASE("contents leave out what only work that has run still holds") {
  int count = 0;
  Dispatcher dispatcher({.threads = 2, .lineages = true});
  const auto slow_to_go = [] {
    return std::shared_ptr<void>(nullptr, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
  };
  Tensor x = counted(dispatcher, 5, count);
  const Tensor y = dispatcher.dispatch({.name = "slow to go", .seconds = 1.0}, 1, {&x, 1},
                                       [held = slow_to_go()](auto in, std::span<double> out) { out[0] = in[0][0]; });
  x = Tensor();
  const Contents contents = dispatcher.contents(1000).value();
  CHECK(contents.size() == 1);
  CHECK(contents.contains(y.lineage()));
}

TEST_CASE("contents leave out tensors that few operations make of nothing") {
  int count = 0;
  Dispatcher dispatcher({.lineages = true});
  const Tensor two = counted(dispatcher, 2, count), zeros = dispatcher.zeros(2);
  CHECK(dispatcher.contents(1000)->empty());
}

TEST_CASE("what follows from a known tensor is computed, what comes before it is not") {
  for (const int threads : {0, 2}) {
    int count = 0;
    Dispatcher dispatcher({.threads = threads, .numbers = false, .lineages = true, .known = five()});
    const Tensor four = counted(dispatcher, 4, count);
    CHECK(four.timing_only());
    const Tensor x = next(dispatcher, four, count), y = next(dispatcher, x, count);
    CHECK_FALSE(x.timing_only());
    CHECK(x.value()[1] == 5.0);
    CHECK(slice(y, 0, 1).value()[0] == 6.0);
    CHECK(count == 1);
    CHECK((x + four).timing_only());
    CHECK(slice(four, 0, 1).timing_only());
  }
}

TEST_CASE("initial values and draws are computed when something needs them") {
  int count = 0;
  Dispatcher dispatcher({.numbers = false, .lineages = true, .known = five()});
  const Tensor one = counted(dispatcher, 1, count), two = next(dispatcher, one, count);
  CHECK(count == 0);
  int others = 0;
  const Tensor five_more = counted(dispatcher, 5, others) + two;
  CHECK(five_more.value()[0] == 7.0);
  CHECK(count == 2);
  CHECK(one.value()[0] == 1.0);
  CHECK((counted(dispatcher, 5, others) + dispatcher.constant({1.0, 2.0})).value()[1] == 7.0);
  CHECK(count == 2);
  CHECK(others == 0);  // 3 and 4 are not computed, 5 is known, 1 and 2 are those above
}

TEST_CASE("a known tensor of another length is left out, and counted: its numbers are of another training") {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
    Contents forged = *five();
    forged.begin()->second.assign(length, 5.0);
    int count = 0;
    Dispatcher dispatcher({.numbers = false, .lineages = true, .known = std::make_shared<const Contents>(forged)});
    const Tensor x = counted(dispatcher, 5, count), y = next(dispatcher, x, count);
    CHECK(x.timing_only());
    CHECK(y.timing_only());
    CHECK(dispatcher.statistics().misfits == 1);
  }
}

TEST_CASE("contents whose tensors are unknown, there twice, or longer than the text are none") {
  const auto text = [](const std::vector<std::uint64_t>& words) {
    std::string bytes(words.size() * sizeof(std::uint64_t), '\0');
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes + simgrad::base::hash(bytes);
  };
  constexpr std::uint64_t first = 0x7374617465732d31;
  CHECK(contents_of(text({first, 1, 2, 1, 0}))->size() == 1);
  CHECK(contents_of(text({first, 1, 2, 0, 1, 3, 0}))->size() == 2);
  CHECK_FALSE(contents_of(text({first, 0, 0, 1, 0})));
  CHECK_FALSE(contents_of(text({first, 1, 2, 0, 1, 2, 0})));
  CHECK_FALSE(contents_of(text({first, 1, 3, 0, 1, 2, 0})));
  for (const std::uint64_t size : {std::uint64_t{2}, std::uint64_t{1} << 61, ~std::uint64_t{0}})
    CHECK_FALSE(contents_of(text({first, 1, 2, size, 0})));
}

}  // namespace known_test
