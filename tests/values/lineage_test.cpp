// The hash of all that a tensor's numbers follow from.
#include "values/lineage.h"

#include "catch.h"
#include "values/dispatcher.h"

namespace lineage_test {

using namespace simgrad::values;

namespace {

const Lineage unknown;

Tensor doubled(Dispatcher& dispatcher, const Tensor& x, std::uint64_t key, bool numbered = true) {
  const std::uint64_t keys[] = {key};
  const Tensor inputs[] = {x};
  return dispatcher.dispatch({.name = "doubled", .key = keys, .numbered = numbered}, x.size(), inputs,
                             [](std::span<const std::span<const double>> in, std::span<double> result) {
                               for (std::size_t i = 0; i < result.size(); ++i) result[i] = 2.0 * in[0][i];
                             });
}

/// A chain of operations of every kind.
Lineage of_chain(Dispatcher& dispatcher, double first) {
  const Tensor x = dispatcher.constant({first, 2.0, 3.0, 4.0});
  const Tensor y = doubled(dispatcher, x, 7);
  const Tensor parts[] = {slice(x - y, 0, 2), slice(0.5 * y, 2, 2)};
  const Tensor all[] = {concatenate(parts), encoded(rounded(y, Format::float16), 3), x + y};
  const double scales[] = {0.2, 0.3, 0.5};
  return weighted_sum(all, scales).lineage();
}

}  // namespace

TEST_CASE("equal histories have equal lineages in every dispatcher, whether or not numbers are computed") {
  Dispatcher computed({.threads = 0, .lineages = true}), by_threads({.threads = 2, .lineages = true}),
      timing_only({.numbers = false, .lineages = true});
  const Lineage lineage = of_chain(computed, 1.0);
  CHECK(lineage != unknown);
  CHECK(of_chain(by_threads, 1.0) == lineage);
  CHECK(of_chain(timing_only, 1.0) == lineage);
  CHECK(of_chain(computed, 1.0 + 1e-16) == lineage);  // the same double
  CHECK(of_chain(computed, 1.0 + 1e-15) != lineage);
  CHECK(of_chain(timing_only, 1.5) == of_chain(computed, 1.5));
}

TEST_CASE("the order of a sum's operands has no meaning, that of a difference's has") {
  Dispatcher one({.lineages = true}), other({.lineages = true});
  const Tensor a = one.constant({1.0}), b = one.constant({2.0});
  const Tensor d = other.constant({2.0}), c = other.constant({1.0});  // made in the other order
  CHECK((a + b).lineage() == (c + d).lineage());
  CHECK((b + a).lineage() == (a + b).lineage());
  CHECK(maximum(a, b).lineage() == maximum(d, c).lineage());
  CHECK((a - b).lineage() == (c - d).lineage());
  CHECK((a - b).lineage() != (b - a).lineage());
}

TEST_CASE("names, keys, operands, places and formats are part of a lineage") {
  Dispatcher dispatcher({.lineages = true});
  const Tensor x = dispatcher.constant({1.0, 2.0, 3.0}), y = dispatcher.constant({1.0, 2.0, 4.0});
  const std::vector<Lineage> different{x.lineage(),
                                       y.lineage(),
                                       doubled(dispatcher, x, 1).lineage(),
                                       doubled(dispatcher, x, 2).lineage(),
                                       doubled(dispatcher, y, 1).lineage(),
                                       slice(x, 0, 2).lineage(),
                                       slice(x, 1, 2).lineage(),
                                       slice(x, 0, 1).lineage(),
                                       encoded(x, 3).lineage(),
                                       encoded(x, 6).lineage(),
                                       rounded(x, Format::float16).lineage(),
                                       rounded(x, Format::bfloat16).lineage(),
                                       (x + y).lineage(),
                                       maximum(x, y).lineage(),
                                       dispatcher.zeros(3).lineage(),
                                       dispatcher.zeros(2).lineage()};
  for (std::size_t i = 0; i < different.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK(different[i] != different[k]);
}

TEST_CASE("slices put together again have one lineage, whether or not the tensor was dropped between them") {
  Dispatcher dispatcher({.lineages = true});
  const auto slice_of_new = [&](std::int64_t first, std::int64_t count) {
    return slice(dispatcher.constant({1.0, 2.0, 3.0, 4.0}), first, count);
  };
  const Tensor x = dispatcher.constant({1.0, 2.0, 3.0, 4.0});
  const Tensor apart[] = {slice_of_new(0, 1), slice_of_new(1, 3)};
  CHECK(concatenate(apart).lineage() == x.lineage());
  const Tensor middle[] = {slice_of_new(1, 1), slice_of_new(0, 0), slice_of_new(2, 1)};
  CHECK(concatenate(middle).lineage() == slice(x, 1, 2).lineage());
  const Tensor swapped[] = {slice_of_new(1, 3), slice_of_new(0, 1)};
  CHECK(concatenate(swapped).lineage() != x.lineage());
  const Tensor gap[] = {slice_of_new(0, 1), slice_of_new(2, 2)};
  CHECK(concatenate(gap).lineage() != slice(x, 0, 3).lineage());
}

TEST_CASE("an operation that is not numbered has no lineage, nor has what follows from it") {
  Dispatcher dispatcher({.lineages = true});
  const Tensor x = dispatcher.constant({1.0, 2.0});
  const Tensor hidden = doubled(dispatcher, x, 1, false);
  CHECK(hidden.lineage() == unknown);
  CHECK((hidden + x).lineage() == unknown);
  CHECK(slice(hidden, 0, 1).lineage() == unknown);
  Dispatcher without({});
  CHECK(without.constant({1.0}).lineage() == unknown);
}

}  // namespace lineage_test
