// Notes about what no real cluster has: devices that are always equally fast at scale, one server for many workers,
// products as fast as their peak. And about rows that are kept for testing in vain.
#include <algorithm>

#include "catch.h"
#include "experiment/checked_runs.h"

namespace ideal_conditions_test {

using namespace simgrad;
using namespace simgrad::experiment;
using namespace checked;

namespace {

/// How many notes of a scenario's only run have the words in them.
std::int64_t notes_with(const std::string& words, const std::string& text) {
  const std::vector<outputs::Run> runs = runs_of(text);
  REQUIRE(runs.size() == 1);
  return std::ranges::count_if(runs[0].record.notes,
                               [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

/// A timing-only scenario.  cluster: lines of its table, behind the number of workers; then whole tables.
std::string timed(int workers, const std::string& cluster, const std::string& strategy) {
  return "[cluster]\nworkers = " + std::to_string(workers) + "\n" + cluster +
         "[data]\nsamples = 4096\nfeatures = 3\n[model]\nkind = \"least_squares\"\n[training]\nnumbers = false\n"
         "batch_size = 4096\n[stop]\nsteps = 2\n[[strategy]]\n" +
         strategy;
}

}  // namespace

TEST_CASE("a run of more than 1,000 workers says so where nothing makes any of them slow") {
  const std::string words = "compute equally fast at all times";
  const std::string ring = "kind = \"allreduce\"\n";
  CHECK(notes_with(words, timed(1001, "", ring)) == 1);
  CHECK(notes_with(words, timed(1000, "", ring)) == 0);
  CHECK(notes_with(words, timed(1001, "stragglers = { kind = \"log_normal\", sigma = 0.1 }\n",
                                "kind = \"allreduce\"\nalgorithm = \"tree\"\n")) == 0);
  CHECK(notes_with("megascale", timed(1001, "", ring)) == 1);
  CHECK(notes_with(words, timed(1001, "stragglers = \"megascale\"\n", ring)) == 0);
}

TEST_CASE("one server of sixteen hosts is noted, once, and neither two servers nor fewer hosts are") {
  const std::string words = "one server exchanges the parameters";
  CHECK(notes_with(words, timed(16, "", "kind = \"parameter_server\"\n")) == 1);
  CHECK(notes_with(words, timed(16, "failures = { crash = [{ rank = 3, at = \"1us\", repair = \"1ms\" }] }\n",
                                "kind = \"parameter_server\"\n")) == 1);
  CHECK(notes_with(words, timed(16, "", "kind = \"parameter_server\"\nservers = 2\n")) == 0);
  CHECK(notes_with(words, timed(15, "", "kind = \"parameter_server\"\n")) == 0);
  const std::string devices = "topology = { kind = \"gpu_hosts\", devices = 8 }\n";
  CHECK(notes_with(words, timed(120, devices, "kind = \"parameter_server\"\n")) == 0);
  CHECK(notes_with("servers = 16 would give each host one", timed(128, devices, "kind = \"parameter_server\"\n")) == 1);
}

// A single device does nothing but products: its utilisation is its efficiency.
TEST_CASE("a model flops utilisation above the best published one is noted") {
  const auto noted = [](const std::string& efficiency) {
    return notes_with("is seldom reached",
                      "[cluster]\nworkers = 1\ndevice = { kind = \"a100_80gb\", efficiency = " + efficiency +
                          ", memory_bandwidth = \"1000TBps\" }\n[data]\nsamples = 64\n[model]\nkind = \"transformer\"\n"
                          "layers = 2\nhidden = 2048\nheads = 16\nsequence = 1024\nvocabulary = 1024\n[training]\n"
                          "numbers = false\nprecision = \"bfloat16\"\nbatch_size = 64\n[stop]\nsteps = 1\n"
                          "[[strategy]]\nkind = \"single\"\n");
  };
  CHECK(noted("0.9") == 1);
  CHECK(noted("0.5") == 0);
}

TEST_CASE("a run whose rows for testing are not used says so, and how they are") {
  const auto noted = [](const std::string& data, const std::string& rest) {
    return notes_with(
        "the rows that data.test_fraction = 0.25 keeps for testing are not used; set evaluate.on = \"test\"",
        "[cluster]\nworkers = 2\n[data]\nsource = \"house_prices\"\nsamples = 40\n" + data +
            "[model]\nkind = \"least_squares\"\n[stop]\nsteps = 2\n" + rest + "[[strategy]]\nkind = \"allreduce\"\n");
  };
  const std::string held_out = "test_fraction = 0.25\n";
  CHECK(noted(held_out, "") == 1);
  CHECK(noted(held_out, "[evaluate]\non = \"test\"\n") == 0);
  CHECK(noted(held_out, "[training]\nnumbers = false\n") == 0);  // no evaluation at all
  CHECK(noted("", "") == 0);
}

}  // namespace ideal_conditions_test
