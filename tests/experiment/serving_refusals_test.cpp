// Scenarios with [serving] that cannot be run: each is refused with its place and with what would do.
#include "experiment/refused.h"
#include "scratch.h"

namespace serving_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// Two replicas of a small transformer on hosts without a device.
std::string serving(const std::string& options = "", const std::string& sections = "", const std::string& cluster = "",
                    const std::string& requests = "requests = 20\nrate = 100\n") {
  return "schema = 1\n[cluster]\nworkers = 4\n" + cluster +
         "[data]\nsource = \"markov\"\nsamples = 100\n[model]\nkind = \"transformer\"\nhidden = 32\nsequence = 48\n" +
         sections + "[parallel]\ntensor = 2\n[serving]\n" + requests + "prompt_tokens = 12\noutput_tokens = 8\n" +
         options;
}

}  // namespace

TEST_CASE("a scenario that serves is one run a seed, without a baseline") {
  const Plan plan = planned(serving());
  REQUIRE(plan.runs.size() == 1);
  CHECK(plan.runs.front().kind == "serving");
  CHECK(plan.baselines.empty());
}

TEST_CASE("arrivals above the capacity are refused with it") {
  check_refused_text(serving("", "", "", "requests = 20\nrate = 1e6\n"),
                     "x.toml:15:1: 1e+06 requests/s arrive, but 2 replicas can answer");
  check_refused_text(serving("batch_size = 1\nmemory_bandwidth = \"1MBps\"\n"), "the queue would grow for ever");
}

TEST_CASE("a cache that does not fit is refused with its size") {
  check_refused_text(serving("", "", "memory = \"120kB\"\n"), "the cache does not fit: a rank of stage 0 needs");
}

TEST_CASE("answers need no memory for a training's gradients and activations") {
  // All 100 rows at once would keep some megabytes of activations.
  const Plan plan = planned(serving("", "", "memory = \"2MB\"\n"));
  CHECK(plan.runs.size() == 1);
}

TEST_CASE("requests are no longer than the model's sequence") {
  check_refused_text(
      serving("lengths = \"uniform\"\nbatch_size = 2\n", "", "", "requests = 20\nrate = 100\nwarm_up = \"1s\"\n"),
      "a warm-up of 1 s, but 20 requests at 100/s have arrived after 0.2 s");
  check_refused_text(serving("lengths = \"geometric\"\n"),
                     "a request may have 80 tokens, its answer included, but the model's sequence is 48");
}

TEST_CASE("requests need a number and a rate, or a trace") {
  check_refused_text(serving("", "", "", ""), "[serving] has no requests");
  check_refused_text(serving("", "", "", "requests = 5\n"), "requests need a rate of arrivals");
  check_refused_text(serving("arrivals = \"at_once\"\n"), "leave rate out");
}

TEST_CASE("options of trainings are refused") {
  check_refused_text(serving() + "[stop]\nsteps = 2\n", "[stop] is about trainings");
  check_refused_text(serving() + "[[strategy]]\nkind = \"allreduce\"\n", "[strategy] is about trainings");
  check_refused_text("save_model = true\n" + serving(),
                     "x.toml:1:1: save_model = true keeps the parameters of a training");
  check_refused_text(serving("", "[training]\nlearning_rate = 0.1\n"), "training.learning_rate is about trainings");
  check_refused_text(serving("", "[training]\nprecision = \"bfloat16\"\n"), "answers are computed in float64");
  check_refused_text(serving("", "", "collectives = \"messages\"\n"), "leave collectives out");
  check_refused_text(serving("", "", "failures = { hosts = { kind = \"exponential\", mtbf = \"1h\" } }\n"),
                     "whose hosts do not fail");
}

TEST_CASE("models that do not write, or cannot be cut so, are refused") {
  check_refused_text(
      "schema = 1\n[data]\nsource = \"house_prices\"\n[model]\nkind = \"least_squares\"\n[serving]\nrequests = 1\n"
      "arrivals = \"at_once\"\n",
      "least_squares does not write token after token");
  check_refused_text(serving("", "experts = 4\n"), "take a dense model");
  check_refused_text(serving("", "kv_heads = 1\n"), "kv_heads");
  check_refused_text(serving("allreduce = \"naive\"\n"), "take one that is a single schedule");
  check_refused_text(serving("allreduce = { kind = \"ring\", slices = 2, rings = 2 }\n"), "leave rings out");
  check_refused_text(serving("allreduce = { kind = \"double_binary_tree\", overlap = true }\n"), "leave overlap out");
  check_refused_text(serving("", "", "collectives.measured = \"t.csv\"\n"),
                     "computed from their links under [serving]");
  CHECK_NOTHROW(planned(serving("allreduce = { kind = \"ring\", slices = 2 }\n")));
  check_refused_text(serving("memory_bandwidth = \"1GBps\"\n",
                             "[training]\nnumbers = false\nprecision = \"bfloat16\"\n", "device = \"h100\"\n"),
                     "memory_bandwidth with a device");
}

TEST_CASE("a trace is refused at the line and column of its fault") {
  const tests::Scratch scratch;
  const auto refused = [&](const std::string& rows, const std::string& why) {
    scratch.write("t.csv", rows);
    CHECK_THROWS_WITH(planned("schema = 1\n[data]\nsource = \"markov\"\n[model]\nkind = \"transformer\"\n[serving]\n"
                              "trace = \"" +
                              scratch.path() + "/t.csv\"\n"),
                      ContainsSubstring(why));
  };
  const std::string header = "arrival_s,prompt_tokens,output_tokens\n";
  refused("a,b\n", "t.csv:1:1: expected the header");
  refused(header + "0,4\n", "t.csv:2:4: no output_tokens");
  refused(header + "0,4,2\n0.5,x,2\n", "t.csv:3:5: prompt_tokens = \"x\"; expected a number");
  refused(header + "1,4,2\n0.5,4,2\n", "t.csv:3:1: arrival_s = 0.5 is before that of the row above");
  refused(header, "t.csv:1:1: no request");
  refused(header + "0,40,40\n", "but the model's sequence is 64");
}

}  // namespace serving_refusals_test
