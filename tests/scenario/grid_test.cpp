#include <nlohmann/json.hpp>

#include "scenario/fixture.h"

namespace grid_test {

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

Lines values(const Axis& axis) {
  Lines all;
  for (const scenario::Value& value : axis.values) all.push_back(value.toml);
  return all;
}

/// The only axis of an option --grid.
Axis axis(const char* option) {
  const std::vector<Axis> all = Document::axes(option);
  REQUIRE(all.size() == 1);
  return all.front();
}

Lines keys(const std::vector<Axis>& axes) {
  Lines all;
  for (const Axis& axis : axes) all.push_back(axis.key);
  return all;
}

}  // namespace

TEST_CASE("a grid has an axis a key, in the file's order, quoted or not") {
  const auto axes = grid(R"([grid]
"cluster.workers" = [1, 2]
training.learning_rate = [0.1, 1.0]
cluster.bandwidth = ["1Gbps"]
training.data = ["a.csv"]
)");
  CHECK(keys(axes) == Lines{"cluster.workers", "training.learning_rate", "cluster.bandwidth", "training.data"});
  CHECK(values(axes[0]) == Lines{"1", "2"});
  CHECK(values(axes[1]) == Lines{"0.1", "1.0"});
  CHECK(values(axes[2]) == Lines{"\"1Gbps\""});
  CHECK(axes[0].position.text() == "a.toml:2:1");
  CHECK(axes[0].values[1].position.text() == "a.toml:2:25");
}

TEST_CASE("a grid's values may be components and lists") {
  const auto axes = grid(R"(grid."cluster.topology" = ["star", { kind = "fat_tree", arity = 8 }]
grid."model.hidden" = [[32], [64, 64.5]])");
  CHECK(values(axes.at(0)) == Lines{"\"star\"", "{ kind = \"fat_tree\", arity = 8 }"});
  CHECK(values(axes.at(1)) == Lines{"[32]", "[64, 64.5]"});
}

TEST_CASE("a grid's value is recorded as JSON of its type") {
  const auto json = [](const char* toml) { return scenario::json_of({.toml = toml, .position = {}}).dump(); };
  CHECK(json("8") == "8");
  CHECK(json("8.0") == "8.0");
  CHECK(json("\"10Gbps\"") == "\"10Gbps\"");
  CHECK(json("{ kind = \"x\", a = [true] }") == R"({"kind":"x","a":[true]})");
}

TEST_CASE("a grid that is taken leaves nothing to read") {
  Document document = Document::parse("model.kind = \"least_squares\"\n[grid]\n\"cluster.workers\" = [1]", "a.toml");
  CHECK(refusal([&] { settings(document); }).at(0).starts_with("a.toml:2:2: unknown key \"grid\""));
  scenario::Faults faults;
  CHECK(document.take_grid(faults).size() == 1);
  CHECK(settings(document).cluster.workers == 4);
  CHECK(document.take_grid(faults).empty());
}

TEST_CASE("a point of the grid is set on a copy") {
  const Document document = Document::parse("model.kind = \"least_squares\"", "a.toml");
  const auto axes = grid("grid.cluster.workers = [3]\ngrid.cluster.topology = [{ kind = \"fat_tree\", arity = 8 }]");
  Document point = document;
  for (const Axis& axis : axes) point.set(axis.key, axis.values[0]);
  CHECK(settings(point).cluster.workers == 3);
  CHECK(dynamic_cast<const FatTree&>(*settings(point).cluster.topology).arity == 8);
}

TEST_CASE("a grid value that the option refuses is refused where it stands in the grid") {
  Document document = Document::parse("model.kind = \"least_squares\"", "a.toml");
  document.set("cluster.workers", grid("[grid]\n\"cluster.workers\" = [1, 0]").at(0).values.at(1));
  CHECK(refusal([&] { settings(document); }) == Lines{"a.toml:2:25: workers must be at least 1, found 0"});
}

TEST_CASE("a grid's key must have a list with something in it, once") {
  CHECK(refusal([] {
          grid(
              "[grid]\n\"cluster.workers\" = 8\ntraining.clip = []\nx = [1]\n\"training.data\" = [\"a\"]\n"
              "training.data = [\"b\"]");
        }) == Lines{R"(a.toml:2:21: "cluster.workers" in [grid] must be a list of values, as in [1, 2, 4], or )"
                    R"(range(a,b,step) or logspace(a,b,n) in quotes, found 8)",
                    R"(a.toml:3:17: "training.clip" in [grid] has no values; expected at least one, as in [1, 2, 4])",
                    R"(a.toml:6:10: "training.data" is in [grid] twice, first at a.toml:5:1)"});
  CHECK(refusal([] { grid("grid = 3"); }) == Lines{"a.toml:1:8: grid must be a table of lists, found 3"});
}

TEST_CASE("option --grid takes values with commas between, or a TOML list") {
  CHECK(values(axis("cluster.workers=1,2, 4")) == Lines{"1", "2", "4"});
  CHECK(values(axis("cluster.workers=[1, 2, 4]")) == Lines{"1", "2", "4"});
  CHECK(values(axis("cluster.bandwidth=1Gbps,\"10 Gbps\"")) == Lines{"\"1Gbps\"", "\"10 Gbps\""});
  CHECK(values(axis("cluster.topology=star,{kind=\"fat_tree\",arity=8}")) ==
        Lines{"\"star\"", "{ kind = \"fat_tree\", arity = 8 }"});
  CHECK(values(axis("model.hidden=[32],[64,64]")) == Lines{"[32]", "[64, 64]"});
  CHECK(values(axis("title='a,b',c")) == Lines{"\"a,b\"", "\"c\""});
  const Axis two = axis("cluster.workers=1,2");
  CHECK(two.key == "cluster.workers");
  CHECK(two.values[1].position.text() == "--grid cluster.workers=1,2");
}

TEST_CASE("option --grid without a key or with a value missing is refused") {
  const auto refused = [](const char* text) { return refusal([&] { axis(text); }); };
  CHECK(refused("cluster.workers") ==
        Lines{"--grid cluster.workers: found \"cluster.workers\" without \"=\", expected KEY=VALUE,VALUE,..."});
  CHECK(refused("") == Lines{"--grid : found nothing without \"=\", expected KEY=VALUE,VALUE,..."});
  CHECK(refused("range(1,4)") == Lines{"--grid range(1,4): found no key, expected --grid \"KEY=range(1,4)\""});
  CHECK(refused("x=1,,2") == Lines{"--grid x=1,,2: a value is empty, expected KEY=VALUE,VALUE,..."});
  CHECK(refused("x=") == Lines{"--grid x=: a value is empty, expected KEY=VALUE,VALUE,..."});
  CHECK(refused("x=[]") == Lines{"--grid x=[]: the list is empty, expected at least one value"});
  CHECK(refused("a..b=1") ==
        Lines{"--grid a..b=1: malformed key \"a..b\"; expected names with dots between, as in cluster.workers"});
}

TEST_CASE("a misspelt formula is refused, and a text with brackets is not") {
  const auto refused = [](const char* text) { return refusal([&] { axis(text); }); };
  const std::string rest = "? A text stands in quotes within the option";
  CHECK(refused("x=rnge(1,4)") == Lines{"--grid x=rnge(1,4): unknown formula \"rnge\"; did you mean \"range\"" + rest});
  CHECK(refused("x=1,log_space(2,4,2)") ==
        Lines{"--grid x=1,log_space(2,4,2): unknown formula \"log_space\"; did you mean \"logspace\"" + rest});
  CHECK(refused("x=zip(1,2)") ==
        Lines{"--grid x=zip(1,2): a zip holds keys with their lists, expected --grid \"zip(KEY=VALUE,VALUE,...; "
              "KEY=VALUE,VALUE,...)\""});
  CHECK(values(axis("x=\"rnge(1,4)\"")) == Lines{"\"rnge(1,4)\""});
  CHECK(values(axis("x=a(1).csv,copy(2)")) == Lines{"\"a(1).csv\"", "\"copy(2)\""});
}

}  // namespace grid_test
