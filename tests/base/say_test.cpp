// Messages to the standard error.
#include "base/say.h"

#include "catch.h"

namespace say_test {

using simgrad::base::printable;
using simgrad::base::printable_lines;

TEST_CASE("control characters and bytes that are not UTF-8 are shown as escapes, lines and letters stay") {
  CHECK(printable_lines("a\x1b[2Jb\tc\x7f") == "a\\x1b[2Jb\\x09c\\x7f");
  CHECK(printable_lines("one\ntwo\n") == "one\ntwo\n");
  CHECK(printable_lines("\xce\xb1 \xe6\xa2\xaf \xf0\x9f\x98\x80") == "\xce\xb1 \xe6\xa2\xaf \xf0\x9f\x98\x80");
  CHECK(printable_lines("\xff\xce") == "\\xff\\xce");
  CHECK(printable_lines("\xc2\x9b!") == "\\xc2\\x9b!");  // a control sequence in one character
}

TEST_CASE("marks that turn the direction of writing, and spellings that are longer than needed, are shown as escapes") {
  CHECK(printable_lines("a\xe2\x80\xae"
                        "b") ==
        "a\\xe2\\x80\\xae"
        "b");  // U+202E, right to left from here on
  CHECK(printable_lines("\xe2\x81\xa6\xe2\x80\x8f") == "\\xe2\\x81\\xa6\\xe2\\x80\\x8f");
  CHECK(printable_lines("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");  // U+2028, a line end
  CHECK(printable_lines("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");  // an escape character in three bytes
  CHECK(printable_lines("\xf0\x80\x80\x9b") == "\\xf0\\x80\\x80\\x9b");
  CHECK(printable_lines("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // half of a surrogate pair
  CHECK(printable_lines("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(printable_lines("\xe2\x80\x93 \xe2\x82\xac") == "\xe2\x80\x93 \xe2\x82\xac");
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

TEST_CASE("in one line, line breaks are shown as escapes, too") {
  CHECK(printable("a\nb\r") == "a\\x0ab\\x0d");
  CHECK(printable(std::string(5000, 'x')).size() == 5000);
}

// The runner takes a line for a command if it begins with "::" behind blanks, Unicode's too, and "##[" anywhere in it.
TEST_CASE("a text is no command of GitHub's runner, wherever it stands") {
  CHECK(printable("::error::x") == "\\x3a:error::x");
  CHECK(printable("  ::set-output name=a::b") == "  \\x3a:set-output name=a::b");
  CHECK(printable("\xc2\xa0::error::x") == "\xc2\xa0\\x3a:error::x");
  CHECK(printable("a::b") == "a::b");
  CHECK(printable("lr ##[add-mask]x") == "lr \\x23#[add-mask]x");
  CHECK(printable("###[x") == "#\\x23#[x");
  CHECK(printable_lines("a\n::error::x\n") == "a\n\\x3a:error::x\n");
}

}  // namespace say_test
