// JUnit XML: the whole text, and what XML cannot hold.
#include "outputs/files/junit.h"

#include "catch.h"

namespace junit_test {

using namespace simgrad::outputs;

TEST_CASE("a suite per scenario, a case per expectation, with their numbers above") {
  const std::vector<TestSuite> suites = {{.name = "a.toml",
                                          .cases = {{.name = "ring: steps 10", .text = "found 10", .time_s = 0.25},
                                                    {"ring: loss at most 1", CaseOutcome::failed, "found 2"},
                                                    {"tree, seed 1", CaseOutcome::error, "rank 3 was lost"},
                                                    {"ring: steps 10, workers=4", CaseOutcome::untested, "no point"},
                                                    {"ring: steps at least 0", CaseOutcome::vacuous, "found 10"}}},
                                         {.name = "b.toml"}};
  CHECK(junit(suites) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="5" failures="1" errors="1" skipped="2">
  <testsuite name="a.toml" tests="5" failures="1" errors="1" skipped="2">
    <testcase classname="a.toml" name="ring: steps 10" time="0.250">
      <system-out>found 10</system-out>
    </testcase>
    <testcase classname="a.toml" name="ring: loss at most 1">
      <failure message="found 2"/>
    </testcase>
    <testcase classname="a.toml" name="tree, seed 1">
      <error message="rank 3 was lost"/>
    </testcase>
    <testcase classname="a.toml" name="ring: steps 10, workers=4">
      <skipped message="no point"/>
    </testcase>
    <testcase classname="a.toml" name="ring: steps at least 0">
      <skipped message="vacuous: found 10"/>
    </testcase>
  </testsuite>
  <testsuite name="b.toml" tests="0" failures="0" errors="0" skipped="0">
  </testsuite>
</testsuites>
)");
}

TEST_CASE("the table of a failure stands inside its element, with the rows left out counted") {
  const TestSuite suite{.name = "a.toml",
                        .cases = {{.name = "the stored baseline b.toml",
                                   .outcome = CaseOutcome::failed,
                                   .text = "2 of 9 numbers differ",
                                   .table = {{"run", "change"}, {"ring, seed 1", "+1 %"}},
                                   .rows_left_out = 1}}};
  CHECK(junit({suite}).find("      <failure message=\"2 of 9 numbers differ\">run           change\n"
                            "ring, seed 1  +1 %\n"
                            "... and 1 more\n"
                            "</failure>\n") != std::string::npos);
}

namespace {

std::string name_of(const std::string& text) {
  const std::string all = junit({{.name = text}});
  const std::string before = "<testsuite name=\"", after = "\" tests=";
  const auto from = all.find(before) + before.size();
  return all.substr(from, all.find(after, from) - from);
}

}  // namespace

TEST_CASE("markup, quotes and line ends in names stay text") {
  CHECK(name_of("</testsuite><script a=\"b\">&amp;") == "&lt;/testsuite&gt;&lt;script a=&quot;b&quot;&gt;&amp;amp;");
  CHECK(name_of("a\nb\tc\r") == "a&#10;b&#9;c&#13;");
}

TEST_CASE("characters that XML cannot hold become the replacement character, the others stay") {
  const std::string no = "\xEF\xBF\xBD";
  CHECK(name_of("gr\xC3\xBC\xC3\x9F \xE4\xB8\xAD \xF0\x9F\x9A\x80") ==
        "gr\xC3\xBC\xC3\x9F \xE4\xB8\xAD \xF0\x9F\x9A\x80");
  CHECK(name_of(std::string("a\x01") + "b\x1b[31m") == "a" + no + "b" + no + "[31m");
  CHECK(name_of("\xFFz") == no + "z");
  CHECK(name_of("\xC3") == no);                             // cut short
  CHECK(name_of("\xC0\xAF") == no + no);                    // longer than needed
  CHECK(name_of("\xED\xA0\x80") == no + no + no);           // half of a pair
  CHECK(name_of("\xEF\xBF\xBE") == no);                     // U+FFFE
  CHECK(name_of("\xF4\x90\x80\x80") == no + no + no + no);  // beyond the last
}

}  // namespace junit_test
