#include "scenario/fixture.h"

namespace override_test {

using namespace fixture;
using scenario::Document;

namespace {

constexpr std::string_view text = R"(title = "x"
[cluster]
workers = 2
topology = "star"
[model]
kind = "least_squares"
[training]
data = "x.csv"
[[strategy]]
kind = "parameter_server"
label = "async PS"
[[strategy]]
kind = "parameter_server"
[[strategy]]
kind = "allreduce"
)";

Document with(std::initializer_list<const char*> assignments) {
  Document document = Document::parse(text, "dir/a.toml");
  for (const char* assignment : assignments) document.set(assignment);
  return document;
}

Lines refused(const char* assignment) {
  return refusal([&] { settings(with({assignment})); });
}

std::int64_t servers(const Settings& read, std::size_t strategy) {
  return dynamic_cast<const ParameterServer&>(*read.strategies.at(strategy).program).servers;
}

}  // namespace

TEST_CASE("option --set takes a TOML value, else a bare string") {
  CHECK(settings(with({"cluster.workers=8"})).cluster.workers == 8);
  CHECK(settings(with({"cluster.workers = 8"})).cluster.workers == 8);
  CHECK(settings(with({"cluster.bandwidth=10Gbps"})).cluster.bandwidth_bytes_per_s == 1.25e9);
  CHECK(settings(with({"cluster.bandwidth=\"10Gbps\""})).cluster.bandwidth_bytes_per_s == 1.25e9);
  CHECK(settings(with({"model.kind=perceptron"})).model.model.kind() == "perceptron");
  CHECK(settings(with({"title=a=b, c"})).title == "a=b, c");
  CHECK(settings(with({"title="})).title == "");
  CHECK(settings(with({"cluster.topology={ kind = \"fat_tree\", arity = 8 }"})).cluster.topology.kind() == "fat_tree");
}

TEST_CASE("a line break in a value does not begin another key") {
  CHECK(settings(with({"title=1\ncluster = 2"})).title == "1\ncluster = 2");
}

TEST_CASE("the last --set of a key holds") {
  CHECK(settings(with({"cluster.workers=8", "cluster.workers=16"})).cluster.workers == 16);
}

TEST_CASE("a value of --set has the position of the --set, the table around it keeps its own") {
  const Document document = with({"cluster.workers=8"});
  CHECK(document.position("cluster.workers").text() == "--set cluster.workers=8");
  CHECK(document.position("cluster").text() == "dir/a.toml:2:2");
}

TEST_CASE("option --set makes the tables that are missing") {
  Document document = Document::parse("", "a.toml");
  document.set("model.kind=least_squares");
  document.set("cluster.topology.kind=fat_tree");
  document.set("cluster.topology.arity=6");
  const Settings read = settings(document);
  CHECK(read.model.model.kind() == "least_squares");
  CHECK(dynamic_cast<const FatTree&>(*read.cluster.topology).arity == 6);
}

TEST_CASE("option --set reaches into a component that was written as a name") {
  const auto levels = [](const Settings& read) { return dynamic_cast<const FatTree&>(*read.cluster.topology).levels; };
  CHECK(levels(settings(with({"cluster.topology.kind=fat_tree", "cluster.topology.levels=3"}))) == 3);
  // The name stays: it is the kind.
  CHECK(levels(settings(with({"cluster.topology=fat_tree", "cluster.topology.levels=3"}))) == 3);
  // The name that the file has is a star's, which has no levels.
  CHECK(refused("cluster.topology.levels=3").size() == 1);
}

TEST_CASE("option --set reaches a strategy by its index, its label, or the kind of several") {
  const Settings index = settings(with({"strategy.1.servers=4"}));
  CHECK(servers(index, 0) == 1);
  CHECK(servers(index, 1) == 4);
  const Settings label = settings(with({"strategy.async PS.servers=4"}));
  CHECK(servers(label, 0) == 4);
  CHECK(servers(label, 1) == 1);
  CHECK(servers(settings(with({"strategy.\"async PS\".servers=4"})), 0) == 4);
  const Settings kind = settings(with({"strategy.parameter_server.servers=4"}));
  CHECK(servers(kind, 0) == 4);
  CHECK(servers(kind, 1) == 4);
}

TEST_CASE("a path on the command line is relative to the current directory") {
  CHECK(settings(with({})).training.data == "dir/x.csv");
  CHECK(settings(with({"training.data=y.csv"})).training.data == "y.csv");
}

TEST_CASE("a value set with a position of the file is read as the file's") {
  Document document = with({});
  document.set("training.data", {.toml = "\"z.csv\"", .position = {"dir/a.toml", 20, 5}});
  document.set("cluster.workers", {.toml = "0", .position = {"dir/a.toml", 21, 5}});
  CHECK(refusal([&] { settings(document); }) == Lines{"dir/a.toml:21:5: workers must be at least 1, found 0"});
  document.set("cluster.workers=1");
  CHECK(settings(document).training.data == "dir/z.csv");
}

TEST_CASE("faults of what --set wrote name the --set") {
  CHECK(refused("cluster.workers=0") == Lines{"--set cluster.workers=0: workers must be at least 1, found 0"});
  CHECK(refused("cluster.bandwith=10Gbps") ==
        Lines{R"(--set cluster.bandwith=10Gbps: unknown key "bandwith" in [cluster]; did you mean "bandwidth"?)"});
  CHECK(refused("clustr.workers=8") ==
        Lines{R"(--set clustr.workers=8: unknown key "clustr"; did you mean "cluster"?)"});
  CHECK(refused("title.x=8") == Lines{"--set title.x=8: title must be a string, found a table"});
  CHECK(refused("model.kind=trees") ==
        Lines{R"(--set model.kind=trees: unknown model "trees"; known: least_squares, perceptron)"});
}

TEST_CASE("option --set without a key, a value or a table to go through is refused") {
  CHECK(refused("cluster.workers") == Lines{"--set cluster.workers: expected --set KEY=VALUE"});
  CHECK(refused("") == Lines{"--set : expected --set KEY=VALUE"});
  const std::string expected = "expected names with dots between, as in cluster.workers";
  CHECK(refused("=8") == Lines{"--set =8: malformed key \"\"; " + expected});
  CHECK(refused("cluster..workers=8") ==
        Lines{"--set cluster..workers=8: malformed key \"cluster..workers\"; " + expected});
  CHECK(refused("cluster.=8") == Lines{"--set cluster.=8: malformed key \"cluster.\"; " + expected});
  CHECK(refused("\"a\"b=8") == Lines{"--set \"a\"b=8: malformed key \"\\\"a\\\"b\"; " + expected});
  CHECK(refused("cluster.workers.x=8") == Lines{"--set cluster.workers.x=8: \"workers\" is 2, not a table"});
}

TEST_CASE("option --set of a strategy that is not there is refused with those that are") {
  CHECK(refused("strategy.asink PS.servers=4") ==
        Lines{R"(--set strategy.asink PS.servers=4: unknown strategy "asink PS"; did you mean "async PS"? )"
              "Known: async PS, parameter_server, allreduce"});
  CHECK(refused("strategy.3.servers=4") ==
        Lines{"--set strategy.3.servers=4: \"strategy\" has 3 entries, counted from 0"});
}

TEST_CASE("option --set of a key without end is refused") {
  std::string assignment = "a";
  for (int depth = 0; depth < 1000; ++depth) assignment += ".a";
  assignment += "=1";
  CHECK(refused(assignment.c_str()) == Lines{"--set " + assignment + ": nested more than 256 deep"});
}

TEST_CASE("a value that is not UTF-8 is refused") {
  CHECK(refused("title=\xff") == Lines{"--set title=\xff: the value is not valid UTF-8"});
}

TEST_CASE("a table is laid over another one key by key, any other value instead of it, each with its position") {
  Document document = Document::parse(R"([model]
kind = "least_squares"
[training]
batch_size = 5
clip = 2.0
[own.training]
batch_size = 7
learning_rate = -1
[own]
clip = 3.0
)",
                                      "a.toml");
  document.lay_over("training", "own.training");
  document.lay_over("training.clip", "own.clip");
  document.lay_over("cluster", "own.cluster");  // nothing there
  CHECK(document.position("training.batch_size").text() == "a.toml:7:1");
  CHECK(document.position("training.clip").text() == "a.toml:10:1");
  CHECK(!document.contains("cluster"));
  document.erase("own");
  CHECK(refusal([&] { settings(document); }) == Lines{"a.toml:8:17: learning_rate must be above 0, found -1"});
  document.erase("training.learning_rate");
  document.erase("training.no.such");
  const Settings read = settings(document);
  CHECK(read.training.batch_size == 7);
  CHECK(read.training.clip == 3.0);
}

TEST_CASE("a table is laid over one that is not there") {
  Document document = Document::parse("[model]\nkind = \"least_squares\"\n[own]\nbatch_size = 7\n", "a.toml");
  document.lay_over("training", "own");
  document.erase("own");
  CHECK(settings(document).training.batch_size == 7);
}

TEST_CASE("one table of a list is kept") {
  Document document = with({});
  document.keep_only("strategy", 2);
  REQUIRE(settings(document).strategies.size() == 1);
  CHECK(settings(document).strategies[0].program.kind() == "allreduce");
}

}  // namespace override_test
