// The characters of UTF-8.
#include "outputs/text/utf8.h"

#include <string_view>

#include "catch.h"

namespace utf8_test {

using namespace simgrad::outputs;

namespace {

void check_sound(std::string_view text, char32_t code) {
  const Character found = first_character(text);
  CHECK(found.sound);
  CHECK(found.code == code);
  CHECK(found.bytes == text.size());
}

}  // namespace

TEST_CASE("characters of one to four bytes are read, at both ends of their ranges") {
  check_sound("A", U'A');
  check_sound("\xC2\x80", 0x80);
  check_sound("\xDF\xBF", 0x7FF);
  check_sound("\xE0\xA0\x80", 0x800);
  check_sound("环", U'环');
  check_sound("\xF0\x90\x80\x80", 0x10000);
  check_sound("\xF4\x8F\xBF\xBF", 0x10FFFF);
}

TEST_CASE("bytes that begin no character stand alone") {
  // A continuation, an overlong form of each length, a surrogate, beyond Unicode, and two that are cut short.
  for (const std::string_view text : {"\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80",
                                      "\xF4\x90\x80\x80", "\xFF", "\xE7\x8E", "\xE7x"}) {
    const Character found = first_character(text);
    CHECK_FALSE(found.sound);
    CHECK(found.bytes == 1);
  }
}

TEST_CASE("columns at the ends of ranges") {
  CHECK(columns_of(U'A') == 1);
  CHECK(columns_of(0x10FF) == 1);
  CHECK(columns_of(0x1100) == 2);
  CHECK(columns_of(0x115F) == 2);
  CHECK(columns_of(0x1160) == 1);
  CHECK(columns_of(0x3FFFD) == 2);
  CHECK(columns_of(0x300) == 0);
  CHECK(columns_of(0x3099) == 0);  // within a range of wide ones
  CHECK(columns_of(U'█') == 1);
  CHECK(columns_of(U'…') == 1);
  CHECK(columns_of(U'µ') == 1);
}

}  // namespace utf8_test
