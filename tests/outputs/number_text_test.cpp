#include "outputs/text/number_text.h"

#include "catch.h"

namespace number_text_test {

using namespace simgrad::outputs;

TEST_CASE("durations have three digits and a unit that fits") {
  CHECK(duration(0.0) == "0 s");
  CHECK(duration(8.5e-7) == "850 ns");
  CHECK(duration(5.192e-13) == "0.000519 ns");  // and not "0.00 ns"
  CHECK(duration(2.5e-5) == "25.0 µs");
  CHECK(duration(0.0123) == "12.3 ms");
  CHECK(duration(1.24) == "1.24 s");
  CHECK(duration(200.0) == "3 min 20 s");
  CHECK(duration(7500.0) == "2 h 5 min");
  CHECK(duration(76.0 * 3600.0) == "3 d 4 h");
}

TEST_CASE("rounding up carries into the next unit") {
  CHECK(duration(0.9996) == "1.00 s");
  CHECK(duration(9.996) == "10.0 s");
  CHECK(duration(59.96) == "1 min 0 s");
  CHECK(duration(3599.6) == "1 h 0 min");
  CHECK(duration(48.0 * 3600.0 - 1.0) == "2 d 0 h");
  CHECK(byte_count(999'600.0) == "1.00 MB");
}

TEST_CASE("bytes and counts are scaled by powers of 1000") {
  CHECK(byte_count(512.0) == "512 B");
  CHECK(byte_count(1.234e9) == "1.23 GB");
  CHECK(count(999.0) == "999");
  CHECK(count(1.234e6) == "1.23 M");
}

TEST_CASE("small amounts of money have three digits and no exponent") {
  CHECK(dollars(0.0) == "$0.00");
  CHECK(dollars(0.00848) == "$0.00848");
  CHECK(dollars(1.25e-6) == "$0.00000125");
}

TEST_CASE("a margin of money has no exponent, as the money has none") {
  CHECK(with_margin(3.66e-5, 7e-6, dollars) == "$0.0000366 ± 0.0000070");
  CHECK(with_margin(4.28e-6, 8.4e-7, dollars) == "$0.00000428 ± 0.00000084");
}

}  // namespace number_text_test
