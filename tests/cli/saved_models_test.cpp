// Models that runs keep: which of them, their bytes, and the state that they are.
#include "catch.h"
#include "cli/predicting.h"
#include "run_files.h"

namespace saved_models_test {

using namespace simgrad::tests;
using namespace simgrad::tests::predicting;

TEST_CASE("a model of several is chosen by its run, and a grid leaves one for each point") {
  const Scratch scratch;
  Case of = cases().front();
  scratch.write(of.file, of.text);
  scratch.write("x.toml", scenario(of) + "[grid]\n\"training.learning_rate\" = [0.01, 0.1]\n");
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  const Called open = program("predict out/x --data numbers.csv --out p.csv", scratch);
  CHECK(open.exit_code == 2);
  CHECK(contains(open.err, "out/x: 2 models; choose one of them"));
  for (const Json& run : results_in(scratch).at("runs")) {
    const std::string id = run.at("id");
    CHECK(contains(open.err, "--run " + id));
    const Called one = program("predict out/x --run " + id + " --data numbers.csv --out p.csv", scratch);
    REQUIRE(one.exit_code == 0);
    CHECK(number_after(one.out, "loss") == Approx(run.at("final_loss").get<double>()).epsilon(1e-12));
    // The file itself is a model, too.
    CHECK(program("predict " + file_of_run(scratch.path() + "/out/x/models", id, ".model") +
                      " --data numbers.csv --out p.csv",
                  scratch)
              .exit_code == 0);
  }
}

TEST_CASE("models are equal to the last byte, whatever --threads and --jobs, shards and merge") {
  const Case of = cases()[4];
  const auto model_by = [&](const std::string& arguments) {
    const Scratch scratch;
    scratch.write(of.file, of.text);
    scratch.write("x.toml", scenario(of));
    for (const std::string& line : lines_of(arguments)) {
      const Called called = program(line, scratch);
      CAPTURE(called.err);
      REQUIRE(called.exit_code == 0);
    }
    return contents(only_model(scratch));
  };
  const std::string one = model_by("run x.toml --quiet --threads 0 --jobs 1");
  CHECK(one == model_by("run x.toml --quiet --threads 3 --jobs 4"));
  CHECK(one == model_by("run x.toml --quiet --shard 1/2 --out s\nrun x.toml --quiet --shard 2/2 --out s\nmerge s --out "
                        "out/x --quiet"));
}

TEST_CASE("a finished run without its model is simulated again, and its results stay") {
  const Scratch scratch;
  const Case of = cases().front();
  REQUIRE(trained(of, scratch).exit_code == 0);
  const std::string model = only_model(scratch), before = contents(model);
  const std::string results = contents(scratch.path() + "/out/x/results.json");
  std::filesystem::remove(model);
  const Called again = program("run x.toml --no-why", scratch);
  CHECK(again.exit_code == 0);
  CHECK(contains(again.err, "1 of 2 runs are simulated again for their models; their results stay"));
  CHECK(contents(model) == before);
  CHECK(contents(scratch.path() + "/out/x/results.json") == results);

  const std::string bytes = contents(model);
  scratch.write("cut.model", bytes.substr(0, bytes.size() - 9));
  const Called cut = program("predict cut.model --data numbers.csv --out p.csv", scratch);
  CHECK(cut.exit_code == 2);
  CHECK_THAT(cut.err, StartsWith("cut.model:1:1: is damaged"));
  const Called other = program("predict x.toml --data numbers.csv --out p.csv", scratch);
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, StartsWith("x.toml:1:1: is no model"));
}

TEST_CASE("models of asynchronous servers, of gossip and of a cut network are the parameters that were evaluated") {
  for (const char* strategy :
       {"kind = \"parameter_server\"\nconsistency = \"asp\"\n", "kind = \"gossip\"\n", "kind = \"local_sgd\"\n"}) {
    CAPTURE(strategy);
    const Scratch scratch;
    const Case of = cases()[5];
    scratch.write(of.file, of.text);
    scratch.write("x.toml", with(scenario(of), "kind = \"allreduce\"\n", strategy));
    REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
    const Called predicted = program("predict out/x --data three.csv --out p.csv", scratch);
    REQUIRE(predicted.exit_code == 0);
    CHECK(number_after(predicted.out, "loss") ==
          Approx(results_in(scratch).at("runs").at(0).at("final_loss").get<double>()).epsilon(1e-12));
  }
  const Scratch scratch;
  const Case of = cases()[14];
  scratch.write(of.file, of.text);
  scratch.write("x.toml", with(scenario(of), "[stop]", "[parallel]\ntensor = 2\n[stop]"));
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  const Called predicted = program("predict out/x --data text.txt --out p.csv", scratch);
  REQUIRE(predicted.exit_code == 0);
  CHECK(number_after(predicted.out, "loss") ==
        Approx(results_in(scratch).at("runs").at(0).at("final_loss").get<double>()).epsilon(1e-12));
}

TEST_CASE("a run that ends at its target, or by the time limit, leaves the parameters of its last evaluation") {
  const Case of = cases().front();
  for (const char* stop : {"loss = 0.8\nsteps = 500", "time = \"1ms\""}) {
    CAPTURE(stop);
    const Scratch scratch;
    scratch.write(of.file, of.text);
    scratch.write("x.toml", with(scenario(of), "steps = 12", stop));
    REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
    const Called predicted = program("predict out/x --data numbers.csv --out p.csv", scratch);
    REQUIRE(predicted.exit_code == 0);
    CHECK(number_after(predicted.out, "loss") ==
          Approx(results_in(scratch).at("runs").at(0).at("final_loss").get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("save_model without numbers is refused, and so are --tokens of rows and a directory without models") {
  const Scratch scratch;
  scratch.write("x.toml", "save_model = true\n" + with(small, "[training]\n", "[training]\nnumbers = false\n"));
  const Called called = program("run x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK_THAT(called.err, StartsWith("x.toml:1:1: save_model = true, but training.numbers = false"));

  const Scratch other;
  REQUIRE(trained(cases().front(), other).exit_code == 0);
  const Called tokens = program("predict out/x --data numbers.csv --out p.csv --tokens 3", other);
  CHECK(tokens.exit_code == 2);
  CHECK(contains(tokens.err, "least_squares predicts rows, expected a model of text"));
  other.write("y.toml", small);
  REQUIRE(program("run y.toml --quiet --no-why", other).exit_code == 0);
  const Called none = program("predict out/y --data numbers.csv --out p.csv", other);
  CHECK(none.exit_code == 5);
  CHECK(contains(none.err, "out/y: there are no models"));
}

}  // namespace saved_models_test
