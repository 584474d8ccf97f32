// A scenario with [serving] as a user runs it: answers, tables, files, and the same bytes however it is run.
#include <fmt/format.h>

#include <map>
#include <set>

#include "catch.h"
#include "cli/scenario.h"

namespace serving_test {

using namespace simgrad::tests;

namespace {

const std::string small = R"(schema = 1
title = "answers"
[cluster]
workers = 4
[data]
source = "markov"
samples = 60
[model]
kind = "transformer"
layers = 4
hidden = 32
sequence = 48
tied = false
[parallel]
tensor = 2
[prices]
worker = "2$/h"
[serving]
requests = 12
rate = 500
prompt_tokens = 12
output_tokens = 8
)";

/// The answers of a run, by the number of the request.
std::map<std::string, std::string> answers(const Scratch& scratch, const std::string& options) {
  const Called called = program("run x.toml --force " + options, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  std::map<std::string, std::string> all;
  for (const std::string& line : lines_of(contents(scratch.path() + "/out/x/requests.csv"))) {
    const std::size_t number = line.find(',') + 1, answer = line.rfind(',') + 1;
    all[line.substr(number, line.find(',', number) - number)] = line.substr(answer);
  }
  return all;
}

/// A number of the only run.
double number(const Scratch& scratch, const std::string& name) {
  const std::string text = contents(scratch.path() + "/out/x/results.json"), before = "\"" + name + "\":";
  const std::size_t at = text.find(before);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + before.size()));
}

}  // namespace

TEST_CASE("requests.csv has prompts, which are the beginnings of the rows of a file in their order") {
  const Scratch scratch;
  scratch.write("words.txt", "abcdefghijkl,nop\"rstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
  std::string scenario = with(small, "source = \"markov\"\nsamples = 60", "source = \"text\"\npath = \"words.txt\"");
  scenario = with(scenario, "sequence = 48", "sequence = 13");
  scenario = with(scenario, "requests = 12", "requests = 3");
  scenario = with(scenario, "prompt_tokens = 12\noutput_tokens = 8", "prompt_tokens = 4\noutput_tokens = 2");
  scratch.write("x.toml", scenario);
  const Called called = program("run x.toml", scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  const std::string table = contents(scratch.path() + "/out/x/requests.csv");
  INFO(table);
  CHECK(contains(table, "prompt,answer\n"));
  CHECK(contains(table, ",abcd,"));
  CHECK(contains(table, ",\"nop\"\"\","));
  CHECK(contains(table, ", ABC,"));
}

TEST_CASE("answers are equal however the model is cut, and differ between prompts") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto by_tensor = answers(scratch, "");
  CHECK(by_tensor.size() == 13);  // and the header
  std::set<std::string> different;
  for (const auto& [number, answer] : by_tensor) different.insert(answer);
  CHECK(different.size() > 4);
  CHECK(answers(scratch, "--set parallel.tensor=1 --set serving.batch_size=1 --set cluster.workers=1") == by_tensor);
  CHECK(answers(scratch, "--set parallel.tensor=1 --set parallel.pipeline=4") == by_tensor);
  CHECK(answers(scratch, "--set parallel.pipeline=2 --set serving.prefill_chunk=5") == by_tensor);
}

TEST_CASE("runs that serve are equal to the byte over threads and jobs") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto files = [&](const std::string& options) {
    REQUIRE(program("run x.toml --seeds 1..3 --force " + options, scratch).exit_code == 0);
    return contents(scratch.path() + "/out/x/requests.csv") + contents(scratch.path() + "/out/x/ranks.csv");
  };
  const std::string alone = files("--threads 0 --jobs 1");
  CHECK(files("--threads 2 --jobs 1") == alone);
  CHECK(files("--threads 0 --jobs 2") == alone);
}

TEST_CASE("a resolved scenario that serves is valid, and resolves to itself") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called first = program("validate x.toml --resolved", scratch);
  REQUIRE(first.exit_code == 0);
  scratch.write("x.toml", first.out);
  CHECK(program("validate x.toml --resolved", scratch).out == first.out);
}

TEST_CASE("the table of a run that serves has its columns, in either language") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string english = program("run x.toml", scratch).out;
  for (const char* text : {"first token", "each token", "99 %", "Shortest median time to the first token: serving"})
    CHECK(contains(english, text));
  CHECK(contains(program("run x.toml --force --language zh", scratch).out, "首个词元的中位时间最短"));
}

TEST_CASE("arrivals above the capacity end with 2 before anything runs, and those below run") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto called = [&](const std::string& command, double rate, const char* options) {
    return program(fmt::format("{} x.toml --set serving.rate={} {}", command, rate, options), scratch);
  };
  for (const char* options : {"", "--set parallel.pipeline=2", "--set cluster.latency=1ms"}) {
    const Called far = called("run", 1e7, options);
    CHECK(far.exit_code == 2);
    const std::string before = " can answer ";
    REQUIRE(contains(far.err, before));
    const double capacity = std::stod(far.err.substr(far.err.find(before) + before.size()));
    INFO(options << ": " << capacity);
    for (const char* command : {"run --force", "validate"}) {
      CHECK(called(command, 1.0001 * capacity, options).exit_code == 2);
      CHECK(called(command, 0.9999 * capacity, options).exit_code == 0);
    }
    CHECK(number(scratch, "capacity_requests_per_s") == Approx(capacity).epsilon(1e-5));
  }
}

TEST_CASE("a million tokens cost the price of a second over the tokens of a second") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml", scratch).exit_code == 0);
  CHECK(number(scratch, "dollars_per_million_tokens") ==
        Approx(4.0 * 2.0 / 3600.0 / number(scratch, "output_tokens_per_s") * 1e6).epsilon(1e-9));
}

TEST_CASE("a run that serves says that its vocabulary is padded") {
  const Scratch scratch;
  scratch.write("x.toml", R"([cluster]
workers = 3
[model]
kind = "transformer"
layers = 2
hidden = 48
heads = 3
sequence = 48
vocabulary = 1001
[training]
numbers = false
[parallel]
tensor = 3
[serving]
requests = 2
rate = 50
prompt_tokens = 12
output_tokens = 8
)");
  // The next multiple of 128 x 3, as Megatron-LM pads it.
  const std::string note = "the vocabulary of 1001 tokens is padded to 1152, so that each of tensor = 3 ranks has 384";
  const auto results = [&](const std::string& options) {
    REQUIRE(program("run x.toml --force " + options, scratch).exit_code == 0);
    return contents(scratch.path() + "/out/x/results.json");
  };
  CHECK(contains(results(""), note));
  CHECK_FALSE(contains(results("--set model.vocabulary=1152"), "is padded to"));
}

}  // namespace serving_test
