// Runs whose collectives are computed from routes, and runs that must go message by message.
#include "catch.h"
#include "cli/scenario.h"

namespace collective_routes_test {

using namespace simgrad::tests;
namespace {

const std::string racks = std::string(SIMGRAD_SOURCE_DIR) + "/scenarios/oversubscribed_racks.toml";

Json runs(const Scratch& scratch, const std::string& out, const std::string& arguments) {
  REQUIRE(program("run " + racks + " --quiet --no-why --out " + out + " " + arguments, scratch).exit_code == 0);
  return results_in(scratch, out)["runs"];
}

bool notes_have(const Json& run, const std::string& text) {
  for (const std::string note : run["notes"])
    if (note.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a run whose groups may meet on a link goes message by message, and says so") {
  const Scratch scratch;
  const Json computed = runs(scratch, "auto", "");
  const Json messages = runs(scratch, "messages", "--set cluster.collectives=messages");
  REQUIRE(computed.size() == messages.size());
  int by_routes = 0, by_messages = 0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    CAPTURE(computed[i]["id"]);
    by_routes += notes_have(computed[i], "collectives were timed by formula") ? 1 : 0;
    by_messages += notes_have(computed[i], "several transfers may be on link rack-") ? 1 : 0;
    CHECK_FALSE(notes_have(messages[i], "collectives were"));
    CHECK(computed[i]["simulated_s"].get<double>() == Approx(messages[i]["simulated_s"].get<double>()).epsilon(1e-9));
    CHECK(computed[i]["bytes"] == messages[i]["bytes"]);
  }
  CHECK(by_routes == 3);    // the ring, at three oversubscriptions
  CHECK(by_messages == 3);  // hierarchical: a ring for each place in a rack, all of them through the racks' uplinks
}

TEST_CASE("a run says what NCCL chooses for each length, and when measured times are extrapolated") {
  const Scratch scratch;
  scratch.write("t.csv", "ranks,bytes,seconds\n4,8,1e-3\n4,16,2e-3\n");
  scratch.write("x.toml", R"([cluster]
workers = 16
topology = { kind = "gpu_hosts", devices = 8 }
bandwidth = "100Gbps"
[data]
samples = 64
features = 1000000
[model]
kind = "least_squares"
[training]
numbers = false
[stop]
steps = 1
[[strategy]]
kind = "allreduce"
algorithm = "nccl"
)");
  const auto run = [&](const std::string& options) {
    REQUIRE(program("run x.toml --quiet --no-why --no-baseline --force " + options, scratch).exit_code == 0);
    return results_in(scratch, "out/x")["runs"][0];
  };
  CHECK(notes_have(run(""), "nccl chose tree LL128 for vectors of 8.00 MB among 16 ranks"));
  const Json measured = run("--set cluster.workers=4 --set cluster.collectives.measured=t.csv");
  CHECK(notes_have(measured, "measured allreduce among 4 ranks: vectors beyond the largest one measured"));
  CHECK(measured["collectives"][0]["name"] == "measured allreduce");
  // Latency and bandwidth of the last two sizes: 1 ms for 8 bytes, on top of nothing.
  CHECK(measured["collectives"][0]["simulated_s"].get<double>() == Approx(1e-3 / 8 * 8e6).epsilon(1e-9));
}

TEST_CASE("a run of many ranks says what keeps its collectives from being computed") {
  const Scratch scratch;
  scratch.write("x.toml", R"([cluster]
workers = 64
[data]
samples = 64
features = 3
[model]
kind = "least_squares"
[training]
numbers = false
[stop]
steps = 1
[[strategy]]
kind = "allreduce"
algorithm = "rabenseifner"
)");
  const std::string said = "collectives were simulated message by message: with ";
  for (const auto& [options, reason] :
       {std::pair<std::string, std::string>{"cluster.network_model=tcp", "cluster.network_model"},
        {"cluster.jitter=log_normal", "cluster.jitter"},
        {"cluster.stragglers=markov", "cluster.stragglers"},
        {"cluster.link_bins=4", "cluster.link_bins"},
        {"strategy.0.algorithm=ring", ""},
        {"cluster.collectives=messages", ""},
        {"cluster.workers=63 --set cluster.jitter=log_normal", ""}}) {
    CAPTURE(options);
    REQUIRE(program("run x.toml --quiet --no-why --no-baseline --force --set " + options, scratch).exit_code == 0);
    const Json run = results_in(scratch, "out/x")["runs"][0];
    CHECK(notes_have(run, said) == !reason.empty());
    if (!reason.empty()) CHECK(notes_have(run, said + reason + " they cannot be computed from their routes"));
  }
}

namespace {

/// Two stages of two tensor ranks: hops have the hosts' links to themselves, or share them with sums.
std::string cut_perceptron(bool numbers) {
  return std::string(R"([cluster]
workers = 4
bandwidth = "1MBps"
latency = "1us"
[data]
source = "house_prices"
features = 6
samples = 40
[model]
kind = "perceptron"
hidden = [8, 8, 8]
[training]
batch_size = 4
numbers = )") +
         (numbers ? "true" : "false") + R"(
[stop]
steps = 3
[parallel]
tensor = 2
pipeline = 2
micro_batches = 4
schedule = "gpipe"
[[strategy]]
kind = "allreduce"
)";
}

Json run_of(const Scratch& scratch, const std::string& arguments) {
  REQUIRE(program("run cut.toml --quiet --no-why --no-baseline --force --out out " + arguments, scratch).exit_code ==
          0);
  return results_in(scratch, "out")["runs"][0];
}

/// By how much the run may be too short, as its note says; 0 without the note.
double percent_left_out(const Json& run) {
  for (const std::string note : run["notes"])
    if (const std::size_t at = note.find("the run may take up to "); at != std::string::npos)
      return std::stod(note.substr(note.find('(', at) + 1));
  return 0.0;
}

/// A transformer whose tensor or context ranks and stages share the hosts' links, in runs of times alone.
std::string cut_transformer(const std::string& parallel) {
  return R"([cluster]
workers = 8
bandwidth = "100Mbps"
[data]
source = "markov"
vocabulary = 16
samples = 64
[model]
kind = "transformer"
layers = 4
hidden = 32
heads = 4
sequence = 8
vocabulary = 16
tied = false
[training]
batch_size = 32
numbers = false
[stop]
steps = 2
[[strategy]]
kind = "allreduce"
[parallel]
)" + parallel;
}

}  // namespace

TEST_CASE("hops beside sums among tensor ranks go message by message where numbers are computed") {
  const Scratch scratch;
  scratch.write("cut.toml", cut_perceptron(true));
  const Json computed = run_of(scratch, ""), messages = run_of(scratch, "--set cluster.collectives=messages");
  CHECK(computed["simulated_s"].get<double>() == Approx(messages["simulated_s"].get<double>()).epsilon(1e-12));
  CHECK(computed["final_loss"] == messages["final_loss"]);
  CHECK(notes_have(computed, "several transfers may be on link nic-"));
}

TEST_CASE("a run of times alone takes as long as message by message where hops are beside sums") {
  const Scratch scratch;
  const std::string context = "context = 2\npipeline = 2\nmicro_batches = 4\n";
  for (const std::string& scenario :
       {cut_perceptron(false), cut_transformer("tensor = 2\npipeline = 4\nmicro_batches = 8\n"),
        cut_transformer(context), cut_transformer(context + "simulate = \"one_of_alike\"\n")}) {
    CAPTURE(scenario);
    scratch.write("cut.toml", scenario);
    const Json plain = run_of(scratch, ""), messages = run_of(scratch, "--set cluster.collectives=messages");
    CHECK(plain["simulated_s"].get<double>() == Approx(messages["simulated_s"].get<double>()).epsilon(1e-9));
    CHECK(percent_left_out(plain) == 0.0);
  }
}

TEST_CASE("a long run of times alone says how much it may be too short: what is missing, up to three times as much") {
  const Scratch scratch;
  for (const auto& [scenario, steps] :
       {std::pair(cut_perceptron(false), 2000), std::pair(cut_transformer("tensor = 2\npipeline = 4\n"), 400),
        std::pair(cut_transformer("context = 2\npipeline = 2\nmicro_batches = 4\n"), 400)}) {
    CAPTURE(scenario);
    scratch.write("cut.toml", scenario);
    const std::string of_steps = "--set stop.steps=";
    const Json computed = run_of(scratch, of_steps + std::to_string(steps));
    CHECK_FALSE(notes_have(computed, "message by message"));
    REQUIRE(percent_left_out(computed) > 0.0);
    const Json messages = run_of(scratch, of_steps + "4 --set cluster.collectives=messages");
    const double step_s = computed["simulated_s"].get<double>() / steps;
    const double missing_s = messages["simulated_s"].get<double>() / 4.0 - step_s;
    CHECK(percent_left_out(computed) / 100.0 * step_s >= missing_s);
    // Time that several ranks leave out at once makes the run longer once.
    CHECK(percent_left_out(computed) / 100.0 * step_s <= 3.0 * missing_s);
  }
}

TEST_CASE("a pipeline without tensor ranks has no sums beside its hops") {
  const Scratch scratch;
  scratch.write("cut.toml", cut_perceptron(false));
  const Json pipeline = run_of(scratch, "--set parallel.tensor=1 --set cluster.workers=2 --set stop.steps=2000");
  CHECK(percent_left_out(pipeline) == 0.0);
}

}  // namespace collective_routes_test
