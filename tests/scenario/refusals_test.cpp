#include "scenario/fixture.h"
#include "scenario/node.h"
#include "scenario/reader.h"

namespace refusals_test {

using namespace fixture;

TEST_CASE("malformed TOML is refused where it stands") {
  // The words and the exact column are toml++'s and change with its version.
  const std::string twice = faults("a = 1\na = 2").at(0);
  CHECK(twice.starts_with("dir/a.toml:2:"));
  CHECK(twice.find(": malformed TOML: ") != std::string::npos);
  CHECK(twice.find("'a'") != std::string::npos);
}

TEST_CASE("a quantity without quotes is refused with what is missing") {
  const std::string quotes = "; texts and quantities are written in quotes, as in \"10Gbps\"";
  CHECK(faults("title = \"x\"\nbandwidth = 10Gbps").at(0) ==
        "dir/a.toml:2:15: malformed TOML: 10Gbps is not a number, true or false" + quotes);
  CHECK(faults("[cluster]\nworkers = eight  # of them").at(0) ==
        "dir/a.toml:2:11: malformed TOML: eight is not a number, true or false" + quotes);
  CHECK(faults("a = [1, two, 3]").at(0).ends_with("two is not a number, true or false" + quotes));
  for (const char* open : {"a = \"open", "a = \"open\nb = 1"})
    CHECK(faults(open).at(0).ends_with(": malformed TOML: the text has no closing quote"));
  CHECK(faults("a = 0,1").at(0) ==
        "dir/a.toml:1:6: malformed TOML: a number has a comma; a decimal point is written, as "
        "in 0.1");
  CHECK(
      faults("[strategy]\n[strategy]").at(0).ends_with("strategy stands several times; write [[strategy]] each time"));
  CHECK_FALSE(faults("[cluster]\n[cluster]").at(0).ends_with("each time"));
  // The parser says what is wrong with a word that could be a number.
  for (const char* number : {"99999999999999999999", "1__0", "1e999", "012"})
    CHECK(faults(std::string("a = ") + number).at(0).find("is not a number") == std::string::npos);
}

TEST_CASE("tables nested without end are refused") {
  std::string key = "a";
  for (int depth = 0; depth < 1000; ++depth) key += ".a";
  // The 257th key is one too many; two characters a key before it.
  CHECK(faults(key + " = 1") == Lines{"dir/a.toml:1:513: nested more than 256 deep"});
}

TEST_CASE("an unknown key is refused at the key, with what was probably meant") {
  CHECK(faults("[cluster]\nworkers = 8\n  bandwith = \"10Gbps\"") ==
        Lines{R"(dir/a.toml:3:3: unknown key "bandwith" in [cluster]; did you mean "bandwidth"?)"});
}

TEST_CASE("an unknown key like no other is refused with the keys there are") {
  CHECK(faults("[training]\nx = 1") ==
        Lines{R"(dir/a.toml:2:1: unknown key "x" in [training]; known: batch_size, learning_rate, clip, data)"});
}

TEST_CASE("an unknown section is an unknown key of the root") {
  CHECK(faults("[clusters]\nworkers = 8") ==
        Lines{R"(dir/a.toml:1:2: unknown key "clusters"; did you mean "cluster"?)"});
  CHECK(faults("[clustr]\nworkers = 8") == Lines{R"(dir/a.toml:1:2: unknown key "clustr"; did you mean "cluster"?)"});
}

TEST_CASE("an unknown key of a component is refused in the component's table") {
  CHECK(faults("[cluster]\ntopology = { kind = \"fat_tree\", level = 3 }") ==
        Lines{R"(dir/a.toml:2:33: unknown key "level" in [cluster.topology]; did you mean "levels"?)"});
  CHECK(faults("[[strategy]]\nkind = \"allreduce\"\nservers = 2") ==
        Lines{R"(dir/a.toml:3:1: unknown key "servers" in [[strategy]]; known: label, kind, algorithm, tree)"});
  CHECK(faults("[[strategy]]\nkind = \"allreduce\"\ntree = { kind = \"star\", arity = 2 }") ==
        Lines{R"(dir/a.toml:3:25: unknown key "arity" in [strategy.tree]; known: kind)"});
}

TEST_CASE("an unknown kind is refused at its value, with what was probably meant and all there are") {
  CHECK(faults("[[strategy]]\nkind = \"all-reduce\"") ==
        Lines{R"(dir/a.toml:2:8: unknown strategy "all-reduce"; did you mean "allreduce"? Known: allreduce, )"
              "parameter_server"});
  CHECK(faults("[cluster]\ntopology = \"torus\"") ==
        Lines{R"(dir/a.toml:2:12: unknown topology "torus"; known: star, fat_tree)"});
  CHECK(faults("[cluster]\ntopology = { kind = \"fat-tree\" }") ==
        Lines{R"(dir/a.toml:2:21: unknown topology "fat-tree"; did you mean "fat_tree"? Known: star, fat_tree)"});
}

TEST_CASE("under an unknown kind the other keys are not refused too") {
  CHECK(faults("[[strategy]]\nkind = \"gossip\"\ngraph = \"ring\"").size() == 1);
  CHECK(faults("[cluster]\ntopology = { kind = \"torus\", sides = 3 }").size() == 1);
}

TEST_CASE("a kind must be a name") {
  CHECK(faults("[cluster]\ntopology = 3") == Lines{"dir/a.toml:2:12: topology must be one of star, fat_tree, found 3"});
  CHECK(faults("[cluster]\ntopology = { kind = true }") ==
        Lines{"dir/a.toml:2:21: kind must be one of star, fat_tree, found true"});
  CHECK(faults("[[strategy]]\nkind = []") ==
        Lines{"dir/a.toml:2:8: kind must be one of allreduce, parameter_server, found a list"});
}

TEST_CASE("a kind without default is needed, whether its table is there or not") {
  CHECK(refusal([] { settings("[cluster]\n\n[model]\nbias = true"); }) ==
        Lines{"dir/a.toml:3:1: [model] needs kind, one of least_squares, perceptron"});
  CHECK(refusal([] { settings("[cluster]\nworkers = 2"); }) ==
        Lines{"dir/a.toml:1:1: [model] needs kind, one of least_squares, perceptron"});
  CHECK(faults("[[strategy]]\nlabel = \"x\"") ==
        Lines{"dir/a.toml:1:1: [[strategy]] needs kind, one of allreduce, parameter_server"});
}

TEST_CASE("a component's table without kind has the default's options") {
  CHECK(faults("[cluster]\ntopology = { arity = 2 }") ==
        Lines{R"(dir/a.toml:2:14: unknown key "arity" in [cluster.topology]; known: kind)"});
}

TEST_CASE("a value of the wrong type is refused with what was found") {
  CHECK(faults("cluster.workers = \"8\"") == Lines{R"(dir/a.toml:1:19: workers must be an integer, found "8")"});
  CHECK(faults("cluster.workers = 2.5") == Lines{"dir/a.toml:1:19: workers must be an integer, found 2.5"});
  CHECK(faults("cluster.workers = 1e30") == Lines{"dir/a.toml:1:19: workers must be an integer, found 1e+30"});
  CHECK(faults("cluster.workers = inf") == Lines{"dir/a.toml:1:19: workers must be an integer, found inf"});
  CHECK(faults("title = 3") == Lines{"dir/a.toml:1:9: title must be a string, found 3"});
  CHECK(faults("title = 2024-02-29") == Lines{"dir/a.toml:1:9: title must be a string, found the date 2024-02-29"});
  CHECK(faults("training.learning_rate = true") ==
        Lines{"dir/a.toml:1:26: learning_rate must be a number, found true"});
  CHECK(faults("training.batch_size = \"ful\"") ==
        Lines{R"(dir/a.toml:1:23: batch_size must be an integer or "full", found "ful")"});
  CHECK(faults("training.data = [1]") == Lines{"dir/a.toml:1:17: data must be a string, found a list"});
  CHECK(refusal([] { settings("[model]\nkind = \"least_squares\"\nbias = 1"); }) ==
        Lines{"dir/a.toml:3:8: bias must be true or false, found 1"});
  CHECK(refusal([] { settings("[model]\nkind = \"perceptron\"\nhidden = [8, \"x\"]"); }) ==
        Lines{R"(dir/a.toml:3:14: hidden must be a list of numbers, found "x")"});
  CHECK(refusal([] { settings("[model]\nkind = \"perceptron\"\nhidden = 8"); }) ==
        Lines{"dir/a.toml:3:10: hidden must be a list of numbers, found 8"});
}

TEST_CASE("a number that is not finite is refused, always") {
  CHECK(faults("training.clip = inf") == Lines{"dir/a.toml:1:17: clip must be a finite number, found inf"});
  CHECK(faults("training.learning_rate = nan") ==
        Lines{"dir/a.toml:1:26: learning_rate must be a finite number, found nan"});
}

TEST_CASE("a value out of its range is refused with the range") {
  CHECK(faults("cluster.workers = 0") == Lines{"dir/a.toml:1:19: workers must be at least 1, found 0"});
  CHECK(faults("training.learning_rate = 0") == Lines{"dir/a.toml:1:26: learning_rate must be above 0, found 0"});
  CHECK(faults("cluster.topology = { kind = \"fat_tree\", levels = 5 }") ==
        Lines{"dir/a.toml:1:50: levels must be from 1 to 4, found 5"});
  CHECK(faults("cluster.latency = \"-1us\"") == Lines{R"(dir/a.toml:1:19: latency must be at least 0, found "-1us")"});
  CHECK(faults("cluster.memory = \"1B\"") == Lines{R"(dir/a.toml:1:18: memory must be at least 1KiB, found "1B")"});
}

TEST_CASE("a quantity needs its unit") {
  CHECK(faults("cluster.bandwidth = 10") ==
        Lines{R"(dir/a.toml:1:21: bandwidth: a bandwidth needs a unit, as in "10Gbps"; found 10)"});
  CHECK(faults("cluster.bandwidth = \"10\"") ==
        Lines{R"(dir/a.toml:1:21: bandwidth: a bandwidth needs a unit, as in "10Gbps"; found "10")"});
  CHECK(faults("cluster.bandwidth = \"10GBs\"") ==
        Lines{R"(dir/a.toml:1:21: bandwidth: unknown unit "GBs" in "10GBs"; did you mean "10GBps"?)"});
  CHECK(faults("cluster.latency = true") ==
        Lines{R"(dir/a.toml:1:19: latency must be a time, as in "50us", found true)"});
}

TEST_CASE("an unknown choice is refused with what was probably meant and all there are") {
  CHECK(faults("[[strategy]]\nkind = \"parameter_server\"\nconsistency = \"sps\"") ==
        Lines{R"(dir/a.toml:3:15: unknown consistency "sps"; did you mean "ssp"? Known: bsp, ssp, asp)"});
  CHECK(faults("[[strategy]]\nkind = \"parameter_server\"\nconsistency = 1") ==
        Lines{"dir/a.toml:3:15: consistency must be one of bsp, ssp, asp, found 1"});
}

TEST_CASE("a section must be a table, a list a list of tables") {
  CHECK(faults("cluster = 8") == Lines{"dir/a.toml:1:11: cluster must be a table, found 8"});
  CHECK(faults("[strategy]\nkind = \"allreduce\"") ==
        Lines{"dir/a.toml:1:1: strategy must be a list of tables, each under [[strategy]], found a table"});
  CHECK(faults("strategy = [1, { kind = \"allreduce\" }]") ==
        Lines{"dir/a.toml:1:13: strategy must be a list of tables, found 1"});
  CHECK(faults("[[expect]]\nwhere = 3") == Lines{"dir/a.toml:2:9: where must be a table, found 3"});
}

TEST_CASE("a component's refusal has the key's position, unless the key's value was refused already") {
  const std::string server = "[[strategy]]\nkind = \"parameter_server\"\n";
  CHECK(faults(server + "staleness = 3") == Lines{R"(dir/a.toml:3:1: staleness is for consistency = "ssp" only)"});
  CHECK(faults(server + "staleness = -1") == Lines{"dir/a.toml:3:13: staleness must be at least 0, found -1"});
}

TEST_CASE("all faults are found in one pass and told from top to bottom") {
  CHECK(refusal([] {
          settings(R"(titel = "x"
[[strategy]]
kind = "parameter_server"
servers = 0
[[strategy]]
kind = "gosip"
[training]
learning_rate = "fast"
[cluster]
workers = 2.5
bandwith = "10Gbps"
[model]
kind = "perceptron"
hidden = [0, -1]
)");
        }) == Lines{R"(dir/a.toml:1:1: unknown key "titel"; did you mean "title"?)",
                    "dir/a.toml:4:11: servers must be at least 1, found 0",
                    R"(dir/a.toml:6:8: unknown strategy "gosip"; known: allreduce, parameter_server)",
                    R"(dir/a.toml:8:17: learning_rate must be a number, found "fast")",
                    "dir/a.toml:10:11: workers must be an integer, found 2.5",
                    R"(dir/a.toml:11:1: unknown key "bandwith" in [cluster]; did you mean "bandwidth"?)",
                    "dir/a.toml:14:11: hidden must be at least 1, found 0",
                    "dir/a.toml:14:14: hidden must be at least 1, found -1"});
}

TEST_CASE("a document read twice has its faults once") {
  const auto document = scenario::Document::parse("cluster.workers = 0\nmodel.kind = \"least_squares\"", "a.toml");
  scenario::Faults faults;
  for (int point = 0; point < 2; ++point) {
    Settings options;
    document.read_into(options, faults);
  }
  CHECK(refusal([&] { faults.raise_if_any(); }) == Lines{"a.toml:1:19: workers must be at least 1, found 0"});
}

TEST_CASE("faults stand in the order of their positions, the command line's last") {
  scenario::Faults faults;
  CHECK(faults.empty());
  faults.raise_if_any();
  faults.add({"--set b=1", 0, 0}, "second");
  faults.add({"a.toml", 10, 1}, "late");
  faults.add({"a.toml", 9, 20}, "early, far right");
  faults.add({"a.toml", 9, 3}, "early");
  CHECK(refusal([&] { faults.raise_if_any(); }) ==
        Lines{"a.toml:9:3: early", "a.toml:9:20: early, far right", "a.toml:10:1: late", "--set b=1: second"});
}

TEST_CASE("a long text is cut short in a fault, between characters") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\u00fc";
  const Lines lines = faults("cluster.workers = \"" + text + "\"");
  REQUIRE(lines.size() == 1);
  // The quote and 39 letters of two bytes fit into 80.
  CHECK(lines[0] == "dir/a.toml:1:19: workers must be an integer, found \"" + text.substr(0, 78) + "...");
}

TEST_CASE("twenty faults are told, with suggestions, and how many more there are") {
  std::string text = "[cluster]\n";
  for (int k = 0; k < 8000; ++k) text += "workrs" + std::to_string(k) + " = 1\n";
  const Lines lines = faults(text);
  REQUIRE(lines.size() == 21);
  CHECK(lines[0] == R"(dir/a.toml:2:1: unknown key "workrs0" in [cluster]; did you mean "workers"?)");
  CHECK(lines[19].starts_with(R"(dir/a.toml:21:1: unknown key "workrs19" in [cluster]; known: workers, bandwidth)"));
  CHECK(lines[20] == "... and 7,980 more");
}

TEST_CASE("twenty faults are told without a word of others") {
  std::string text = "[cluster]\n";
  for (int k = 0; k < 20; ++k) text += "x" + std::to_string(k) + " = 1\n";
  CHECK(faults(text).size() == 20);
}

TEST_CASE("keys are looked for as often as suggestions are made, and listed once") {
  std::string text;
  for (int k = 0; k < 100; ++k) text += "x" + std::to_string(k) + " = 1\n";
  const scenario::Table table = scenario::parse_toml(text, "a.toml");
  scenario::Faults found;
  int listed = 0;
  scenario::Reading reading{.faults = found, .all_keys = [&] {
                              ++listed;
                              return std::vector<std::string>{"cluster.workers"};
                            }};
  scenario::Reader(table, {"a.toml", 1, 1}, "", reading).refuse_unknown_keys();
  CHECK(listed == 1);
  CHECK(reading.suggestions == 0);
  CHECK(found.all().size() == 100);
  CHECK(found.all()[20].message == "unknown key \"x20\"");
}

TEST_CASE("a text of more than 10,000 bytes is refused, as a value, in a list and as a key") {
  const std::string longest(10'000, 'x'), longer = longest + "x";
  const std::string what = "a text of 10001 bytes, expected at most 10000";
  CHECK(settings("title = \"" + longest + "\"\n[model]\nkind = \"least_squares\"\n").title == longest);
  CHECK(faults("title = \"" + longer + "\"") == Lines{"dir/a.toml:1:9: " + what});
  CHECK(faults("a = [\"" + longer + "\"]") == Lines{"dir/a.toml:1:6: " + what});
  CHECK(faults("a = { " + longer + " = 1 }") == Lines{"dir/a.toml:1:7: " + what});
  CHECK(refusal([&] { scenario::parse_value(longer, {.file = "--set title=x"}); }) == Lines{"--set title=x: " + what});
}

TEST_CASE("a table of more than 10,000 keys is refused") {
  std::string keys;
  for (int k = 0; k < 10'000; ++k) keys += "x" + std::to_string(k) + " = 1\n";
  CHECK(faults("[a]\n" + keys).size() == 1);  // the unknown section
  CHECK(faults("[a]\n" + keys + "y = 1") == Lines{"dir/a.toml:1:1: a table of 10001 keys, expected at most 10000"});
}

TEST_CASE("keys of more than 256 parts are refused before they are nested, dots in texts and numbers are none") {
  std::string parts = "a", dots;
  for (int i = 0; i < 256; ++i) parts += ".a", dots += ".";
  for (const std::string& text : {parts + " = 1", "[" + parts + "]", "x = { " + parts + " = 1 }"}) {
    const Lines lines = faults("# " + dots + "\n" + text);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("dir/a.toml:2:"));
    CHECK(lines[0].ends_with("nested more than 256 deep"));
  }
  const Lines lines = faults("title = \"\\\"" + dots + "\"\nb = '" + dots + "'\nc = \"\"\"\n" + dots + "\"\n\"\"\"\n");
  for (const std::string& line : lines) CHECK(line.find("256 deep") == std::string::npos);
}

}  // namespace refusals_test
