// Stored baselines: the whole file, what reading refuses, and the comparison to the edge of a tolerance.
#include "experiment/run/stored_baseline.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "catch.h"
#include "experiment/plan/identity.h"
#include "experiment/run/baseline_comparison.h"
#include "experiment/run/scenario_differences.h"
#include "scratch.h"

namespace stored_baseline_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

outputs::Run run_of(const std::string& label, int workers, std::uint64_t seed) {
  outputs::Run run;
  run.id = fmt::format("{}-{}-{}", label, workers, seed);
  run.strategy = run.label = label;
  run.parameters["cluster.workers"] = workers;
  run.seed = seed;
  run.record.simulated_s = 0.1 + 0.2;  // 0.30000000000000004
  run.record.steps = 10;
  run.record.bytes = 1'280'000;
  run.record.final_loss = 1.0 / 3.0;
  return run;
}

outputs::Results results_of(const std::vector<outputs::Run>& runs) {
  outputs::Results results;
  results.name = "x";
  results.runs = runs;
  return results;
}

StoredBaseline baseline_of(const outputs::Results& results) {
  StoredScenario scenario;
  scenario.name = results.name;
  scenario.version = "0.1.0";
  scenario.results_number = results_number;
  StoredBaseline baseline;
  baseline.file = "b.toml";
  baseline.put(scenario, stored_runs(results));
  return baseline;
}

/// The faults of reading the text, without the directory.
std::vector<std::string> faults(const std::string& text) {
  const tests::Scratch scratch;
  const std::string file = scratch.write("b.toml", text);
  try {
    read_stored_baseline(file);
  } catch (const base::ScenarioError& error) {
    std::vector<std::string> all;
    for (const std::string& fault : error.faults()) all.push_back(fault.substr(scratch.path().size() + 1));
    return all;
  }
  return {};
}

/// The text with `from`, which must be in it, replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string small_text() { return text(baseline_of(results_of({run_of("ring", 2, 1)}))); }

/// The one difference after the change of a stored run.
StoredDifference difference(const std::function<void(outputs::Run&)>& change) {
  outputs::Run run = run_of("ring", 2, 1);
  static StoredBaseline baseline;
  baseline = baseline_of(results_of({run}));
  change(run);
  const BaselineComparison found = compare(baseline, results_of({run}), Compare::all);
  REQUIRE(found.differences.size() == 1);
  return found.differences.front();
}

}  // namespace

TEST_CASE("a stored run has its numbers a line each, to the last bit, and no real time") {
  const std::string all = small_text();
  const std::string run = all.substr(all.find("\n[[scenario]]"));
  CHECK(run == fmt::format(R"(
[[scenario]]
name = "x"
version = "0.1.0"
results_number = {}

[[run]]
scenario = "x"
label = "ring"
point = "workers=2"
seed = 1
id = "ring-2-1"
status = "stopped"
simulated_s = 0.30000000000000004
steps = 10
samples = 0
epochs = 0.0
final_loss = 0.3333333333333333
bytes = 1280000
messages = 0

[end]
runs = 1
)",
                           results_number));
  CHECK(all.find("wall_s") == std::string::npos);
}

TEST_CASE("a stored baseline that is read back is the same text, with runs sorted by number and not by letter") {
  const outputs::Results results =
      results_of({run_of("tree", 2, 1), run_of("ring", 16, 2), run_of("ring", 16, 1), run_of("ring", 2, 1)});
  StoredBaseline baseline = baseline_of(results);
  baseline.tolerances.values[0] = 0.25;
  baseline.tolerances.values[1].reset();
  const tests::Scratch scratch;
  const StoredBaseline read = read_stored_baseline(scratch.write("b.toml", text(baseline)));
  CHECK(text(read) == text(baseline));
  REQUIRE(read.runs.size() == 4);
  CHECK(read.runs[0].name() == "ring, workers=2, seed 1");
  CHECK(read.runs[1].name() == "ring, workers=16, seed 1");
  CHECK(read.runs[2].name() == "ring, workers=16, seed 2");
  CHECK(read.runs[3].name() == "tree, workers=2, seed 1");
  CHECK(read.tolerances.values[0] == 0.25);
  CHECK_FALSE(read.tolerances.values[1]);
  CHECK(compare(read, results, Compare::all).same_bits());
}

TEST_CASE("files that are no stored baseline, of another format, damaged or cut short are refused with their places") {
  const std::string whole = small_text();
  CHECK(faults(whole).empty());
  CHECK(faults("title = 1\n").at(0).starts_with("b.toml:1:1: found no \"format\""));
  CHECK(faults("").at(0).starts_with("b.toml:1:1: found no \"format\""));
  CHECK(faults(replaced(whole, "format = 1", "format = 2")).at(0) ==
        "b.toml:3:10: the stored baseline has the format 2, and this release reads the format 1");
  CHECK(faults(replaced(whole, "steps = 10", "steps = ten")).at(0).starts_with("b.toml:"));
  CHECK(faults(replaced(whole, "steps = 10", "steps = \"ten\"")).at(0).find("steps must be a number") !=
        std::string::npos);
  CHECK(faults(replaced(whole, "\nfinal_loss = 0.3", "\nfinal_los = 0.3"))
            .at(0)
            .find("unknown key \"final_los\" in [[run]]; did you mean \"final_loss\"?") != std::string::npos);
  CHECK(
      faults(replaced(whole, "simulated_s = 0.001", "simulated_s = -1")).at(0).find("simulated_s must be at least 0") !=
      std::string::npos);
  CHECK(faults(replaced(whole, "status = \"stopped\"", "status = \"failed\""))
            .at(0)
            .find("found the status \"failed\"; expected reached, stopped or diverged") != std::string::npos);
  CHECK(faults(replaced(whole, "scenario = \"x\"", "scenario = \"y\"")).at(0).find("no [[scenario]] is called \"y\"") !=
        std::string::npos);
  CHECK(faults(replaced(whole, "runs = 1", "runs = 2"))
            .at(0)
            .find("[end] counts 2 runs, found 1: the file has been cut short or damaged") != std::string::npos);
}

TEST_CASE("a scenario or a run that is there twice, and one without a name, are refused") {
  const std::string whole = small_text();
  const std::string scenario =
      whole.substr(whole.find("[[scenario]]"), whole.find("[[run]]") - whole.find("[[scenario]]"));
  const std::string run = whole.substr(whole.find("[[run]]"), whole.find("[end]") - whole.find("[[run]]"));
  CHECK(faults(replaced(whole, "[[scenario]]", scenario + "[[scenario]]")) ==
        std::vector<std::string>{"b.toml:48:1: the scenario \"x\" is there twice"});
  CHECK(faults(replaced(replaced(whole, "[[run]]", run + "[[run]]"), "runs = 1", "runs = 2")) ==
        std::vector<std::string>{"b.toml:63:1: the run ring, workers=2, seed 1 of \"x\" is there twice"});
  CHECK(faults(replaced(whole, "label = \"ring\"\n", "")) ==
        std::vector<std::string>{"b.toml:48:1: a [[run]] needs a scenario, a label, a seed, an id and a status"});
  CHECK(faults(replaced(whole, "results_number = ", "results_number = -"))
            .at(0)
            .ends_with("a [[scenario]] needs a name, a version and a results_number"));
}

TEST_CASE("a stored baseline that is cut anywhere is refused, but for its last line end") {
  const std::string whole = small_text();
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    INFO(whole.substr(0, size));
    CHECK_FALSE(faults(whole.substr(0, size)).empty());
  }
}

TEST_CASE("all faults of a stored baseline are told in one pass") {
  std::string text = replaced(small_text(), "steps = 10", "steps = \"ten\"");
  text = replaced(text, "id = ", "ident = ");
  CHECK(faults(text).size() == 2);
}

TEST_CASE("a change is relative to the stored value, and the tolerance itself is within it") {
  StoredDifference found = difference([](outputs::Run& run) { run.record.steps = 11; });
  CHECK(found.metric == "steps");
  CHECK(found.before == "10");
  CHECK(found.after == "11");
  CHECK(found.change == Approx(0.1).epsilon(1e-12));
  found.tolerance = found.change;
  CHECK_FALSE(found.beyond());
  found.tolerance = std::nextafter(found.change, 0.0);
  CHECK(found.beyond());
  CHECK(difference([](outputs::Run& run) { run.record.steps = 9; }).change == Approx(-0.1).epsilon(1e-12));
}

TEST_CASE("the last bit is a difference, shown with all digits, and within the tolerance") {
  const StoredDifference found = difference([](outputs::Run& run) { run.record.simulated_s = 0.3; });
  CHECK(found.before == "0.30000000000000004");
  CHECK(found.after == "0.3");
  CHECK_FALSE(found.beyond());
}

TEST_CASE("a number that appears or disappears, a change from 0 and another status are beyond every tolerance") {
  CHECK(difference([](outputs::Run& run) { run.record.final_loss.reset(); }).after == "none");
  CHECK(difference([](outputs::Run& run) { run.record.final_loss.reset(); }).beyond());
  CHECK(difference([](outputs::Run& run) { run.record.time_to_target_s = 1.0; }).before == "none");
  CHECK(difference([](outputs::Run& run) { run.record.messages = 1; }).beyond());
  const StoredDifference status = difference([](outputs::Run& run) { run.record.status = record::Status::diverged; });
  CHECK(status.metric == "status");
  CHECK(status.beyond());
}

TEST_CASE("a run that fails now differs in its status, and its numbers are not compared") {
  const StoredDifference found = difference([](outputs::Run& run) {
    run.record.status = record::Status::failed;
    run.record.steps = 3;
  });
  CHECK(found.metric == "status");
  CHECK(found.after == "failed");
}

TEST_CASE("parts of the time change relative to the whole time") {
  outputs::Run run = run_of("ring", 2, 1);
  run.record.simulated_s = 10.0;
  run.record.ranks = {{.role = "worker", .compute_s = 9.999, .wait_s = 0.001}};
  const StoredBaseline baseline = baseline_of(results_of({run}));
  run.record.ranks.front().wait_s = 0.006;  // six times as long, and 0.0005 of the run
  const BaselineComparison found = compare(baseline, results_of({run}), Compare::all);
  REQUIRE(found.differences.size() == 1);
  CHECK(found.differences.front().change == Approx(0.005 / 10.0).epsilon(1e-9));
  CHECK(found.within_tolerance());
}

TEST_CASE("differences are sorted by how many tolerances they are, the worst first") {
  outputs::Run run = run_of("ring", 2, 1);
  const StoredBaseline baseline = baseline_of(results_of({run}));
  run.record.final_loss = 0.34;     // 2 % of a tolerance of 1 %
  run.record.bytes = 1'290'000;     // 0.8 % of 0.1 %
  run.record.simulated_s = 0.3001;  // 0.03 % of 0.1 %
  const BaselineComparison found = compare(baseline, results_of({run}), Compare::all);
  REQUIRE(found.differences.size() == 3);
  CHECK(found.differences[0].metric == "bytes");
  CHECK(found.differences[1].metric == "final_loss");
  CHECK(found.differences[2].metric == "simulated_s");
  CHECK_FALSE(found.within_tolerance());
}

TEST_CASE("a metric without a line among the tolerances is not compared") {
  outputs::Run run = run_of("ring", 2, 1);
  StoredBaseline baseline = baseline_of(results_of({run}));
  run.record.steps = 11;
  baseline.tolerances.values[1].reset();
  CHECK(compare(baseline, results_of({run}), Compare::all).same_bits());
}

TEST_CASE("stored runs that are gone fail, new ones do not") {
  const std::vector<outputs::Run> both{run_of("ring", 2, 1), run_of("ring", 2, 2)};
  const StoredBaseline of_both = baseline_of(results_of(both)), of_one = baseline_of(results_of({both[0]}));
  const BaselineComparison fewer = compare(of_both, results_of({both[0]}), Compare::all);
  REQUIRE(fewer.gone.size() == 1);
  CHECK(fewer.gone.front()->name() == "ring, workers=2, seed 2");
  CHECK_FALSE(fewer.within_tolerance());
  const BaselineComparison more = compare(of_one, results_of(both), Compare::all);
  CHECK(more.added == std::vector<std::string>{"ring, workers=2, seed 2"});
  CHECK(more.within_tolerance());
}

TEST_CASE("before a rewrite only runs of the same id and results_number are compared") {
  outputs::Run run = run_of("ring", 2, 1);
  StoredBaseline baseline = baseline_of(results_of({run}));
  run.record.steps = 11;
  CHECK(compare(baseline, results_of({run}), Compare::equal_ids).differences.size() == 1);
  run.id = "another";
  const BaselineComparison other = compare(baseline, results_of({run}), Compare::equal_ids);
  CHECK(other.differences.empty());
  CHECK(other.redefined == 1);
  run.id = baseline.runs.front().id;
  baseline.scenarios.front().results_number = results_number - 1;
  const BaselineComparison older = compare(baseline, results_of({run}), Compare::equal_ids);
  CHECK(older.differences.empty());
  CHECK(older.stored_number == results_number - 1);
  CHECK(compare(baseline, results_of({run}), Compare::all).differences.size() == 1);
}

TEST_CASE("the keys of a scenario are read back as they were written, and what differs is found") {
  const nlohmann::ordered_json scenario = nlohmann::ordered_json::parse(R"({
    "title": "no part of it", "cluster": {"workers": 4, "failures": {}, "relative_speeds": [1.0, 0.5], "hosts": []},
    "data": {"a key \"with\" quotes": "two\nlines", "part": null, "header": true},
    "strategy": [{"kind": "gossip", "label": "g"}, {"kind": "allreduce"}],
    "grid": {"cluster.workers": [4, 8], "zip": [{"data.header": [true, false]}]}})");
  const Leaves leaves = defining_leaves_with_strategies(scenario);
  CHECK(leaves == Leaves{{"cluster.relative_speeds.0", "1.0"},
                         {"cluster.relative_speeds.1", "0.5"},
                         {"cluster.hosts", "[]"},
                         {"data.a key \"with\" quotes", "\"two\\nlines\""},
                         {"strategy.g.kind", "\"gossip\""}});
  StoredBaseline baseline = baseline_of(results_of({run_of("ring", 2, 1)}));
  baseline.scenarios.front().keys.assign(leaves.begin(), leaves.end());
  const tests::Scratch scratch;
  const StoredBaseline again = read_stored_baseline(scratch.write("b.toml", text(baseline)));
  CHECK(again.scenarios.front().keys == baseline.scenarios.front().keys);
  CHECK(text(again) == text(baseline));
  Leaves other = leaves;
  CHECK(changed_keys(leaves, other).empty());
  other.erase("cluster.hosts");
  other["cluster.relative_speeds.1"] = std::string(100, '1');
  other["new"] = "2";
  const std::vector<ChangedKey> changes = changed_keys(leaves, other);
  REQUIRE(changes.size() == 3);
  CHECK(differences(leaves, other, "there", "here") ==
        "cluster.hosts is [] there and absent here, "
        "cluster.relative_speeds.1 is 0.5 there and " +
            std::string(80, '1') + "... here, new is absent there and 2 here");
  other["newer"] = "3";
  CHECK(differences(leaves, other, "there", "here").ends_with(", and 1 more"));
}

}  // namespace stored_baseline_test
