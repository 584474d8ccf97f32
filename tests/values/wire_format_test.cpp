// The wire formats of tensors, and the operations that keep them.
#include "values/wire_format.h"

#include "catch.h"
#include "values/kernels.h"
#include "values/tensor.h"

namespace simgrad::values {

TEST_CASE("a tensor weighs eight bytes a number unless it was rounded or encoded") {
  Dispatcher dispatcher({});
  const Tensor x = dispatcher.constant({1, 2, 3, 4, 5});
  CHECK(x.size_bytes() == 40);
  CHECK(rounded(x, Format::float32).size_bytes() == 20);
  CHECK(rounded(x, Format::float16).size_bytes() == 10);
  CHECK(rounded(x, Format::bfloat16).size_bytes() == 10);
  CHECK(encoded(x, 7).size_bytes() == 7);
  CHECK(encoded(x, 7).wire_format().format == Format::encoded);
  CHECK(rounded(x, Format::float64).identity() == x.identity());
}

TEST_CASE("sums in a rounding format are rounded to it, and others are float64") {
  for (const int threads : {0, 2}) {
    Dispatcher dispatcher({.threads = threads, .inline_below_s = 0.0});
    // float16 has 11 significant bits: 2048 + 1 is a tie, which goes to the even 2048.
    const Tensor a = rounded(dispatcher.constant({2048, 1, 65504}), Format::float16);
    const Tensor b = rounded(dispatcher.constant({1, 1, 65504}), Format::float16);
    const std::vector<double> sum{2048, 2, std::numeric_limits<double>::infinity()};
    CHECK(numbers_of(a + b) == sum);
    CHECK(numbers_of(combine(Combination::add, b, a)) == sum);
    const std::int64_t starts[] = {0, 1};
    const Tensor terms[] = {a, b};
    CHECK(numbers_of(combine_around(Combination::add, terms, starts, 0)) == sum);
    for (const Tensor& kept : {a + b, combine_around(Combination::add, terms, starts, 0), maximum(a, b), minimum(a, b)})
      CHECK(kept.wire_format() == wire_format(Format::float16));
    const Tensor other = rounded(dispatcher.constant({1, 1, 1}), Format::bfloat16);
    CHECK(numbers_of(a + other) == std::vector<double>{2049, 2, 65505});
    for (const Tensor& plain : {a + other, a - b, 2.0 * a, add_scaled(a, 1.0, b), encoded(a, 3) + encoded(b, 3)})
      CHECK(plain.wire_format() == WireFormat{});
  }
}

TEST_CASE("slices and concatenations weigh what their parts weigh") {
  Dispatcher dispatcher({});
  const Tensor x = rounded(dispatcher.constant({1, 2, 3, 4}), Format::float16);
  const Tensor front = slice(x, 0, 3);
  const Tensor back = slice(x, 3, 1);
  CHECK(front.size_bytes() == 6);
  const Tensor parts[] = {front, back};
  CHECK(concatenate(parts).identity() == x.identity());
  const Tensor turned[] = {back, front};
  CHECK(concatenate(turned).wire_format() == wire_format(Format::float16));
  CHECK(numbers_of(concatenate(turned)) == std::vector<double>{4, 1, 2, 3});
  const Tensor mixed[] = {decoded(front), encoded(back, 1)};
  CHECK(concatenate(mixed).size_bytes() == 25);
  CHECK(numbers_of(concatenate(mixed)) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("a tensor in another wire format is not copied, and found again") {
  Dispatcher dispatcher({});
  const Tensor x = rounded(dispatcher.constant({0.1, 0.2, 0.3, 0.4}), Format::float16);
  const Tensor plain = decoded(x);
  CHECK(plain.wire_format() == WireFormat{});
  CHECK(plain.value().data() == x.value().data());
  CHECK(decoded(x).identity() == plain.identity());
  CHECK(plain.identity() != x.identity());
  CHECK(decoded(plain).identity() == plain.identity());
  // A slice of it weighs as it does, not as what owns the numbers.
  CHECK(slice(plain, 1, 2).size_bytes() == 16);
  CHECK(slice(x, 1, 2).size_bytes() == 4);
  CHECK(decoded(slice(x, 1, 2)).identity() == slice(plain, 1, 2).identity());
  CHECK(numbers_of(slice(plain, 1, 2)) == numbers_of(slice(x, 1, 2)));
  CHECK(encoded(plain, 8).wire_format() == encoded(x, 8).wire_format());
}

TEST_CASE("timing-only tensors have their weights") {
  Dispatcher dispatcher({.numbers = false});
  const Tensor x = rounded(dispatcher.zeros(10), Format::bfloat16);
  CHECK((x + x).size_bytes() == 20);
  CHECK(encoded(dispatcher.zeros(10), 3).size_bytes() == 3);
  CHECK(decoded(x).size_bytes() == 80);
}

}  // namespace simgrad::values
