// algorithm = "auto" from the command line: its notes against runs with each algorithm, after crashes and on meshes.
#include <map>
#include <set>

#include "catch.h"
#include "cli/scenario.h"

namespace auto_algorithm_test {

using namespace simgrad::tests;

namespace {

const std::vector<std::string> every{"recursive_doubling", "rabenseifner", "ring", "tree", "double_binary_tree"};

std::string scenario(int workers, std::int64_t features, const std::string& sections) {
  std::string text =
      "[cluster]\nworkers = " + std::to_string(workers) +
      "\nbandwidth = \"10Gbps\"\nlatency = \"50us\"\n[data]\nsamples = 64\nfeatures = " + std::to_string(features) +
      "\n[model]\nkind = \"least_squares\"\n[training]\nnumbers = false\n[stop]\nsteps = 4\n" + sections;
  for (const std::string& algorithm : every)
    text += "[[strategy]]\nkind = \"allreduce\"\nlabel = \"" + algorithm + "\"\nalgorithm = \"" + algorithm + "\"\n";
  return text + "[[strategy]]\nkind = \"allreduce\"\nlabel = \"auto\"\nalgorithm = \"auto\"\n";
}

/// The runs by their labels.
std::map<std::string, Json> runs_of(const Scratch& scratch, const std::string& text, const std::string& options = "") {
  scratch.write("x.toml", text);
  REQUIRE(program("run x.toml --quiet --no-why --no-baseline --force " + options, scratch).exit_code == 0);
  std::map<std::string, Json> runs;
  const Json results = results_in(scratch, "out/x");
  for (const Json& run : results["runs"]) runs[run["label"].get<std::string>()] = run;
  return runs;
}

double seconds(const Json& run) { return run["simulated_s"].get<double>(); }

/// The ends of the notes that begin so.
std::vector<std::string> notes(const Json& run, const std::string& begin) {
  std::vector<std::string> ends;
  for (const std::string note : run["notes"])
    if (note.starts_with(begin)) ends.push_back(note.substr(begin.size()));
  return ends;
}

/// The algorithm whose run takes the least time.
std::string fastest(const std::map<std::string, Json>& runs) {
  return *std::ranges::min_element(every, {}, [&](const std::string& label) { return seconds(runs.at(label)); });
}

}  // namespace

TEST_CASE("a note names the algorithm that auto chooses, and no other one makes the run shorter") {
  const Scratch scratch;
  const std::map<std::int64_t, std::string> lengths{{100, "800 B"}, {10'000, "80.0 kB"}, {1'000'000, "8.00 MB"}};
  std::set<std::string> chosen;
  for (const auto& [features, bytes] : lengths)
    for (const std::string options : {"", "--set cluster.collectives=messages"}) {
      CAPTURE(features, options);
      const auto runs = runs_of(scratch, scenario(8, features, ""), options);
      const std::string best = fastest(runs);
      chosen.insert(best);
      CHECK(seconds(runs.at("auto")) == seconds(runs.at(best)));
      CHECK(runs.at("auto")["bytes"] == runs.at(best)["bytes"]);
      const auto said = notes(runs.at("auto"), "algorithm = \"auto\": sums of " + bytes + " among 8 ranks use ");
      CHECK(said == std::vector{best});
      CHECK(runs.at("auto")["collectives"][0]["name"] == best);
      CHECK(notes(runs.at("ring"), "algorithm = \"auto\"").empty());
    }
  CHECK(chosen == std::set<std::string>{"recursive_doubling", "rabenseifner"});
}

TEST_CASE("in buckets and with micro-batches auto is one of its algorithms for each length") {
  const Scratch scratch;
  const std::string text =
      "[cluster]\nworkers = 4\nbandwidth = \"1Gbps\"\n[data]\nsource = \"house_prices\"\nsamples = 64\nfeatures = 6\n"
      "[model]\nkind = \"perceptron\"\nhidden = [4000, 8]\n[training]\nnumbers = false\n[stop]\nsteps = 2\n"
      "[[strategy]]\nkind = \"allreduce\"\nlabel = \"auto\"\nalgorithm = \"auto\"\nbucket_size = \"1kB\"\n"
      "micro_batches = 2\n";
  const auto computed = runs_of(scratch, text), messages = runs_of(scratch, text, "--set cluster.collectives=messages");
  CHECK(seconds(computed.at("auto")) == Approx(seconds(messages.at("auto"))).epsilon(1e-9));
  CHECK(computed.at("auto")["bytes"] == messages.at("auto")["bytes"]);
  CHECK_FALSE(notes(computed.at("auto"), "algorithm = \"auto\": sums of ").empty());
  CHECK(notes(computed.at("auto"), "algorithm = \"auto\"") == notes(messages.at("auto"), "algorithm = \"auto\""));
}

TEST_CASE("after a crash the ranks that are left choose anew") {
  const Scratch scratch;
  // Three ranks: 4 alpha + 4/3 M beta around a ring, 3 alpha + 3 M beta by recursive doubling. Two: one exchange.
  const std::string crash =
      "[cluster.failures]\nrecovery = \"shrink\"\ndetection = \"1ms\"\ncrash = [ { rank = 1, at = \"2ms\" } ]\n";
  const auto runs = runs_of(scratch, scenario(3, 100'000, crash));
  const std::string begin = "algorithm = \"auto\": sums of 800 kB among ";
  const std::vector<std::string> said = notes(runs.at("auto"), begin);
  REQUIRE(said.size() == 2);
  CHECK(said[0] == "3 ranks use ring");
  CHECK(said[1] == "2 ranks use recursive_doubling");
}

TEST_CASE("on a mesh auto chooses for the sum among replicas") {
  const Scratch scratch;
  std::string text = scenario(8, 6, "[parallel]\ntensor = 2\n");
  text.replace(text.find("samples = 64"), 12, "source = \"house_prices\"\nsamples = 64");
  text.replace(text.find("kind = \"least_squares\""), 22, "kind = \"perceptron\"\nhidden = [400, 8]");
  const auto runs = runs_of(scratch, text);
  const std::string best = fastest(runs);
  CHECK(seconds(runs.at("auto")) == Approx(seconds(runs.at(best))).epsilon(1e-9));
  const std::vector<std::string> said = notes(runs.at("auto"), "algorithm = \"auto\": sums of ");
  REQUIRE(said.size() == 1);
  CHECK(said[0].ends_with(" among 4 ranks use " + best));
}

TEST_CASE("auto stands beside codes that do not add up, hosts_first and other strategies, and is explained") {
  const Scratch scratch;
  for (const std::string strategy :
       {"kind = \"allreduce\"\ncompression = \"sign\"", "kind = \"local_sgd\"", "kind = \"diloco\"",
        "kind = \"block_sync\"", "kind = \"allreduce\"\nhosts_first = true\n"}) {
    CAPTURE(strategy);
    scratch.write("x.toml",
                  "[cluster]\nworkers = 4\ntopology = { kind = \"star\", devices = 2 }\n[data]\nsource = "
                  "\"house_prices\"\nsamples = 64\nfeatures = 6\n[model]\nkind = \"perceptron\"\nhidden = [8]\n"
                  "[stop]\nsteps = 4\n[[strategy]]\nalgorithm = \"auto\"\n" +
                      strategy + "\n");
    const auto run = program("run x.toml --quiet --no-why --no-baseline --force", scratch);
    CHECK(run.exit_code == 0);
  }
  const auto explained = program("explain auto", scratch);
  CHECK(explained.exit_code == 0);
  CHECK(explained.out.find("takes the least time on the idle cluster") != std::string::npos);
}

}  // namespace auto_algorithm_test
