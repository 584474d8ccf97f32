// The output of a run: its files, their fields, the streams, the exit code.
#include <regex>
#include <set>

#include "catch.h"
#include "cli/scenario.h"
#include "run_files.h"

namespace run_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// The fields of the contract, in its order; fields that a release adds follow.
const std::vector<std::string> fields = {"id",
                                         "strategy",
                                         "label",
                                         "options",
                                         "parameters",
                                         "seed",
                                         "status",
                                         "simulated_s",
                                         "steps",
                                         "samples",
                                         "epochs",
                                         "final_loss",
                                         "time_to_target_s",
                                         "speedup_throughput",
                                         "speedup_time_to_target",
                                         "efficiency",
                                         "compute_s",
                                         "communicate_s",
                                         "wait_s",
                                         "down_s",
                                         "bytes",
                                         "messages",
                                         "staleness_mean",
                                         "staleness_max",
                                         "cost_usd",
                                         "energy_j",
                                         "wall_s",
                                         "error"};

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

std::vector<std::string> first(std::vector<std::string> all, std::size_t count) {
  all.resize(std::min(all.size(), count));
  return all;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells{""};
  for (const char c : line)
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

std::set<std::string> names_in(const std::string& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

std::string head_of(const Scratch& scratch, const std::string& file) {
  return lines_of(contents(scratch.path() + "/out/x/" + file)).front();
}

}  // namespace

TEST_CASE("a run writes its files, by default under out/ and the stem of the scenario's name") {
  const Scratch scratch;
  fs::create_directory(scratch.path() + "/scenarios");
  scratch.write("scenarios/x.toml", small);
  const Called called = program("run scenarios/x.toml", scratch);
  CHECK(called.exit_code == 0);
  CHECK(names_in(scratch.path()) == std::set<std::string>{"out", "scenarios"});
  CHECK(names_in(scratch.path() + "/out") == std::set<std::string>{"x"});
  std::set<std::string> written = names_in(scratch.path() + "/out/x");
  written.erase("report.html");  // there is none where simgrad was built without Node
  CHECK(written == std::set<std::string>{"experiment.json", "results.json", "runs.csv", "summary.csv", "curves.csv",
                                         "ranks.csv", "links.csv", "runs", "timelines", "trials.json"});
  const Json results = results_in(scratch);
  const auto id = [&](const char* list) { return results[list][0]["id"].get<std::string>(); };
  CHECK(
      names_in(scratch.path() + "/out/x/runs") ==
      std::set<std::string>{"allreduce-w4-s1-" + id("runs") + ".json", "baseline-w1-s1-" + id("baselines") + ".json"});
  CHECK(names_in(scratch.path() + "/out/x/timelines") ==
        std::set<std::string>{"allreduce-w4-s1-" + id("runs") + ".json.gz"});
}

TEST_CASE("option --out names the directory, which is made with those above it") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  CHECK(program("run x.toml --out a/b/c", scratch).exit_code == 0);
  CHECK(fs::exists(scratch.path() + "/a/b/c/results.json"));
  CHECK_FALSE(fs::exists(scratch.path() + "/out"));
}

TEST_CASE("results.json has the fields of the contract, in its order, for runs and baselines") {
  const Json results = results_of(small);
  CHECK(keys_of(results) == std::vector<std::string>{"schema", "version", "name", "title", "complete", "command",
                                                     "scenario", "runs", "baselines", "summary", "counterfactuals"});
  CHECK(results["schema"] == 1);
  CHECK(results["name"] == "x");
  CHECK(results["title"] == "small");
  CHECK(results["complete"] == true);
  REQUIRE(results["runs"].size() == 1);
  REQUIRE(results["baselines"].size() == 1);
  for (const char* list : {"runs", "baselines"}) CHECK(first(keys_of(results[list][0]), fields.size()) == fields);
  const Json& run = results["runs"][0];
  CHECK(run["parameters"] == Json::object());
  CHECK(run["status"] == "stopped");
  CHECK(run["steps"] == 10);
  CHECK(run["samples"] == 2000);
  CHECK(run["epochs"] == 10.0);
  for (const char* unpriced : {"cost_usd", "energy_j", "time_to_target_s", "error"}) CHECK(run[unpriced].is_null());
}

TEST_CASE("the CSV files have the columns of the contract, and one column for each key of the grid") {
  const Scratch scratch;
  scratch.write("x.toml", small + "[grid]\n\"cluster.workers\" = [1, 2]\n\"cluster.bandwidth\" = [\"1Gbps\"]\n");
  REQUIRE(program("run x.toml", scratch).exit_code == 0);
  std::vector<std::string> columns = fields;
  columns[4] = "param.cluster.workers";
  columns.insert(columns.begin() + 5, "param.cluster.bandwidth");
  CHECK(first(cells_of(head_of(scratch, "runs.csv")), columns.size()) == columns);
  CHECK(contains(head_of(scratch, "curves.csv"), "run,step,simulated_s,samples,loss"));
  CHECK(head_of(scratch, "ranks.csv") ==
        "run,rank,role,compute_s,communicate_s,wait_s,down_s,bytes_sent,bytes_received,host_class,compute_gradient_s,"
        "compute_reduction_s,compute_update_s,compute_encoding_s,compute_other_s,communicate_transfer_s,"
        "communicate_input_s,communicate_storage_s,communicate_checkpoint_s,wait_gradient_s,wait_worker_s,"
        "wait_server_s,wait_transfer_s,wait_turn_s,wait_storage_s,"
        "wait_checkpoint_s,wait_recovery_s,wait_other_s,staleness_mean,memory_bytes,memory_parameters_bytes,"
        "memory_gradients_bytes,memory_optimizer_bytes,memory_activations_bytes,memory_gathered_bytes,"
        "memory_buckets_bytes,memory_workspace_bytes");
  CHECK(head_of(scratch, "links.csv") == "run,link,bytes,utilisation,link_class");

  const Json results = results_in(scratch);
  CHECK(results["runs"][1]["parameters"] == Json{{"cluster.workers", 2}, {"cluster.bandwidth", "1Gbps"}});
  const auto rows = lines_of(contents(scratch.path() + "/out/x/runs.csv"));
  REQUIRE(rows.size() == 3);
  CHECK(contains(rows[2], "}\",2,1Gbps,"));  // after the options, whose text has commas of its own
}

TEST_CASE("without a grid runs.csv has no column of parameters") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml", scratch).exit_code == 0);
  CHECK_FALSE(contains(head_of(scratch, "runs.csv"), "param"));
}

TEST_CASE("the record of a run is what results.json says of it") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml", scratch).exit_code == 0);
  const Json results = results_in(scratch);
  for (const char* list : {"runs", "baselines"}) {
    const Json& run = results[list][0];
    Json record = Json::parse(contents(file_of_run(scratch.path() + "/out/x/runs", run["id"], ".json")));
    CHECK(record.erase("checksum") == 1);
    CHECK(record == run);
  }
}

TEST_CASE("a run's time is compute, communicate, wait and down, and its bytes are those of its ranks") {
  for (const Json& run : results_of(with_strategies(all_strategies))["runs"]) {
    INFO(run["label"]);
    const double parts = run["compute_s"].get<double>() + run["communicate_s"].get<double>() +
                         run["wait_s"].get<double>() + run["down_s"].get<double>();
    CHECK(parts == Approx(run["simulated_s"].get<double>()).epsilon(1e-9));
    std::int64_t bytes = 0;
    for (const Json& rank : run["ranks"]) bytes += rank["bytes_sent"].get<std::int64_t>();
    CHECK(run["bytes"] == bytes);
  }
}

TEST_CASE("speed-ups are against the baseline, by samples a second and by time to the target") {
  const Json results = results_of(with(small, "steps = 10", "loss = 0.3\nsteps = 50"));
  const Json& run = results["runs"][0];
  const Json& baseline = results["baselines"][0];
  REQUIRE(run["status"] == "reached");
  // samples per simulated second over the baseline's; the baseline's time to target over this run's; by the workers.
  const auto rate = [](const Json& of) { return of["samples"].get<double>() / of["simulated_s"].get<double>(); };
  CHECK(run["speedup_throughput"].get<double>() == Approx(rate(run) / rate(baseline)).epsilon(1e-12));
  CHECK(run["speedup_time_to_target"].get<double>() ==
        Approx(baseline["time_to_target_s"].get<double>() / run["time_to_target_s"].get<double>()).epsilon(1e-12));
  CHECK(run["efficiency"].get<double>() == Approx(run["speedup_throughput"].get<double>() / 4.0).epsilon(1e-12));
}

TEST_CASE("option --no-baseline runs none and leaves the speed-ups null") {
  const Json results = results_of(small, "--no-baseline");
  CHECK(results["baselines"] == Json::array());
  for (const char* field : {"speedup_throughput", "speedup_time_to_target", "efficiency"})
    CHECK(results["runs"][0][field].is_null());
}

TEST_CASE("option --json prints results.json byte for byte and nothing else") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --json", scratch);
  CHECK(called.exit_code == 0);
  CHECK(called.out == contents(scratch.path() + "/out/x/results.json"));
}

TEST_CASE("a table and where the files are go to stdout, progress to stderr alone, without colours in a file") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml", scratch);
  CHECK(contains(called.out, "allreduce"));
  CHECK(contains(called.out, "out/x/results.json"));
  CHECK_FALSE(contains(called.out, "\x1b"));
  CHECK_FALSE(contains(called.out, " of 2 runs"));
  CHECK(lines_of(called.err).back() == "2 of 2 runs done");
}

TEST_CASE("option --quiet says nothing when all is well, and errors all the same") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called good = program("run x.toml --quiet", scratch);
  CHECK(good.exit_code == 0);
  CHECK(good.out.empty());
  CHECK(good.err.empty());
  const Called bad = program("run x.toml --quiet --out b --set cluster.watchdog.simulated=1ns", scratch);
  CHECK(bad.exit_code == 1);
  CHECK(bad.out.empty());
  CHECK(contains(bad.err, "allreduce: "));
  CHECK(contains(program("run x.toml --quiet --set cluster.workers=0", scratch).err,
                 "--set cluster.workers=0: workers must be "));
}

TEST_CASE("option --dry-run lists the runs, simulates nothing and writes nothing") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --dry-run --grid cluster.workers=1,2 --seeds 1..2", scratch);
  CHECK(called.exit_code == 0);
  const auto lines = lines_of(called.out);
  // Four runs; at full batch a baseline depends on the seed only.
  REQUIRE(lines.size() == 6);
  CHECK(contains(lines[0], "  baseline  seed=1"));
  CHECK(contains(lines[5], "  allreduce  cluster.workers=2  seed=2"));
  CHECK(std::regex_match(called.err, std::regex("simgrad: 6 runs to simulate: about [0-9.]+ (ns|us|ms|s) of real time, "
                                                "and [0-9.]+ kB of files in addition to the report\n")));
  CHECK(names_in(scratch.path()) == std::set<std::string>{"x.toml"});
}

TEST_CASE("the file sizes that --dry-run estimates are those of the run, within a factor of two") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10", "steps = 2000"));
  const Called called = program("run x.toml --dry-run", scratch);
  std::smatch found;
  REQUIRE(std::regex_search(called.err, found, std::regex("and ([0-9.]+) (kB|MB) of files")));
  const double estimated = std::stod(found[1]) * (found[2] == "kB" ? 1e3 : 1e6);
  REQUIRE(program("run x.toml --quiet", scratch).exit_code == 0);
  double bytes = 0.0;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path() + "/out"))
    if (entry.is_regular_file() && entry.path().extension() != ".html") bytes += static_cast<double>(entry.file_size());
  CHECK(estimated < 2.0 * bytes);
  CHECK(estimated > 0.5 * bytes);
}

TEST_CASE("a loss that is evaluated much more than learnt from is told once, with the key that changes it") {
  const Scratch scratch;
  std::string text = with(with(small, "samples = 200", "samples = 20000"), "features = 5", "features = 100");
  text = with(text, "learning_rate = 0.1", "learning_rate = 0.01\nbatch_size = 4");
  const std::string advice = " evaluations of the loss took ", key = "set evaluate.every_steps to more than 1";
  // A second of processor time makes the advice; how many steps that takes is the machine's affair.
  Called called;
  for (int steps = 3000; steps <= 300'000 && !contains(called.err, advice); steps *= 4) {
    scratch.write("x.toml", with(text, "steps = 10", "steps = " + std::to_string(steps)));
    called = program("run x.toml --no-baseline --threads 0 --force", scratch);
  }
  const auto at = called.err.find(advice);
  INFO(called.err);
  CHECK(at != std::string::npos);
  CHECK(called.err.find(advice, at + 1) == std::string::npos);
  CHECK(contains(called.err, key));
  CHECK_FALSE(
      contains(program("run x.toml --no-baseline --force --set evaluate.every_steps=1000", scratch).err, advice));
}

TEST_CASE("the ids that --dry-run lists are those of the runs") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --dry-run", scratch);
  REQUIRE(program("run x.toml", scratch).exit_code == 0);
  const Json results = results_in(scratch);
  CHECK(called.out == results["baselines"][0]["id"].get<std::string>() + "  baseline  seed=1\n" +
                          results["runs"][0]["id"].get<std::string>() + "  allreduce  seed=1\n");
}

TEST_CASE("the number of jobs and of threads may be anything from one, or none, up to many") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* options : {"--jobs 1 --threads 0", "--jobs 64 --threads 4"})
    CHECK(program("run x.toml --quiet " + std::string(options), scratch).exit_code == 0);
}

TEST_CASE("on a terminal the table has colours, unless NO_COLOR is set, and there are no lines of progress") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10", "loss = 0.3\nsteps = 50"));
  // `script` gives the program a terminal.
  const auto shown = [&](const std::string& setting) {
    return call(setting + " script -qec 'timeout 60 simgrad run x.toml' /dev/null", scratch.path()).out;
  };
  const std::string coloured = shown("unset NO_COLOR;");
  CHECK(contains(coloured, "\x1b[1;32m"));
  CHECK_FALSE(contains(coloured, " of 2 runs"));
  const std::string plain = shown("NO_COLOR=1");
  CHECK(contains(plain, "allreduce"));
  CHECK_FALSE(contains(plain, "\x1b[1;32m"));
}

}  // namespace run_test
