// Answers of a trained model under [serving]: those of `simgrad predict`, however the model is cut.
#include <set>

#include "catch.h"
#include "cli/scenario.h"
#include "run_files.h"

namespace served_model_test {

using namespace simgrad::tests;

namespace {

const std::string shape = "kind = \"transformer\"\nlayers = 2\nhidden = 16\nheads = 2\nsequence = 15\n";
std::string data(const std::string& file) {
  return "[data]\nsource = \"text\"\npath = \"" + file + "\"\ntokens = \"characters\"\n";
}
constexpr int prompt = 5, answer = 9;

/// A text of eight characters, of period 8, which a small transformer learns.
std::string text() {
  std::string all;
  for (int i = 0; i < 60; ++i) all += "abcdefg ";
  return all;
}

/// The path of the first run's model, in the scratch directory.
std::string model_in(const Scratch& scratch, const std::string& out) {
  const std::string id = results_in(scratch, out).at("runs").at(0).at("id");
  const std::string file = file_of_run(scratch.path() + "/" + out + "/models", id, ".model");
  return std::filesystem::relative(file, scratch.path());
}

/// Trains, and returns the path of the model.
std::string trained(const Scratch& scratch, const std::string& model = "[model]\n" + shape) {
  scratch.write("text.txt", text());
  scratch.write("train.toml", "save_model = true\n[cluster]\nworkers = 2\nspeed = \"1GF\"\n" + data("text.txt") +
                                  model +
                                  "[training]\nbatch_size = 8\noptimizer = \"adam\"\nlearning_rate = 0.02\n"
                                  "[stop]\nsteps = 80\n[[strategy]]\nkind = \"allreduce\"\n");
  const Called run = program("run train.toml --quiet --no-why", scratch);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return model_in(scratch, "out/train");
}

std::string serving(const std::string& model, const std::string& section = "[model]\n" + shape) {
  return "[cluster]\nworkers = 4\nspeed = \"1GF\"\n" + data("prompts.txt") + section +
         "[parallel]\ntensor = 2\n[serving]\n" + model +
         "requests = 6\nrate = 20\nprompt_tokens = 5\noutput_tokens = 9\n";
}

/// The six answers.
std::set<std::string> answers(const Scratch& scratch, const std::string& options = "") {
  const Called called = program("run x.toml --force --quiet --no-why " + options, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/out/x/requests.csv"));
  REQUIRE(lines.size() == 7);
  std::set<std::string> all;
  for (std::size_t i = 1; i < lines.size(); ++i) all.insert(lines[i].substr(lines[i].rfind(',') + 1));
  return all;
}

/// The continuation of a text.
std::string continuation(const Scratch& scratch, const std::string& model, const std::string& begin) {
  scratch.write("begin.txt", begin);
  const Called called =
      program("predict " + model + " --data begin.txt --out p.csv --tokens " + std::to_string(answer), scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  std::string text;
  for (const std::string& line : lines_of(contents(scratch.path() + "/p.csv")))
    if (!line.starts_with("position")) {
      const std::size_t token = line.find(',') + 1, first = line.find(',', token) + 1;
      text += line.substr(first, line.find(',', first) - first);
    }
  return text;
}

}  // namespace

TEST_CASE("a kept model's answers are those of predict, split or not, and not those of the initial parameters") {
  const Scratch scratch;
  const std::string model = trained(scratch), key = "model = \"" + model + "\"\n";
  for (const std::string begin : {"cdefg abcdefg a", " abcdefg abcdef"}) {
    INFO(begin);
    scratch.write("prompts.txt", begin + begin + begin + begin + "c");  // equal rows, which begin with the prompt
    scratch.write("x.toml", serving(key));
    const std::string expected = continuation(scratch, model, begin.substr(0, prompt));
    CHECK(answers(scratch) == std::set{expected});
    CHECK(answers(scratch, "--set parallel.tensor=1 --set cluster.workers=1") == std::set{expected});
    CHECK(answers(scratch, "--set parallel.pipeline=2 --set serving.prefill_chunk=2") == std::set{expected});
    scratch.write("x.toml", serving(""));
    CHECK_FALSE(answers(scratch).contains(expected));
  }
}

TEST_CASE("prompts are the rows of the text in the file's order, whatever the seed, and answers are readable") {
  const Scratch scratch;
  const std::string model = trained(scratch), key = "model = \"" + model + "\"\n";
  // Each row of 15 characters and one more begins with another prompt of five.
  const std::vector<std::string> begins{"abcde", "cdefg", "efg a", "g abc"};
  std::string rows;
  for (const std::string& begin : begins) rows += begin + "fg abcdefg";
  scratch.write("prompts.txt", rows + "a");
  scratch.write("x.toml", serving(key));
  std::vector<std::string> expected;
  for (const std::string& begin : begins) expected.push_back(continuation(scratch, model, begin));
  REQUIRE(std::set(expected.begin(), expected.end()).size() > 1);
  for (const char* seed : {"1", "2"}) {
    INFO(seed);
    const Called called = program(std::string("run x.toml --force --quiet --no-why --seeds ") + seed, scratch);
    REQUIRE(called.exit_code == 0);
    const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/out/x/requests.csv"));
    REQUIRE(lines.size() == 7);
    for (std::size_t i = 1; i < lines.size(); ++i)  // the four rows, and the first two of them again
      CHECK(lines[i].substr(lines[i].rfind(',') + 1) == expected[(i - 1) % begins.size()]);
  }
}

TEST_CASE("a run that serves a kept model is known by the bytes of the file, and not by its name") {
  const Scratch scratch;
  const std::string model = trained(scratch);
  scratch.write("prompts.txt", text());
  scratch.write("copy.model", contents(scratch.path() + "/" + model));
  const auto id = [&](const std::string& key) {
    scratch.write("x.toml", serving(key));
    answers(scratch);
    return results_in(scratch).at("runs").at(0).at("id").get<std::string>();
  };
  const std::string first = id("model = \"" + model + "\"\n");
  CHECK(id("model = \"copy.model\"\n") == first);
  CHECK(id("") != first);
  REQUIRE(program("run train.toml --quiet --no-why --set stop.steps=40 --out out/other", scratch).exit_code == 0);
  CHECK(id("model = \"" + model_in(scratch, "out/other") + "\"\n") != first);
}

TEST_CASE("a resolved scenario with a kept model resolves to itself") {
  const Scratch scratch;
  scratch.write("prompts.txt", text());
  scratch.write("x.toml", serving("model = \"" + trained(scratch) + "\"\n"));
  const Called first = program("validate x.toml --resolved", scratch);
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(contains(first.out, ".model\""));
  scratch.write("x.toml", first.out);
  CHECK(program("validate x.toml --resolved", scratch).out == first.out);
}

TEST_CASE("a model that does not fit is refused with its place") {
  const Scratch scratch;
  const std::string model = trained(scratch), key = "model = \"" + model + "\"\n";
  scratch.write("prompts.txt", text());
  const auto refused = [&](const std::string& scenario, int code, const std::string& text) {
    scratch.write("x.toml", scenario);
    const Called called = program("run x.toml --quiet --no-why", scratch);
    INFO(called.err);
    CHECK(called.exit_code == code);
    CHECK(contains(called.err, text));
  };
  refused(serving(key, "[model]\n" + with(shape, "hidden = 16", "hidden = 32")), 2,
          "has hidden = 16, but [model] has 32");
  refused(serving(key, "[model]\n" + shape + "norm = \"rms_norm\"\n"), 2, "x.toml:18:1: ");
  refused(serving(key, "[model]\n" + shape + "vocabulary = 10\n"), 2, "has vocabulary = 8, but [model] has 10");
  refused(serving("model = \"none.model\"\n"), 5, "none.model: cannot be opened");
  refused(serving("model = \"text.txt\"\n"), 2, "text.txt:1:1: is no model");
  refused(serving(key, "[model]\n" + shape + "[training]\nnumbers = false\n"), 2,
          "serving.model with training.numbers = false");
  refused(with(serving(key), "tokens = \"characters\"", "tokens = \"bytes\""), 1, "was trained on 8 characters");
  // One head, which two ranks cannot share.
  const Scratch one;
  const std::string one_head = "[model]\n" + with(shape, "heads = 2", "heads = 1");
  scratch.write("one.model", contents(one.path() + "/" + trained(one, one_head)));
  refused(serving("model = \"one.model\"\n", one_head), 2,
          "one.model cannot be cut in this way: heads = 1 do not divide among tensor = 2 ranks");
  const Scratch other;
  other.write("house.toml", "save_model = true\n" + small);
  REQUIRE(program("run house.toml --quiet --no-why", other).exit_code == 0);
  scratch.write("house.model", contents(other.path() + "/" + model_in(other, "out/house")));
  refused(serving("model = \"house.model\"\n"), 2, "has a least_squares; expected a transformer");
}

}  // namespace served_model_test
