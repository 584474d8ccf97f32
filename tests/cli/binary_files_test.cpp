// Data in IDX and NPY files, through the program.
#include "cli/refusal.h"

namespace binary_files_test {

using namespace simgrad::tests;

namespace {

std::string scenario(const std::string& source, const std::string& samples, const std::string& labels) {
  return with(with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                   "source = \"" + source + "\"\npath = \"" + samples + "\"\nlabels_path = \"" + labels + "\"\n"),
              "least_squares", "logistic_regression");
}

/// Six samples of two unsigned bytes, and their classes.
const std::string samples =
    std::string("\0\0\x08\x02\0\0\0\x06\0\0\0\x02", 12) + "az" + "bx" + "yc" + "xa" + "ay" + "zb";
const std::string labels = std::string("\0\0\x08\x01\0\0\0\x06", 8) + std::string("\0\0\1\1\0\1", 6);

Scratch& written(Scratch& scratch, const std::string& text) {
  scratch.write("x.toml", text);
  scratch.write("x.idx", samples);
  scratch.write("y.idx", labels);
  return scratch;
}

}  // namespace

TEST_CASE("a run on IDX files finds what separates the classes") {
  Scratch scratch;
  written(scratch, scenario("idx", "x.idx", "y.idx"));
  const Called called = program("run x.toml --json", scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  const Json run = Json::parse(called.out)["runs"][0];
  CHECK(run["final_loss"] < 0.69);
  CHECK(run["steps"] == 10);
}

TEST_CASE("a run's id depends on the contents of the labels too, not on where they lie") {
  const auto id = [](const std::string& text, const std::string& name, const std::string& named) {
    Scratch scratch;
    written(scratch, text);
    scratch.write(name, named);
    return Json::parse(program("run x.toml --json", scratch).out)["runs"][0]["id"];
  };
  const Json first = id(scenario("idx", "x.idx", "y.idx"), "y.idx", labels);
  CHECK(first == id(scenario("idx", "x.idx", "other.idx"), "other.idx", labels));
  std::string flipped = labels;
  flipped.back() ^= 1;
  CHECK(first != id(scenario("idx", "x.idx", "y.idx"), "y.idx", flipped));
}

TEST_CASE("faults of binary files name the file, end with 2, and a missing one with 5") {
  Scratch scratch;
  written(scratch, scenario("idx", "x.idx", "none.idx"));
  check_refused(scratch, {"none.idx: cannot be opened: No such file or directory"}, 5);
  scratch.write("x.toml", scenario("idx", "y.idx", "x.idx"));
  check_refused(scratch, {"x.idx: 2 numbers a row, expected one label"});
  scratch.write("x.toml", scenario("npy", "x.idx", "y.idx"));
  check_refused(scratch, {"y.idx: does not begin with \"\\x93NUMPY\", expected an NPY file"});
  scratch.write("x.toml", with(scenario("npy", "x.idx", "y.idx"), "labels_path = \"y.idx\"\n", ""));
  check_refused(scratch, {"x.toml:11:1: data source \"npy\" has no labels, which a "});
}

}  // namespace binary_files_test
