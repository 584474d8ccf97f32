// Messages to the standard error.
#include "base/say.h"

#include "catch.h"

namespace say_test {

using simgrad::base::printable_lines;

TEST_CASE("control characters and bytes that are not UTF-8 are shown as escapes, lines and letters stay") {
  CHECK(printable_lines("a\x1b[2Jb\tc\x7f") == "a\\x1b[2Jb\\x09c\\x7f");
  CHECK(printable_lines("one\ntwo\n") == "one\ntwo\n");
  CHECK(printable_lines("\xce\xb1 \xe6\xa2\xaf \xf0\x9f\x98\x80") == "\xce\xb1 \xe6\xa2\xaf \xf0\x9f\x98\x80");
  CHECK(printable_lines("\xff\xce") == "\\xff\\xce");
  CHECK(printable_lines("\xc2\x9b!") == "\\xc2\\x9b!");  // a control sequence in one character
}

TEST_CASE("a line is cut behind a thousand bytes, and the next one is whole") {
  const std::string longest(1000, 'x');
  std::string text(5000, 'x');
  text.append("\nnext");
  std::string cut = longest;
  cut.append(" ...\nnext");
  CHECK(printable_lines(text) == cut);
  CHECK(printable_lines(longest) == longest);
}

}  // namespace say_test
