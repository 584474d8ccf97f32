#include "outputs/human.h"

#include "catch.h"

using namespace simgrad::outputs;

TEST_CASE("durations have three digits and a unit that fits") {
  CHECK(duration(0.0) == "0 s");
  CHECK(duration(8.5e-7) == "850 ns");
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

TEST_CASE("texts are measured and cut by characters") {
  CHECK(display_width("Größe µ") == 7);
  CHECK(cut("Größe", 5) == "Größe");
  CHECK(cut("Größe", 4) == "Grö…");
  CHECK(padded("ö", 3, Align::right) == "  ö");
  CHECK(cut("\xff\xfe", 1) == "…");
}

TEST_CASE("wrapped lines are no wider than asked, words that are wider are broken") {
  CHECK(wrapped("aa bb cc", 5) == "aa bb\n  cc\n");
  CHECK(wrapped("aaaaaaa", 4) == "aaaa\n  aa\n  a\n");
  CHECK(wrapped("a\x1b[31m\nb", 80) == "a [31m b\n");
}

TEST_CASE("East Asian characters and emoji take two columns, combining marks none") {
  CHECK(display_width("环形 ring") == 9);
  CHECK(display_width("한글かな") == 8);
  CHECK(display_width("🚀") == 2);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("\xe7\x8e") == 2);   // the beginning of a character, a byte each
  CHECK(cut("参数服务器", 6) == "参数…");  // three columns are left, which is not two characters
  CHECK(cut("参数服务器", 5) == "参数…");
  CHECK(cut_middle("同步参数服务器", 9) == "同步…务器");
  CHECK(cut_middle("abce\u0301f", 4) == "ab…f");
  CHECK(padded("环", 4, Align::right) == "  环");
  CHECK(wrapped("参数服务器", 5) == "参数\n  服\n  务\n  器\n");
  CHECK(wrapped("环环", 3) == "环环\n");
}

TEST_CASE("small amounts of money have three digits and no exponent") {
  CHECK(dollars(0.0) == "$0.00");
  CHECK(dollars(0.00848) == "$0.00848");
  CHECK(dollars(1.25e-6) == "$0.00000125");
}
