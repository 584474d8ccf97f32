// GitHub's workflow commands and the Markdown summary: the whole text, and the characters that must be escaped.
#include "outputs/files/github.h"

#include <algorithm>

#include "catch.h"

namespace github_test {

using namespace simgrad::outputs;

TEST_CASE("failures are errors and what was not tested is a warning, each at its place") {
  const std::vector<TestSuite> suites{
      {"a.toml",
       {{"ring: steps 10", CaseOutcome::ok, "found 10"},
        {.name = "ring: loss at most 1", .outcome = CaseOutcome::failed, .text = "found 2", .place = {"a.toml", 12, 1}},
        {.name = "tree, seed 1", .outcome = CaseOutcome::error, .text = "lost", .place = {.file = "a.toml"}},
        {.name = "ring: steps 9", .outcome = CaseOutcome::untested, .text = "no point", .place = {"a.toml", 15, 3}},
        {.name = "ring: n", .outcome = CaseOutcome::vacuous, .text = "found 1"}}}};
  CHECK(github_annotations(suites) ==
        "::error file=a.toml,line=12,col=1::ring: loss at most 1: found 2\n"
        "::error file=a.toml::tree, seed 1: lost\n"
        "::warning file=a.toml,line=15,col=3::untested: ring: steps 9: no point\n"
        "::warning::vacuous: ring: n: found 1\n");
}

TEST_CASE("a summary without a tally has its heading alone") {
  CHECK(github_summary({}, "") == "### simgrad check: passed\n");
  CHECK(github_summary({}, "1 scenario") == "### simgrad check: passed\n\n1 scenario\n");
}

TEST_CASE("remarks stand for their case, ten at most") {
  TestCase test{.name = "b.toml", .outcome = CaseOutcome::failed, .text = "12 runs differ"};
  for (int line = 1; line <= 12; ++line) test.remarks.push_back({{"b.toml", line, 1}, "changed"});
  const std::string all = github_annotations({{"a.toml", {test}}});
  CHECK(all.starts_with("::error file=b.toml,line=1,col=1::changed\n"));
  CHECK(std::ranges::count(all, '\n') == 10);
}

TEST_CASE("percent signs and line ends are escaped, in properties also colons and commas") {
  const TestCase test{
      .name = "a,b", .outcome = CaseOutcome::failed, .text = "5 %: x\r\ny\x1b", .place = {"c:%,\n.toml", 1, 2}};
  CHECK(github_annotations({{"s", {test}}}) == "::error file=c%3A%25%2C%0A.toml,line=1,col=2::a,b: 5 %25: x%0D%0Ay \n");
}

TEST_CASE("the summary has the tally, all that is not ok, and the worst differences") {
  const TestSuite suite{"a.toml",
                        {{"ring: steps 10", CaseOutcome::ok, "found 10"},
                         {"a|b <i>", CaseOutcome::vacuous, "found 1"},
                         {.name = "the stored baseline b.toml",
                          .outcome = CaseOutcome::failed,
                          .text = "1 value is beyond",
                          .table = {{"run", "metric"}, {"ring, seed 1", "final_loss"}},
                          .rows_left_out = 3}}};
  CHECK(github_summary({suite}, "1 scenario: 1 expectation ok") == R"(### simgrad check: failed

1 scenario: 1 expectation ok

|  | scenario | test | found |
|---|---|---|---|
| vacuous | a.toml | a\|b &lt;i> | found 1 |
| failed | a.toml | the stored baseline b.toml | 1 value is beyond |

a.toml: the stored baseline b.toml

| run | metric |
|---|---|
| ring, seed 1 | final\_loss |

... and 3 more
)");
  CHECK(github_summary({{"a.toml", {{"x", CaseOutcome::ok, "found 1"}}}}, "all ok") ==
        "### simgrad check: passed\n\nall ok\n");
}

TEST_CASE("a long list of failures is cut, with a count") {
  TestSuite suite{"a.toml"};
  for (int i = 0; i < 53; ++i) suite.cases.push_back({"x", CaseOutcome::failed, "y"});
  CHECK(github_summary({suite}, "t").ends_with("| failed | a.toml | x | y |\n\n... and 3 more\n"));
}

}  // namespace github_test
