// TAP version 13: the whole text, and what would break a line of it.
#include "outputs/files/tap.h"

#include "catch.h"

namespace tap_test {

using namespace simgrad::outputs;

TEST_CASE("a test point a case, with a YAML block of what was found, and skips with their reasons") {
  const TestSuite suite{"a.toml",
                        {{"ring: steps 10", CaseOutcome::ok, "found 10"},
                         {.name = "ring: loss at most 1",
                          .outcome = CaseOutcome::failed,
                          .text = "found \"2\"",
                          .place = {"a.toml", 12, 1}},
                         {"tree, seed 1", CaseOutcome::error, "rank 3 was lost"},
                         {"ring: steps 10, workers=4", CaseOutcome::untested, "no such point"},
                         {"ring: steps at least 0", CaseOutcome::vacuous, "found 10"}}};
  std::string all = tap_begin();
  for (std::size_t i = 0; i < suite.cases.size(); ++i) all += tap_point(i + 1, suite, suite.cases[i]);
  CHECK(all + tap_end(suite.cases.size()) == R"(TAP version 13
ok 1 - a.toml: ring: steps 10
  ---
  message: "found 10"
  severity: comment
  ...
not ok 2 - a.toml: ring: loss at most 1
  ---
  message: "found \"2\""
  severity: fail
  at:
    file: "a.toml"
    line: 12
    column: 1
  ...
not ok 3 - a.toml: tree, seed 1
  ---
  message: "rank 3 was lost"
  severity: error
  ...
ok 4 - a.toml: ring: steps 10, workers=4 # SKIP no such point
ok 5 - a.toml: ring: steps at least 0 # SKIP vacuous: found 10
1..5
)");
}

TEST_CASE("the table of a failure is a list of the YAML block") {
  const TestCase test{.name = "b.toml",
                      .outcome = CaseOutcome::failed,
                      .text = "2 values differ",
                      .table = {{"run", "change"}, {"ring, seed 1", "+1 %"}},
                      .rows_left_out = 1};
  CHECK(tap_point(1, {"a.toml"}, test) == R"(not ok 1 - a.toml: b.toml
  ---
  message: "2 values differ"
  severity: fail
  differences:
    - "run           change"
    - "ring, seed 1  +1 %"
    - "... and 1 more"
  ...
)");
}

TEST_CASE("a hash, a backslash and a line end in a label neither begin a directive nor end the line") {
  const TestCase test{.name = "label # TODO \\ and\nmore"};
  CHECK(tap_point(1, {"a#.toml"}, test) == "ok 1 - a\\#.toml: label \\# TODO \\\\ and more\n");
  CHECK(tap_bail_out("interrupted") == "Bail out! interrupted\n");
}

}  // namespace tap_test
