#include "outputs/text/text_layout.h"

#include "catch.h"

namespace text_layout_test {

using namespace simgrad::outputs;

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

}  // namespace text_layout_test
