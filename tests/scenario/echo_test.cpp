#include <limits>
#include <nlohmann/json.hpp>

#include "scenario/fixture.h"

namespace echo_test {

using namespace fixture;
using Json = nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

namespace {

constexpr std::string_view full = R"(
title = "Quotes \" and \\, tabs\tand lines\nand \u0001"
[cluster]
workers = 16
bandwidth = "10Gbps"
latency = "0s"
memory = "1.5GiB"
topology = { kind = "fat_tree", arity = 8 }
[model]
kind = "perceptron"
hidden = [64, 0x20, 3.5]
[training]
batch_size = 64
learning_rate = 0.30000000000000004
clip = 1e300
data = "x.csv"
[[strategy]]
kind = "parameter_server"
label = "async PS"
consistency = "asp"
staleness = 3
[[strategy]]
kind = "allreduce"
tree = { kind = "fat_tree", levels = 1 }
[[expect]]
where = { "cluster.workers" = 8, "cluster.bandwidth" = "1Gbps" }
)";

/// Reads without raising what the fixture's cross-check says about staleness.
Settings read(std::string_view text) {
  Settings options;
  scenario::Faults ignored;
  scenario::Document::parse(text, "dir/a.toml").read_into(options, ignored);
  return options;
}

}  // namespace

TEST_CASE("the echo shows every option in the order of describe, quantities with units") {
  Settings options = settings("model.kind = \"least_squares\"\n[[strategy]]\nkind = \"parameter_server\"");
  CHECK(scenario::echo(options).dump() ==
        R"({"title":"","cluster":{"workers":4,"bandwidth":"1Gbps","latency":"50us","topology":"star"},)"
        R"("model":{"kind":"least_squares","bias":true},)"
        R"("training":{"batch_size":"full","learning_rate":0.1,"data":""},)"
        R"("strategy":[{"kind":"parameter_server","consistency":"bsp","servers":1,"momentum":0.0}],"expect":[]})");
}

TEST_CASE("the echo shows options that may be left out if they are there, and components with their options") {
  Settings options = read(full);
  const Json echo = scenario::echo(options);
  CHECK(echo["cluster"].dump() == R"({"workers":16,"bandwidth":"10Gbps","latency":"0s","memory":"1.5GiB",)"
                                  R"("topology":{"kind":"fat_tree","arity":8,"levels":2}})");
  CHECK(echo["training"]["batch_size"] == 64);
  CHECK(echo["training"]["batch_size"].is_number_integer());
  CHECK(echo["strategy"][0]["label"] == "async PS");
  CHECK(echo["expect"][0]["where"].dump() == R"({"cluster.workers":8,"cluster.bandwidth":"1Gbps"})");
}

TEST_CASE("the echo of a path is relative to the directory it is asked for") {
  Settings options = read("training.data = \"../data/x.csv\"");
  CHECK(options.training.data == "data/x.csv");
  CHECK(scenario::echo(options)["training"]["data"] == "data/x.csv");
  CHECK(scenario::echo(options, "dir")["training"]["data"] == "../data/x.csv");
  options.training.data = "/data/x.csv";
  CHECK(scenario::echo(options, "dir")["training"]["data"] == "/data/x.csv");
  options.training.data = "x.csv";
  CHECK(scenario::echo(options, "/somewhere")["training"]["data"] == "x.csv");
}

TEST_CASE("a number that is not finite stands for none") {
  Settings options = read("");
  options.cluster.latency_s = std::numeric_limits<double>::infinity();
  options.training.clip = std::numeric_limits<double>::infinity();
  CHECK_FALSE(scenario::echo(options)["cluster"].contains("latency"));
  CHECK_FALSE(scenario::echo(options)["training"].contains("clip"));
}

TEST_CASE("an echo as TOML reads back to the same options") {
  Settings options = read(full);
  const Json echo = scenario::echo(options, "dir");
  Settings again = read(scenario::toml(echo));
  CHECK(scenario::echo(again, "dir").dump() == echo.dump());
  CHECK(again.training.learning_rate == 0.30000000000000004);
  CHECK(again.title == options.title);
  CHECK(again.training.data == options.training.data);
}

TEST_CASE("TOML has plain values first, then tables, then what is nested in one line") {
  const Json tree = Json::parse(R"({"schema": 1, "cluster": {"workers": 8,
      "topology": {"kind": "x", "a": [1.0, {"b": {}}]}},
      "empty": [], "title": "t", "nothing": null,
      "strategy": [{"kind": "a", "n": null}, {"odd key": 1e22}], "stop": {}})");
  CHECK(scenario::toml(tree) == R"(schema = 1
empty = []
title = "t"

[cluster]
workers = 8
topology = { kind = "x", a = [1.0, { b = {} }] }

[[strategy]]
kind = "a"

[[strategy]]
"odd key" = 1e+22

[stop]
)");
}

TEST_CASE("no difference from the defaults, no pairs") {
  ParameterServer options, defaults;
  CHECK(scenario::differences(options, defaults) == Pairs{});
}

TEST_CASE("differences are what a label needs, in the order of describe") {
  ParameterServer options, defaults;
  options.servers = 4;
  options.consistency = Consistency::asp;
  options.staleness = 0;
  options.momentum = 1.0;
  CHECK(scenario::differences(options, defaults) ==
        Pairs{{"consistency", "asp"}, {"servers", "4"}, {"staleness", "0"}, {"momentum", "1"}});
}

TEST_CASE("a component differs by its kind and by options that are not that kind's defaults") {
  Allreduce options, defaults;
  options.tree.choose("fat_tree");
  CHECK(scenario::differences(options, defaults) == Pairs{{"tree", "fat_tree"}});
  dynamic_cast<FatTree&>(*options.tree.object()).levels = 3;
  CHECK(scenario::differences(options, defaults) == Pairs{{"tree", "fat_tree"}, {"tree.levels", "3"}});
  defaults.tree.choose("fat_tree");
  CHECK(scenario::differences(options, defaults) == Pairs{{"tree.levels", "3"}});
}

TEST_CASE("differences go into sections, inline components and lists") {
  Settings options = read("[cluster]\nlatency = \"1ms\"\n[model]\nkind = \"perceptron\"\nhidden = [8]\n[[expect]]\n");
  Settings defaults = read("model.kind = \"least_squares\"");
  CHECK(scenario::differences(options, defaults) == Pairs{{"cluster.latency", "1ms"},
                                                          {"model.kind", "perceptron"},
                                                          {"model.hidden", "[8.0]"},
                                                          {"expect", R"([{ metric = "final_loss" }])"}});
  Settings biased = read("[model]\nkind = \"least_squares\"\nbias = false");
  CHECK(scenario::differences(biased, defaults) == Pairs{{"model.bias", "false"}});
}

}  // namespace echo_test
