// Files and warnings of gossip, as a user meets them.
#include "cli/refusal.h"

namespace gossip_test {

using namespace simgrad::tests;

namespace {

std::string on_file() {
  return small + "[[strategy]]\nkind = \"gossip\"\ngraph = { kind = \"file\", path = \"edges.txt\" }\nlabel = \"g\"\n";
}

std::string last_id(const Scratch& scratch) {
  const auto all = lines_of(program("run x.toml --dry-run", scratch).out);
  return all.back().substr(0, 16);
}

}  // namespace

TEST_CASE("validate and run warn of a graph in several parts on stderr, and go on") {
  const Scratch scratch;
  scratch.write("x.toml", on_file());
  scratch.write("edges.txt", "# nobody\n");
  for (const char* command : {"validate x.toml", "run x.toml --quiet"}) {
    const Called called = program(command, scratch);
    CHECK(called.exit_code == 0);
    CHECK(contains(called.err, "simgrad: warning: g: the graph falls into "));
    CHECK(contains(called.err, "each converges to a mean of its own"));
  }
  CHECK(contains(contents(scratch.path() + "/out/x/results.json"), "the graph falls into "));
}

TEST_CASE("a run is known by its edges, not by the name of their file") {
  const Scratch scratch;
  scratch.write("x.toml", on_file());
  scratch.write("edges.txt", "0 1\n");
  const std::string one = last_id(scratch);
  scratch.write("edges.txt", "# 0 1\n");
  CHECK(last_id(scratch) != one);
  scratch.write("edges.txt", "0 1\n");
  CHECK(last_id(scratch) == one);
}

TEST_CASE("a file of edges that is not there is refused as every file is") {
  const Scratch scratch;
  scratch.write("x.toml", on_file());
  const Called called = program("run x.toml", scratch);
  CHECK(called.exit_code == 5);
  CHECK(contains(called.err, "edges.txt: cannot be opened"));
}

}  // namespace gossip_test
