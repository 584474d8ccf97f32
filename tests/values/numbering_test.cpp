#include "values/numbering.h"

#include <algorithm>

#include "catch.h"
#include "values/kernels.h"

namespace simgrad::values {

namespace {

struct Counted {
  Dispatcher& dispatcher;
  std::shared_ptr<std::atomic<int>> runs = std::make_shared<std::atomic<int>>(0);

  Tensor operator()(std::vector<Tensor> inputs, std::vector<std::uint64_t> key, bool numbered = true) const {
    return dispatcher.dispatch({.name = "counted", .key = key, .numbered = numbered}, 3, inputs,
                               [r = runs](auto, std::span<double> result) {
                                 ++*r;
                                 std::fill(result.begin(), result.end(), 1.0);
                               });
  }
};

}  // namespace

TEST_CASE("one operation on the same operands is one value, computed once") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads});
    const Counted counted{dispatcher};
    const Tensor w = dispatcher.constant({1, 2, 3});
    const Tensor a = counted({w}, {5});
    const Tensor b = counted({w}, {5});
    CHECK(a.identity() == b.identity());
    CHECK(a.value().data() == b.value().data());
    CHECK(*counted.runs == 1);
    CHECK(dispatcher.statistics().shared == 1);
  }
}

TEST_CASE("any difference in an operation makes another value") {
  Dispatcher dispatcher({});
  const Counted counted{dispatcher};
  const Tensor w = dispatcher.constant({1, 2, 3});
  const Tensor v = dispatcher.constant({1, 2, 3});
  const Tensor other_name = dispatcher.dispatch({.name = "other"}, 3, std::vector{w}, [](auto, auto) {});
  const Tensor other_size = dispatcher.dispatch({.name = "counted"}, 4, std::vector{w}, [](auto, auto) {});
  const std::vector<Tensor> all{counted({w}, {}),
                                counted({v}, {}),
                                counted({w, v}, {}),
                                counted({v, w}, {}),
                                counted({w, w}, {}),
                                counted({w}, {5}),
                                counted({w}, {6}),
                                counted({w}, {5, 6}),
                                counted({}, {w.identity()}),
                                other_name,
                                other_size,
                                0.5 * w,
                                0.25 * w,
                                w - v,
                                v - w,
                                add_scaled(w, 0.5, v),
                                add_scaled(w, -0.0, v),
                                add_scaled(w, 0.0, v)};
  std::vector<std::uint64_t> identities;
  for (const Tensor& tensor : all) identities.push_back(tensor.identity());
  std::sort(identities.begin(), identities.end());
  CHECK(std::adjacent_find(identities.begin(), identities.end()) == identities.end());
}

TEST_CASE("a value that died is computed again, under a new identity") {
  Dispatcher dispatcher({});
  const Counted counted{dispatcher};
  const Tensor w = dispatcher.constant({1, 2, 3});
  const std::uint64_t before = counted({w}, {}).identity();
  CHECK(counted({w}, {}).identity() > before);
  CHECK(*counted.runs == 2);
}

TEST_CASE("unnumbered operations and constants are never shared") {
  Dispatcher dispatcher({});
  const Counted counted{dispatcher};
  const Tensor a = counted({}, {}, false);
  const Tensor b = counted({}, {}, false);
  CHECK(a.identity() != b.identity());
  CHECK(dispatcher.constant({1}).identity() != dispatcher.constant({1}).identity());
  CHECK(dispatcher.statistics().shared == 0);
}

TEST_CASE("zeros of one size are one tensor") {
  Dispatcher dispatcher({});
  const Tensor a = dispatcher.zeros(3);
  CHECK(dispatcher.zeros(3).identity() == a.identity());
  CHECK(dispatcher.zeros(4).identity() != a.identity());
  CHECK(numbers_of(a) == std::vector<double>{0, 0, 0});
}

TEST_CASE("10000 replicas that apply the same updates hold one buffer") {
  constexpr int P = 10'000;
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads});
    std::vector<Tensor> replicas(P, dispatcher.constant(std::vector<double>(100, 1.0)));
    const Tensor g = dispatcher.constant(std::vector<double>(100, 2.0));
    for (int step = 0; step < 3; ++step)
      for (Tensor& w : replicas) w = add_scaled(w, -0.5, g);
    CHECK(replicas.front().value()[99] == 1.0 - 3 * 0.5 * 2.0);
    CHECK(dispatcher.statistics().shared == 3 * (P - 1));
    CHECK(eventually([&] { return dispatcher.statistics().live_bytes == 2 * 100 * 8; }));
  }
}

TEST_CASE("the table finds every value while it lives and none after, through growth and equal hashes") {
  constexpr int n = 20'000;  // the table starts with 1024 places
  Dispatcher dispatcher({.numbers = false});
  const Counted counted{dispatcher};
  std::vector<Tensor> all;
  for (std::uint64_t k = 0; k < n; ++k) all.push_back(counted({}, {k}));
  for (std::uint64_t k = 0; k < n; k += 2) all[k] = Tensor();
  const auto shared_before = dispatcher.statistics().shared;
  for (std::uint64_t k = 0; k < n; ++k) (void)counted({}, {k});
  CHECK(dispatcher.statistics().shared - shared_before == n / 2);
}

TEST_CASE("where there are shapes alone, an operation on sixteen operands is one more value each time") {
  for (const bool numbers : {false, true})
    for (const std::size_t operands : {15U, 16U}) {
      CAPTURE(numbers, operands);
      Dispatcher dispatcher({.numbers = numbers});
      std::vector<Tensor> terms;
      for (std::size_t k = 0; k < operands; ++k) terms.push_back(dispatcher.constant({1, 2}));
      const std::vector<double> scales(operands, 0.5);
      const Tensor once = weighted_sum(terms, scales), again = weighted_sum(terms, scales);
      CHECK((once.identity() == again.identity()) == (numbers || operands < 16));
      CHECK(again.size() == 2);
    }
}

TEST_CASE("equal hashes of different keys do not make equal values") {
  Dispatcher dispatcher({.numbers = false});
  Numbering numbering;
  const Tensor a = dispatcher.constant({1});
  const Tensor b = dispatcher.constant({1});
  auto key = numbering.key({.name = "a"}, 1, {&a, 1});
  const std::uint32_t hash = key.hash;
  numbering.insert(Node::of(a), key);
  key = numbering.key({.name = "a"}, 1, {&b, 1});
  key.hash = hash;
  CHECK(numbering.find(key) == nullptr);
  numbering.insert(Node::of(b), key);
  CHECK(numbering.find(key) == &Node::of(b));
  numbering.erase(Node::of(a));
  CHECK(numbering.find(key) == &Node::of(b));
  numbering.erase(Node::of(b));
  CHECK(numbering.find(key) == nullptr);
}

}  // namespace simgrad::values
