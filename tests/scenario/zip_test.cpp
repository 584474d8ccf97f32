#include "scenario/fixture.h"

namespace zip_test {

using namespace fixture;
using scenario::Axis;
using scenario::Document;

namespace {

std::vector<Axis> grid(std::string_view text) {
  Document document = Document::parse(text, "a.toml");
  scenario::Faults faults;
  std::vector<Axis> axes = document.take_grid(faults);
  faults.raise_if_any();
  return axes;
}

/// "key:zip" of each axis.
Lines shown(const std::vector<Axis>& axes) {
  Lines all;
  for (const Axis& axis : axes) all.push_back(axis.key + ":" + std::to_string(axis.zip));
  return all;
}

}  // namespace

TEST_CASE("axes of one table of [[grid.zip]] have a number in common, and come behind the others") {
  CHECK(shown(grid(R"x([[grid.zip]]
cluster.bandwidth = ["1Gbps", "10Gbps"]
"cluster.latency" = "range(5us,50us,45us)"
[[grid.zip]]
a = [1, 2, 3]
b = [1, 2, 3]
[grid]
c = [1]
)x")) == Lines{"c:0", "cluster.bandwidth:1", "cluster.latency:1", "a:2", "b:2"});
}

TEST_CASE("a single zip may be written as a table") {
  CHECK(shown(grid("[grid.zip]\na = [1, 2]\nb = [3, 4]")) == Lines{"a:1", "b:1"});
}

TEST_CASE("option --grid takes a zip") {
  const auto axes = Document::axes("zip(cluster.bandwidth=1Gbps,10Gbps; cluster.latency=50us,5us)");
  CHECK(shown(axes) == Lines{"cluster.bandwidth:1", "cluster.latency:1"});
  CHECK(axes[1].values.at(1).toml == "\"5us\"");
  CHECK(Document::axes("zip(a=\"x;y\",z; b=range(1,2))").at(0).values.at(0).toml == "\"x;y\"");
}

TEST_CASE("lists of a zip that are not equally long are refused with both lengths and places") {
  CHECK(refusal([] { grid("[[grid.zip]]\na = [1, 2]\nb = [1, 2, 3]\nc = [1]\nd = [1, 2]"); }) ==
        Lines{R"(a.toml:3:1: the lists of a zip are equally long, but "b" has 3 values and "a" at a.toml:2:1 has 2)",
              R"(a.toml:4:1: the lists of a zip are equally long, but "c" has 1 value and "a" at a.toml:2:1 has 2)"});
  CHECK(refusal([] { Document::axes("zip(a=1,2; b=1)"); }) ==
        Lines{"--grid zip(a=1,2; b=1): the lists of a zip are equally long, but \"b\" has 1 value and \"a\" has 2"});
}

TEST_CASE("a key is in the grid and its zips once") {
  CHECK(refusal([] { grid("[grid]\na = [1]\n[[grid.zip]]\na = [1]\nb = [2]"); }) ==
        Lines{R"(a.toml:4:1: "a" is in [grid] twice, first at a.toml:2:1)"});
  CHECK(refusal([] { grid("[[grid.zip]]\na = [1]\n[[grid.zip]]\na = [1]"); }) ==
        Lines{R"(a.toml:4:1: "a" is in [grid] twice, first at a.toml:2:1)"});
  CHECK(refusal([] { Document::axes("zip(a=1; a=2)"); }) == Lines{R"(--grid zip(a=1; a=2): "a" is in the zip twice)"});
}

TEST_CASE("a zip that is no table of lists is refused") {
  CHECK(refusal([] { grid("[grid]\nzip = 3"); }) ==
        Lines{"a.toml:2:7: a zip is a table of lists under [[grid.zip]], found 3"});
  CHECK(refusal([] { grid("[[grid.zip]]"); }) ==
        Lines{"a.toml:1:1: a zip is a table of lists under [[grid.zip]], found none"});
  CHECK(refusal([] { grid("[[grid.zip]]\na = 3"); })
            .at(0)
            .starts_with("a.toml:2:5: \"a\" in [[grid.zip]] must be a list of values"));
  CHECK(refusal([] { Document::axes("zip(a=1"); }) ==
        Lines{"--grid zip(a=1: \")\" is missing at the end, expected zip(KEY=VALUE,VALUE,...; KEY=VALUE,VALUE,...)"});
  CHECK(refusal([] { Document::axes("zip()"); }).at(0) ==
        "--grid zip(): the zip is empty, expected zip(KEY=VALUE,VALUE,...; KEY=VALUE,VALUE,...)");
}

TEST_CASE("option --grid with a zip that is malformed is told with the form that is expected") {
  const auto refused = [](const std::string& text) {
    const Lines told = refusal([&] { Document::axes(text); });
    REQUIRE(told.size() == 1);
    const std::string place = "--grid " + text + ": ";
    REQUIRE(told[0].starts_with(place));
    return told[0].substr(place.size());
  };
  const std::string form = ", expected zip(KEY=VALUE,VALUE,...; KEY=VALUE,VALUE,...)";
  CHECK(refused("zip()") == "the zip is empty" + form);
  CHECK(refused("Zip ( )") == "the zip is empty" + form);
  CHECK(refused("zip(") == "\")\" is missing at the end" + form);
  CHECK(refused("zip(a=1,2") == "\")\" is missing at the end" + form);
  CHECK(refused("zip(a=1,2;)") == "a list is missing before or behind a \";\"" + form);
  CHECK(refused("zip(;)") == "a list is missing before or behind a \";\"" + form);
  CHECK(refused("zip(a)") == "found \"a\" without \"=\", expected KEY=VALUE,VALUE,...");
  CHECK(Document::axes("zip (a=1,2; b=3,4)").size() == 2);
}

}  // namespace zip_test
