// Answers from a model of several sources: each source's rows by its own tower.
#include <cmath>

#include "catch.h"
#include "cli/scenario.h"

namespace predict_source_test {

using namespace simgrad::tests;

namespace {

constexpr int rows = 40;

std::string numbers() {
  std::string text = "size,age,price\n";
  for (int i = 0; i < rows; ++i) {
    const double size = std::sin(1.7 * i), age = 3.0 * std::cos(0.9 * i);
    text += std::to_string(size) + "," + std::to_string(age) + "," + std::to_string(100.0 + 20.0 * size - age) + "\n";
  }
  return text;
}

std::string kinds() {
  std::string text = "length,width,city,kind\n";
  for (int i = 0; i < rows; ++i)
    text += std::to_string(std::sin(0.7 * i)) + "," + std::to_string(std::cos(2.1 * i)) + "," +
            (i % 2 == 0 ? "Bern" : "Lyon") + "," + (std::sin(0.7 * i) > 0.2 ? "long" : "short") + "\n";
  return text;
}

/// Trains on both files. Returns the results.
Json trained(const Scratch& scratch, const std::string& more = "") {
  scratch.write("numbers.csv", numbers());
  scratch.write("kinds.csv", kinds());
  scratch.write("x.toml", R"(seed = 3
save_model = true
[cluster]
workers = 3
[data]
source = "mixture"
[[data.parts]]
name = "prices"
source = "csv"
path = "numbers.csv"
predicts = "number"
[[data.parts]]
name = "kinds"
source = "csv"
path = "kinds.csv"
predicts = "classes"
[model]
kind = "multimodal_perceptron"
towers = [{ hidden = [6], weight = 2.0 }, { hidden = [] }]
embedding = 5
hidden = [4]
[training]
batch_size = 10
learning_rate = 0.05
)" + more + R"([stop]
steps = 20
[[strategy]]
kind = "multitask"
rows = "batch"
)");
  const Called run = program("run x.toml --quiet --no-why", scratch);
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  return results_in(scratch);
}

double number_after(const std::string& text, const std::string& name) {
  const std::size_t at = text.find("\n" + name + ": ");
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + name.size() + 3));
}

}  // namespace

TEST_CASE("a source's predictions have the loss and the metric of the run's evaluation of this source") {
  for (const char* precision : {"", "precision = \"float32\"\n"}) {
    const Scratch scratch;
    const Json results = trained(scratch, precision);
    const Json& run = results.at("runs").at(0);
    REQUIRE(run.at("sources").size() == 2);
    double loss = 0.0;
    for (const Json& source : run.at("sources")) {
      const std::string name = source.at("name"), file = name == "prices" ? "numbers.csv" : "kinds.csv";
      const Called predicted = program("predict out/x --part " + name + " --data " + file + " --out p.csv", scratch);
      CAPTURE(predicted.out, predicted.err);
      REQUIRE(predicted.exit_code == 0);
      CHECK(number_after(predicted.out, "loss") == Approx(source.at("loss").get<double>()).epsilon(1e-12));
      CHECK(number_after(predicted.out, source.at("metric_name")) ==
            Approx(source.at("metric").get<double>()).epsilon(1e-12));
      loss += (name == "prices" ? 2.0 : 1.0) * source.at("loss").get<double>();
      const std::string heading = lines_of(contents(scratch.path() + "/p.csv")).front();
      CHECK(heading ==
            (name == "prices" ? "line,predicted,actual" : "line,predicted,probability_long,probability_short,actual"));
    }
    CHECK(run.at("final_loss").get<double>() == Approx(loss).epsilon(1e-12));
  }
}

TEST_CASE("the source must be named, and be one that the model was trained on") {
  const Scratch scratch;
  trained(scratch);
  const auto refused = [&](const std::string& option, const std::string& text) {
    const Called called = program("predict out/x" + option + " --data numbers.csv --out p.csv", scratch);
    CAPTURE(called.err);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, text));
  };
  refused("", "the model was trained on 2 sources, expected one of them: --part prices, --part kinds");
  refused(" --part houses", "--part houses: the model was trained on 2 sources");
  scratch.write("one.toml",
                "save_model = true\n[data]\nsource = \"house_prices\"\nsamples = 20\nfeatures = 2\n[model]\n"
                "kind = \"least_squares\"\n[training]\nlearning_rate = 0.1\n[stop]\nsteps = 2\n[[strategy]]\n"
                "kind = \"single\"\n[cluster]\nworkers = 1\n");
  REQUIRE(program("run one.toml --quiet --no-why", scratch).exit_code == 0);
  const Called called = program("predict out/one --part prices --data numbers.csv --out p.csv", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "least_squares was trained on one source"));
}

TEST_CASE("a resolved scenario of a mixture is accepted again, with the same run") {
  const Scratch scratch;
  trained(scratch);
  const Called first = program("validate x.toml --resolved", scratch);
  REQUIRE(first.exit_code == 0);
  scratch.write("again.toml", first.out);
  const Called again = program("validate again.toml --resolved", scratch);
  CAPTURE(again.err);
  REQUIRE(again.exit_code == 0);
  const auto id = [](const std::string& text) {
    const std::size_t at = text.find("\n# ");
    return text.substr(at, text.find(' ', at + 3) - at);
  };
  CHECK(id(first.out) == id(again.out));
}

}  // namespace predict_source_test
