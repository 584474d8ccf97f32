#include <cstdio>
#include <filesystem>
#include <fstream>

#include "scenario/fixture.h"

namespace reading_test {

using namespace fixture;
using scenario::Document;

TEST_CASE("options that are written are assigned, the others keep their defaults") {
  const Settings read = settings(R"(
title = "Ring or tree?"
[cluster]
workers = 16
bandwidth = "10Gbps"
memory = "16GiB"
[model]
kind = "perceptron"
hidden = [64, 32.0]
[training]
learning_rate = 0.5
)");
  CHECK(read.title == "Ring or tree?");
  CHECK(read.cluster.workers == 16);
  CHECK(read.cluster.bandwidth_bytes_per_s == 1.25e9);
  CHECK(read.cluster.latency_s == 5e-5);
  CHECK(read.cluster.memory_bytes == 16.0 * 1024 * 1024 * 1024);
  CHECK(dynamic_cast<const Perceptron&>(*read.model.model).hidden == std::vector<double>{64.0, 32.0});
  CHECK(read.training.learning_rate == 0.5);
  CHECK_FALSE(read.training.clip.has_value());
}

TEST_CASE("a component is written as a name, or as a table with its options") {
  const Settings name = settings("[cluster]\ntopology = \"fat_tree\"\n[model]\nkind = \"least_squares\"");
  CHECK(dynamic_cast<const FatTree&>(*name.cluster.topology).arity == 4);
  const Settings table =
      settings("[cluster]\ntopology = { kind = \"fat_tree\", arity = 8 }\n[model]\nkind = \"least_squares\"");
  CHECK(dynamic_cast<const FatTree&>(*table.cluster.topology).arity == 8);
  const Settings header =
      settings("[cluster.topology]\nkind = \"fat_tree\"\nlevels = 3\n[model]\nkind = \"least_squares\"");
  CHECK(dynamic_cast<const FatTree&>(*header.cluster.topology).levels == 3);
}

TEST_CASE("a list has one item a table, in the file's order") {
  const Settings read = settings(R"(
model.kind = "least_squares"
[[strategy]]
kind = "parameter_server"
label = "async"
consistency = "asp"
[[strategy]]
kind = "allreduce"
tree = { kind = "fat_tree", levels = 1 }
)");
  REQUIRE(read.strategies.size() == 2);
  CHECK(read.strategies[0].label == "async");
  CHECK(dynamic_cast<const ParameterServer&>(*read.strategies[0].program).consistency == Consistency::asp);
  const auto& allreduce = dynamic_cast<const Allreduce&>(*read.strategies[1].program);
  CHECK(dynamic_cast<const FatTree&>(*allreduce.tree).levels == 1);
}

TEST_CASE("a list that is written takes the place of the default, one that is not leaves it") {
  Settings options;
  options.expectations.resize(2);
  scenario::Faults faults;
  Document::parse("model.kind = \"least_squares\"", "a.toml").read_into(options, faults);
  CHECK(options.expectations.size() == 2);
  Document::parse("model.kind = \"least_squares\"\n[[expect]]\nmetric = \"bytes\"", "a.toml")
      .read_into(options, faults);
  REQUIRE(options.expectations.size() == 1);
  CHECK(options.expectations[0].metric == "bytes");
  CHECK(faults.empty());
}

TEST_CASE("whole floats are integers, integers are numbers") {
  const Settings read =
      settings("[cluster]\nworkers = 1e6\n[training]\nlearning_rate = 1\n[model]\nkind = \"least_squares\"");
  CHECK(read.cluster.workers == 1000000);
  CHECK(read.training.learning_rate == 1.0);
}

TEST_CASE("a word stands for no integer") {
  CHECK_FALSE(
      settings("training.batch_size = \"full\"\nmodel.kind = \"least_squares\"").training.batch_size.has_value());
  CHECK(settings("training.batch_size = 64\nmodel.kind = \"least_squares\"").training.batch_size == 64);
}

TEST_CASE("a table of free keys keeps its values as TOML, nested keys dotted") {
  const Settings read = settings(R"(
model.kind = "least_squares"
[[expect]]
where = { "cluster.workers" = 8, training.data = "x.csv" }
)");
  using Pair = std::pair<std::string, std::string>;
  CHECK(read.expectations.at(0).where == std::vector<Pair>{{"cluster.workers", "8"}, {"training.data", "\"x.csv\""}});
}

TEST_CASE("a path in the file is relative to the file, unless it is absolute") {
  CHECK(settings("training.data = \"x.csv\"\nmodel.kind = \"least_squares\"").training.data == "dir/x.csv");
  CHECK(settings("training.data = \"../x.csv\"\nmodel.kind = \"least_squares\"").training.data == "x.csv");
  CHECK(settings("training.data = \"/data/x.csv\"\nmodel.kind = \"least_squares\"").training.data == "/data/x.csv");
}

TEST_CASE("a document is read from a file") {
  const auto path = std::filesystem::temp_directory_path() / "simgrad_document_test.toml";
  std::ofstream(path) << "model.kind = \"least_squares\"\n[cluster]\nworkers = 3\n";
  const Document document = Document::read(path.string());
  std::filesystem::remove(path);
  CHECK(document.file() == path.string());
  CHECK(settings(document).cluster.workers == 3);
}

TEST_CASE("a file that cannot be opened is an error of the environment") {
  CHECK_THROWS_WITH(Document::read("no/such.toml"), "no/such.toml: cannot be opened: No such file or directory");
  CHECK_THROWS_AS(Document::read("no/such.toml"), base::EnvironmentError);
  CHECK_THROWS_AS(Document::read("."), base::EnvironmentError);
}

TEST_CASE("a copy does not change with its original") {
  Document original = Document::parse("model.kind = \"least_squares\"", "a.toml");
  const Document copy = original;
  original.set("cluster.workers=9");
  CHECK(settings(copy).cluster.workers == 4);
  CHECK(settings(original).cluster.workers == 9);
}

TEST_CASE("a key's position is where it stands, the file's beginning if it does not") {
  const Document document = Document::parse(R"([cluster]
workers = 8
[[strategy]]
  kind = "allreduce"
[[strategy]]
kind = "parameter_server"
label = "async PS"
)",
                                            "a.toml");
  CHECK(document.position("cluster.workers").text() == "a.toml:2:1");
  CHECK(document.position("strategy.0.kind").text() == "a.toml:4:3");
  CHECK(document.position("strategy.1").text() == "a.toml:5:1");
  CHECK(document.position("strategy.async PS.label").text() == "a.toml:7:1");
  CHECK(document.position("strategy.allreduce.kind").text() == "a.toml:4:3");
  CHECK(document.position("cluster.speed").text() == "a.toml:1:1");
  CHECK(document.position("cluster.workers.x").text() == "a.toml:1:1");
  CHECK(document.contains("strategy.1.kind"));
  CHECK_FALSE(document.contains("strategy.2.kind"));
  CHECK_FALSE(document.contains(""));
}

TEST_CASE("a column may be named, or counted from 0") {
  struct Column : base::Described {
    std::optional<std::string> target;
    void describe(base::Describer& d) override { d.name_or_index("target", target, "a column"); }
  };
  const auto read = [](const std::string& text) {
    Column column;
    scenario::Faults faults;
    Document::parse(text, "a.toml").read_into(column, faults);
    faults.raise_if_any();
    return column.target;
  };
  CHECK(read("target = \"price\"") == "price");
  CHECK(read("target = 3") == "3");
  CHECK(read("") == std::nullopt);
  CHECK_THROWS_AS(read("target = -1"), base::ScenarioError);
  CHECK_THROWS_AS(read("target = 1.5"), base::ScenarioError);
}

}  // namespace reading_test
