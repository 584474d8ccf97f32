// Counterfactual runs: what a change is said to bring is what the changed scenario brings when a user runs it.
#include <algorithm>
#include <random>

#include "catch.h"
#include "experiment/run/runner.h"
#include "experiment/scenario.h"
#include "share.h"

namespace counterfactuals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// Draws scenarios in which any part of a cluster may bind.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  std::string scenario() {
    workers_ = number(2, 6);
    std::string text = "title = \"drawn\"\n[cluster]\nworkers = " + std::to_string(workers_) + "\n";
    text += "speed = \"" + one_of({"1MF", "100MF", "10GF"}) + "\"\n";
    text += "bandwidth = \"" + one_of({"1Mbps", "100Mbps", "10Gbps"}) + "\"\n";
    text += "latency = \"" + one_of({"0s", "1us", "100us", "10ms"}) + "\"\n";
    text += one_of({"", "", "topology = \"ring\"\n", "topology = \"two_tier\"\n", "topology = \"shared_memory\"\n",
                    "topology = { kind = \"dragonfly\", global_bandwidth = \"2Mbps\" }\n"});
    text += one_of({"", "relative_speeds = [0.25]\n", "stragglers = { kind = \"log_normal\", sigma = 1.0 }\n",
                    "stragglers = { kind = \"constant\", slowdown = 3.0, ranks = [0] }\n",
                    "storage_bandwidth = \"1Mbps\"\n", "flow_limit = \"1Mbps\"\n"});
    text += one_of({"", "", "",
                    "[cluster.failures]\nrecovery = \"wait\"\ndetection = \"1ms\"\n"
                    "crash = [{ rank = 0, at = \"2ms\", repair = \"20ms\" }]\n"});
    text += "[data]\nsamples = 64\nfeatures = " + std::to_string(number(1, 200)) + "\n";
    text += "[model]\nkind = \"least_squares\"\n[stop]\nsteps = " + std::to_string(number(3, 30)) + "\n";
    text += one_of({"", "", "time = \"9.1ms\"\n"});
    text += "[training]\nlearning_rate = 1e-3\n";
    text += one_of({"", "", "batch_size = 16\n", "checkpoint_every_steps = 2\n",
                    "input = { from = \"local\", bandwidth = \"1MBps\" }\n",
                    "input = { from = \"shared\", bandwidth = \"100kBps\", prefetch = 0 }\n"});
    return text + strategy();
  }

 private:
  std::string strategy() {
    return "[[strategy]]\n" + one_of({"kind = \"allreduce\"\n", "kind = \"allreduce\"\nalgorithm = \"tree\"\n",
                                      "kind = \"parameter_server\"\n", "kind = \"parameter_server\"\nservers = 2\n",
                                      "kind = \"parameter_server\"\nconsistency = \"asp\"\n", "kind = \"gossip\"\n",
                                      "kind = \"local_sgd\"\n", "kind = \"mapreduce\"\n",
                                      "kind = \"mapreduce\"\nstorage = { kind = \"disk\", bandwidth = \"100kBps\" }\n",
                                      "kind = \"easgd\"\n"});
  }
  int number(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  std::string one_of(const std::vector<std::string>& texts) { return texts[random_() % texts.size()]; }

  std::mt19937 random_;
  int workers_ = 2;
};

outputs::Results results_of(const std::string& text, std::vector<std::string> sets, bool counterfactuals,
                            int jobs = 2) {
  const tests::Scratch scratch;
  Selection selection;
  selection.sets = std::move(sets);
  selection.baselines = false;
  return run_plan(
      planned(text, selection),
      {.out = scratch.path(), .jobs = jobs, .threads = 0, .counterfactuals = counterfactuals, .progress = {}});
}

double samples_per_s(std::int64_t samples, double simulated_s) { return static_cast<double>(samples) / simulated_s; }

/// The run of a user who lays the changes over the scenario.
record::Record repeated(const std::string& text, std::vector<std::string> sets, std::int64_t steps) {
  sets.push_back("stop.steps=" + std::to_string(steps));
  const outputs::Results results = results_of(text, std::move(sets), false);
  REQUIRE(results.runs.size() == 1);
  return results.runs.front().record;
}

void check_change(const std::string& text, const outputs::Counterfactual& found, const outputs::Change& change) {
  CAPTURE(change.name, change.sets);
  const record::Record record = repeated(text, change.sets, found.steps);
  CHECK(record.simulated_s == Approx(change.simulated_s).epsilon(1e-12));
  CHECK(record.samples_seen.value_or(record.samples) == change.samples);
  CHECK(change.gain ==
        Approx(samples_per_s(change.samples, change.simulated_s) / samples_per_s(found.samples, found.simulated_s))
            .epsilon(1e-12));
}

/// The change with which a user's run processes most samples per second; of equal ones the first.
std::string fastest_when_repeated(const std::string& text, const outputs::Counterfactual& found) {
  std::string best;
  double most = 0.0;
  for (const outputs::Change& change : found.changes) {
    const record::Record record = repeated(text, change.sets, found.steps);
    const double rate = samples_per_s(record.samples_seen.value_or(record.samples), record.simulated_s);
    if (rate > most * (1.0 + 1e-12)) most = rate, best = change.name;
  }
  return best;
}

const outputs::Change& change_of(const outputs::Results& results, const std::string& name) {
  REQUIRE(results.counterfactuals.size() == 1);
  const auto& changes = results.counterfactuals.front().changes;
  const auto found = std::ranges::find(changes, name, &outputs::Change::name);
  REQUIRE(found != changes.end());
  return *found;
}

std::string allreduce_of_one_step(const std::string& cluster) {
  return "[cluster]\nworkers = 2\ncharge_reductions = false\n" + cluster +
         "\n[data]\nsamples = 100\nfeatures = 1000\n[model]\nkind = \"least_squares\"\nbias = false\n[stop]\nsteps = "
         "10\n[[strategy]]\nkind = \"allreduce\"\nalgorithm = \"ring\"\n";
}

}  // namespace

TEST_CASE("in 200 drawn scenarios each change brings a user what it is said to bring, and the largest binds") {
  int explained = 0, bound = 0;
  tests::Share share(7);  // each share has seeds of all remainders by 4, below
  for (unsigned seed = 0; seed < 200; ++seed) {
    if (!share.next()) continue;
    const std::string text = Draw(seed).scenario();
    CAPTURE(seed, text);
    const outputs::Results results = results_of(text, {}, true);
    REQUIRE(results.runs.size() == 1);
    for (const outputs::Counterfactual& found : results.counterfactuals) {
      ++explained;
      REQUIRE_FALSE(found.changes.empty());
      CHECK(found.id == results.runs.front().id);
      check_change(text, found, found.changes.front());
      check_change(text, found, found.changes[seed % found.changes.size()]);
      const record::Record unchanged = repeated(text, {}, found.steps);
      CHECK(unchanged.simulated_s == Approx(found.simulated_s).epsilon(1e-12));
      CHECK(unchanged.samples_seen.value_or(unchanged.samples) == found.samples);
      const outputs::Change* binds = outputs::binding(found);
      if (binds && seed % 4 == 0) CHECK(binds->name == fastest_when_repeated(text, found));
      bound += binds != nullptr;
    }
  }
  CHECK(explained >= (share.whole() ? 120 : 10));  // a run without a whole step has nothing to explain
  CHECK(bound >= (share.whole() ? 90 : 5));
}

TEST_CASE("where a message is bytes alone, twice the bandwidth halves the communication") {
  // A gradient of 100 rows x 1000 features at 4 flops a number: 2e5 flops a worker, 20 ms at 10 MF. The ring of two
  // sends 2 x 500 numbers of 8 bytes: 8 ms at 1 MB/s. (20 + 8) / (20 + 4).
  const std::string text = allreduce_of_one_step("speed = \"10MF\"\nbandwidth = \"1MBps\"\nlatency = \"0s\"");
  const outputs::Results results = results_of(text, {}, true);
  const double base_s = results.runs.front().record.simulated_s / 10;
  CHECK(change_of(results, "bandwidth").gain == Approx(base_s / (base_s - 4e-3)).epsilon(1e-9));
  CHECK(change_of(results, "worker_speed").gain == Approx(base_s / (base_s - (base_s - 8e-3) / 2)).epsilon(1e-9));
}

TEST_CASE("the slow server binds, not the latency of the messages to it") {
  const std::string text =
      "[cluster]\nworkers = 8\nspeed = \"1GF\"\n[[cluster.hosts]]\nclass = \"slow\"\nrole = \"server\"\nspeed = "
      "\"1MF\"\n[data]\nsamples = 80\nfeatures = 1000\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = "
      "10\n[[strategy]]\nkind = \"parameter_server\"\n";
  const outputs::Results results = results_of(text, {}, true);
  REQUIRE(results.counterfactuals.size() == 1);
  const outputs::Change* binds = outputs::binding(results.counterfactuals.front());
  REQUIRE(binds);
  CHECK(binds->name == "server_speed");
  CHECK(binds->gain > 1.8);
}

TEST_CASE("a cut model is tried with more micro-batches, zb_h1, tensor innermost, and without recomputation") {
  const std::string text =
      "[cluster]\nworkers = 8\nspeed = \"1GF\"\nbandwidth = \"100Mbps\"\ntopology = \"two_tier\"\n"
      "[data]\nsamples = 64\n[model]\nkind = \"transformer\"\nvocabulary = 16\nlayers = 4\n"
      "hidden = 32\nheads = 4\nsequence = 16\n[training]\nbatch_size = 32\nnumbers = false\nrecompute = "
      "\"full\"\n[parallel]\n"
      "tensor = 2\npipeline = 2\nmicro_batches = 2\norder = [\"data\", \"pipeline\", \"tensor\"]\n[stop]\nsteps = "
      "8\n[[strategy]]\nkind = \"allreduce\"\n";
  const outputs::Results results = results_of(text, {}, true);
  for (const char* name : {"micro_batches", "schedule", "tensor_place", "recompute"})
    check_change(text, results.counterfactuals.at(0), change_of(results, name));
  CHECK(change_of(results, "micro_batches").sets == std::vector<std::string>{"parallel.micro_batches=4"});
  CHECK(change_of(results, "tensor_place").sets ==
        std::vector<std::string>{"parallel.order=[\"tensor\",\"data\",\"pipeline\"]"});
  CHECK(change_of(results, "recompute").gain > 1.0);
  const auto& run = results.runs.front();
  REQUIRE(run.parallel);
  CHECK(run.parallel->at("data") == 2);
  CHECK(run.parallel->at("micro_batches") == 2);
  // Changes that are made already are not tried again.
  const outputs::Results as_tried = results_of(
      text, {"parallel.order=[\"tensor\",\"data\",\"pipeline\"]", "parallel.schedule=zb_h1", "training.recompute=none"},
      true);
  for (const outputs::Change& change : as_tried.counterfactuals.at(0).changes)
    for (const char* name : {"schedule", "tensor_place", "recompute"}) CHECK(change.name != name);
}

TEST_CASE("an assumed latency that is worse is longer, and one that is better is shorter") {
  const std::string text = allreduce_of_one_step(
      "latency = \"1ms\"\nbandwidth = \"1GBps\"\ndevice = { kind = \"custom\", float64 = \"100MF\", memory = \"1GB\", "
      "memory_bandwidth = \"1TBps\" }");
  const outputs::Results results = results_of(text, {}, true);
  REQUIRE(results.counterfactuals.size() == 1);
  const auto gain = [&](const char* name) {
    const auto& assumed = results.counterfactuals.front().assumed;
    const auto found = std::ranges::find(assumed, name, &outputs::Change::name);
    REQUIRE(found != assumed.end());
    return found->gain;
  };
  // Ten steps of a ring of two workers: two exchanges each.
  const double run_s = results.runs.front().record.simulated_s, latencies_s = 10 * 2 * 1e-3;
  CHECK(gain("latency_worse") == Approx(run_s / (run_s + latencies_s * (1 / 0.9 - 1))).epsilon(1e-6));
  CHECK(gain("latency_better") == Approx(run_s / (run_s + latencies_s * (1 / 1.1 - 1))).epsilon(1e-6));
}

TEST_CASE("a run of one step on devices has its band, however many messages its computed collectives stand for") {
  // 255 x 2 rounds of 256 messages a collective: 0.26 s by messages, of which 11 runs would be too many for 0.1 s.
  const std::string text =
      "[cluster]\nworkers = 256\ndevice = \"a100_80gb\"\n[data]\nsamples = 10000\n[model]\nkind = \"transformer\"\n"
      "layers = 8\nhidden = 256\nvocabulary = 1000\n[training]\nnumbers = false\nbatch_size_per_worker = "
      "1\n[stop]\nsteps "
      "= 1\n[[strategy]]\nkind = \"fsdp\"\n";
  const outputs::Results results = results_of(text, {}, true);
  REQUIRE(results.counterfactuals.size() == 1);
  CHECK(results.counterfactuals.front().whole);
  CHECK(results.counterfactuals.front().assumed.size() == 6);
}

TEST_CASE("trials are no whole run where the target's state comes later than it would as the last one") {
  // A row takes two seconds to read. In block_sync the blocks of the first state arrive as the second step needs them.
  const auto found = [](const char* send) {
    const std::string text =
        "[cluster]\nworkers = 3\n[data]\nsamples = 12\n[model]\nkind = \"perceptron\"\n[training]\nbatch_size = 3\n"
        "learning_rate = 0.01\ninput = { from = \"local\", bytes_per_sample = \"2MB\", bandwidth = \"1MBps\" }\n"
        "[stop]\nloss = 1.711\nsteps = 2\n[[strategy]]\nkind = \"block_sync\"\n";
    return results_of(text + "send = \"" + send + "\"\n", {}, true);
  };
  const outputs::Results late = found("ready"), together = found("together");
  REQUIRE((late.counterfactuals.size() == 1 && together.counterfactuals.size() == 1));
  CHECK(late.runs.front().record.simulated_s == Approx(4.0).epsilon(0.01));
  CHECK(late.counterfactuals.front().simulated_s == Approx(2.0).epsilon(0.01));
  CHECK_FALSE(late.counterfactuals.front().whole);
  CHECK(together.counterfactuals.front().simulated_s == together.runs.front().record.simulated_s);
  CHECK(together.counterfactuals.front().whole);
}

TEST_CASE("assumed numbers of a run on devices that are 10 % off change its computing or its communicating alone") {
  const std::string text = allreduce_of_one_step(
      "latency = \"0s\"\nbandwidth = \"1MBps\"\ndevice = { kind = \"custom\", float64 = \"100MF\", memory = \"1GB\", "
      "memory_bandwidth = \"1TBps\", efficiency = 0.5, half_size = 3 }");
  const outputs::Results results = results_of(text, {}, true);
  REQUIRE(results.counterfactuals.size() == 1);
  const outputs::Counterfactual& found = results.counterfactuals.front();
  const record::Record& run = results.runs.front().record;
  const auto names = [&] {
    std::vector<std::string> all;
    for (const outputs::Change& change : found.assumed) all.push_back(change.name);
    return all;
  };
  // A latency of 0 cannot be off.
  CHECK(names() ==
        std::vector<std::string>{"efficiency_worse", "efficiency_better", "bandwidth_worse", "bandwidth_better"});
  double compute_s = 0.0;
  for (const record::RankUse& rank : run.ranks) compute_s = std::max(compute_s, rank.compute_s);
  const double network_s = run.simulated_s - compute_s;
  REQUIRE(compute_s > 0.1 * run.simulated_s);
  REQUIRE(network_s > 0.1 * run.simulated_s);
  // A product whose smallest dimension is 1 reaches 0.5 / (1 + 3) of the peak; 0.45 / (1 + 3 / 0.9), 0.55 / (1 + 3
  // / 1.1).
  const double worse = (0.5 / 4) / (0.45 / (1 + 3 / 0.9)), better = (0.5 / 4) / (0.55 / (1 + 3 / 1.1));
  CHECK(found.assumed[0].gain == Approx(run.simulated_s / (compute_s * worse + network_s)).epsilon(1e-4));
  CHECK(found.assumed[1].gain == Approx(run.simulated_s / (compute_s * better + network_s)).epsilon(1e-4));
  CHECK(found.assumed[2].gain == Approx(run.simulated_s / (compute_s + network_s / 0.9)).epsilon(1e-9));
  CHECK(found.assumed[3].gain == Approx(run.simulated_s / (compute_s + network_s / 1.1)).epsilon(1e-9));
  for (const outputs::Change& change : found.assumed) check_change(text, found, change);
  CHECK(outputs::results_json(outputs::results_from_json(outputs::parse_json(outputs::results_json(results)))) ==
        outputs::results_json(results));
}

TEST_CASE("counterfactuals are the same however many are simulated at a time, and are read back as they are written") {
  const std::string text = Draw(3).scenario();
  const outputs::Results one = results_of(text, {}, true, 1);
  const outputs::Results three = results_of(text, {}, true, 3);
  REQUIRE_FALSE(one.counterfactuals.empty());
  const auto lines = [](outputs::Results results) {
    for (outputs::Run& run : results.runs) run.wall_s = 0.0;
    return outputs::results_json(results);
  };
  CHECK(lines(one) == lines(three));
  CHECK(lines(outputs::results_from_json(outputs::parse_json(lines(one)))) == lines(one));
}

TEST_CASE("a scenario without a cause is not improved by removing it, and jobs that share a cluster are left out") {
  const std::string text = allreduce_of_one_step("latency = \"0s\"");
  const outputs::Results results = results_of(text, {}, true);
  REQUIRE(results.counterfactuals.size() == 1);
  for (const outputs::Change& change : results.counterfactuals.front().changes)
    CHECK((change.name == "bandwidth" || change.name == "worker_speed" || change.name == "algorithm"));
  const std::string jobs = text +
                           "[[job]]\nname = \"a\"\nstrategy = \"allreduce\"\nworkers = 1\n[[job]]\nname = "
                           "\"b\"\nstrategy = \"allreduce\"\nworkers = 1\n";
  CHECK(results_of(jobs, {}, true).counterfactuals.empty());
}

TEST_CASE("a small experiment with long steps has its cause by eight of them, and a larger one says why it has none") {
  // The messages follow from numbers, so that the trials compute them.
  const auto blocks = [](const std::string& hidden, int steps) {
    return "[cluster]\nworkers = 2\nbandwidth = \"1Mbps\"\n[data]\nsamples = 64\nfeatures = 4\n[model]\nkind = "
           "\"perceptron\"\nhidden = " +
           hidden +
           "\n[training]\nbatch_size = \"full\"\nlearning_rate = 1e-6\n[stop]\nsteps = " + std::to_string(steps) +
           "\n[[strategy]]\nkind = \"block_sync\"\nblocks = \"layers\"\nschedule = \"movement\"\nbudget = 0.5\n";
  };
  // 6 flops a parameter and row, 91,000 parameters, 64 rows: by estimate 19 ms a step with its loss, of 12 steps.
  const outputs::Results results = results_of(blocks("[300, 300]", 12), {}, true);
  REQUIRE(results.counterfactuals.size() == 1);
  CHECK(results.counterfactuals.front().steps == 8);
  // 1 million parameters: 0.2 s a step, of which there are two.
  const tests::Scratch scratch;
  Selection selection;
  selection.baselines = false;
  std::vector<std::string> told;
  const outputs::Results larger = run_plan(planned(blocks("[1000, 1000]", 2), selection),
                                           {.out = scratch.path(),
                                            .jobs = 1,
                                            .threads = 0,
                                            .counterfactuals = true,
                                            .progress = {},
                                            .tell = [&](const std::string& text) { told.push_back(text); }});
  CHECK(larger.counterfactuals.empty());
  REQUIRE(told.size() == 1);
  CHECK(told.front().starts_with("no change is tried to find the bottleneck: a few steps under each would take "));
  CHECK(told.front().ends_with(", and 1.00 s are allowed"));
}

}  // namespace counterfactuals_test
