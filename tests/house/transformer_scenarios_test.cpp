// A transformer on text, run as a user runs it: every strategy trains it, clipping, refusals.
#include <cmath>
#include <set>

#include "house/results.h"

namespace transformer_scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

const std::string tiny = R"(
[cluster]
workers = 4
[data]
source = "markov"
vocabulary = 6
samples = 64
[model]
kind = "transformer"
layers = 1
hidden = 8
heads = 2
sequence = 8
[training]
batch_size = 16
learning_rate = 0.5
)";
const std::string two_steps = "[stop]\nsteps = 2\n";
const std::string allreduce = "[[strategy]]\nkind = \"allreduce\"\n";

/// Calls a command on a scenario with that text.
Called called_with(const std::string& command, const std::string& text) {
  const Scratch scratch;
  return call("simgrad " + command + " '" + scratch.write("x.toml", text) + "' --quiet", scratch.path());
}

outputs::Results results_with(const std::string& text) {
  const Called called = called_with("run --json --no-baseline", text);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return outputs::results_from_json(outputs::parse_json(called.out));
}

std::string refusal_of(const std::string& text) {
  const Called called = called_with("run", text);
  CHECK(called.exit_code == 2);
  return called.err;
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const auto at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), with);
}

/// The kinds that `simgrad list strategies` names.
std::vector<std::string> strategy_kinds() {
  std::vector<std::string> kinds;
  for (const std::string& line : lines(call("simgrad list strategies", source_dir().string()).out))
    if (line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
      kinds.push_back(line.substr(2, line.find(' ', 2) - 2));
  return kinds;
}

}  // namespace

TEST_CASE("every strategy that is not bound to another model trains a transformer") {
  const std::set<std::string> bound{"multitask", "sparse_parameter_server"};
  const std::vector<std::string> kinds = strategy_kinds();
  REQUIRE(kinds.size() >= 15);
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    const std::string text = tiny + two_steps + "[[strategy]]\nkind = \"" + kind + "\"\n";
    if (bound.contains(kind)) {
      CHECK_THAT(refusal_of(text), ContainsSubstring("x.toml:"));
      continue;
    }
    const outputs::Results results = results_with(text);
    REQUIRE(results.runs.size() == 1);
    const record::Record& record = results.runs.front().record;
    CHECK(record.steps >= 2);
    REQUIRE(record.final_loss);
    // ln 6 at first; two steps leave it near.
    CHECK(*record.final_loss > 0.5);
    CHECK(*record.final_loss < 2.0);
    CHECK(*record.final_loss != record.curve.front().loss);
  }
}

TEST_CASE("a run on a Markov source notes the loss that no model is below, and a transformer comes near it") {
  const std::string text =
      replaced(tiny, "learning_rate = 0.5", "learning_rate = 0.01\noptimizer = \"adamw\"\nclip_norm = 1.0") +
      "[stop]\nsteps = 300\n[evaluate]\nevery_steps = 300\n" + allreduce;
  const outputs::Results results = results_with(text);
  const record::Record& record = results.runs.front().record;
  REQUIRE_FALSE(record.notes.empty());
  const std::string& note = record.notes.front();
  const std::string begin = "no model's expected loss is below ";
  REQUIRE(note.starts_with(begin));
  const double floor = std::stod(note.substr(begin.size()));
  CHECK(floor > 0.3);
  CHECK(floor < std::log(6.0));
  // 64 sequences of 8 tokens: 900 parameters learn some of them by heart, so that their loss may be below.
  CHECK(*record.final_loss > floor - 0.4);
  CHECK(*record.final_loss < floor + 0.2);
}

TEST_CASE("transformer: the floor that the scenario expects is the entropy that its runs note") {
  const auto results = results_of("transformer.toml", " --strategy diloco --no-baseline --set stop.time=20ms");
  const std::string note = results->runs.front().record.notes.front(), words = "no model's expected loss is below ";
  REQUIRE(note.starts_with(words));
  CHECK(text_of("scenarios/transformer.toml").find("at_least = " + note.substr(words.size(), 7) + "\n") !=
        std::string::npos);
}

TEST_CASE("an update with clip_norm moves by the learning rate times the norm, and is charged 3 flops a number") {
  // One worker, one step of sgd with a clip far below the gradient's norm: the loss moves less than without.
  const std::string one = replaced(tiny, "workers = 4", "workers = 1\nspeed = \"1GF\"") + "[stop]\nsteps = 1\n";
  const std::string clipped = replaced(one, "learning_rate = 0.5", "learning_rate = 0.5\nclip_norm = 1e-9");
  const record::Record free = results_with(one + allreduce).runs.front().record;
  const record::Record bound = results_with(clipped + allreduce).runs.front().record;
  CHECK(std::abs(*bound.final_loss - bound.curve.front().loss.value()) < 1e-8);
  CHECK(std::abs(*free.final_loss - free.curve.front().loss.value()) > 1e-4);
  // Parameters: 6 x 8 + 8 x 8; 24 x 8 + 24 + 16; 8 x 8 + 8; 32 x 8 + 32 + 16; 8 x 32 + 8; 16.
  const double parameters = 112 + 232 + 72 + 304 + 264 + 16;
  CHECK(bound.simulated_s - free.simulated_s == Approx(3.0 * parameters / 1e9).epsilon(1e-9));
}

TEST_CASE("clip_norm is refused where no rank has all of a gradient") {
  const std::string text = replaced(tiny, "learning_rate = 0.5", "learning_rate = 0.5\nclip_norm = 1.0") + two_steps;
  CHECK_THAT(refusal_of(text + "[[strategy]]\nkind = \"parameter_server\"\nservers = 2\n"),
             ContainsSubstring("training.clip_norm") && ContainsSubstring("servers = 1"));
  CHECK_THAT(refusal_of(text + "[[strategy]]\nkind = \"mapreduce\"\nreducers = 2\n"),
             ContainsSubstring("training.clip_norm"));
  CHECK(called_with("run", text + "[[strategy]]\nkind = \"parameter_server\"\n").exit_code == 0);
}

TEST_CASE("a text file trains a transformer, and what does not fit together is refused with its place") {
  const Scratch scratch;
  std::string file = "It was the best of times, it was the worst of times, it was the age of wisdom, ";
  file += file + file + file;
  const std::string path = scratch.write("t.txt", file);
  const std::string of_file = replaced(tiny, "source = \"markov\"\nvocabulary = 6\nsamples = 64",
                                       "source = \"text\"\ntokens = \"characters\"\npath = \"" + path + "\"");
  const outputs::Results results = results_with(of_file + two_steps + allreduce);
  CHECK(results.runs.front().record.final_loss.value() > 1.0);
  CHECK_THAT(refusal_of(replaced(of_file, "sequence = 8", "sequence = 1000") + two_steps + allreduce),
             ContainsSubstring("t.txt:1:") && ContainsSubstring("a row takes 1001"));
  CHECK_THAT(refusal_of(replaced(of_file, "hidden = 8", "hidden = 8\nvocabulary = 3") + two_steps + allreduce),
             ContainsSubstring("x.toml:") && ContainsSubstring("vocabulary = 3, but the text has"));
  CHECK_THAT(refusal_of(replaced(tiny, "samples = 64", "samples = 64\nfeatures = 9") + two_steps + allreduce),
             ContainsSubstring("features = 9, but the tokens of a row"));
  CHECK_THAT(refusal_of(replaced(tiny, "source = \"markov\"\nvocabulary = 6", "source = \"house_prices\"") + two_steps +
                        allreduce),
             ContainsSubstring("predicts tokens of a text"));
  const std::string other = "[cluster]\nworkers = 2\n[model]\nkind = \"least_squares\"\n" + two_steps + allreduce;
  CHECK_THAT(refusal_of(other + "[data]\nsource = \"markov\"\n"), ContainsSubstring("makes sequences of tokens"));
  CHECK_THAT(refusal_of(other + "[data]\nsource = \"text\"\npath = \"" + path + "\"\n"),
             ContainsSubstring("[model] kind = \"transformer\""));
  CHECK_THAT(refusal_of(replaced(tiny, "heads = 2", "heads = 3") + two_steps + allreduce),
             ContainsSubstring("heads = 3"));
  CHECK_THAT(refusal_of(replaced(tiny, "batch_size = 16", "batch_size = 16\npartition = \"by_label\"") + two_steps +
                        allreduce),
             ContainsSubstring("the data are a text"));
}

}  // namespace transformer_scenarios_test
