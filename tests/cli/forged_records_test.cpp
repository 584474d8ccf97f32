// Records and results that somebody has changed, with the right checksum: what contradicts itself, or is of another
// run, is not taken for a result.
#include <filesystem>
#include <utility>
#include <vector>

#include "catch.h"
#include "cli/forging.h"
#include "run_files.h"

namespace forged_records_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string sweep = "run x.toml --no-why --no-baseline --seeds 1..2";

std::string record_of(const Scratch& scratch, std::size_t run) {
  const Json runs = results_in(scratch).at("runs");
  return file_of_run(scratch.path() + "/out/x/runs", runs.at(run).at("id"), ".json");
}

using Change = std::pair<std::string, std::function<void(Json& run)>>;

std::function<void(Json&)> set(const std::string& pointer, const Json& value) {
  return [=](Json& run) { run.at(Json::json_pointer(pointer)) = value; };
}

/// Changes of a run, each with the words of its refusal.
std::vector<Change> contradictions() {
  return {{"simulated_s is ", [](Json& run) { run["simulated_s"] = 2.0 * run["simulated_s"].get<double>(); }},
          {"simulated_s is -1, expected a time of at least 0", set("/simulated_s", -1)},
          {"wait_s is ", set("/ranks/0/wait_s", 3)},
          {"compute_s is -", [](Json& run) { run["ranks"][1]["compute_s"] = -0.5; }},
          {"bytes is -1, expected at least 0", set("/bytes", -1)},
          {"messages is -7", set("/messages", -7)},
          {"bytes_sent is -2", set("/ranks/0/bytes_sent", -2)},
          {"utilisation of a link is 1.5, expected 0 to 1", set("/links/0/utilisation", 1.5)},
          {"host is 4, expected 0 to 3", set("/ranks/0/host", 4)},
          {"steps is 11, expected 10, where the curve ends", set("/steps", 11)},
          {"step of the curve is -1, expected at least 0", set("/curve/0/step", -1)},
          {"simulated_s of the curve is 0, expected ", set("/curve/9/simulated_s", 0)},
          {"simulated_s of the curve is 1000, expected ", set("/curve/10/simulated_s", 1000)},
          {"time_to_target_s is missing, though the target was reached", set("/status", "reached")},
          {"time_to_target_s is there, though no target was reached", set("/time_to_target_s", 0)},
          {"error is missing, though the run failed", set("/status", "failed")}};
}

}  // namespace

TEST_CASE("forged records: one that contradicts itself is named, set aside and done again") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string file = record_of(scratch, 0), good = contents(file), id = fs::path(file).stem();
  for (const auto& [words, change] : contradictions()) {
    INFO(words);
    write_bytes(file, forged_record(good, change));
    const Called called = program(sweep, scratch);
    CAPTURE(called.err);
    CHECK(called.exit_code == 0);
    CHECK(contains(called.err, "simgrad: out/x/runs/" + id + ".json is the record of no run: " + words));
    CHECK(contains(called.err, "it is now " + id + ".json.damaged, and the run is done again\n"));
    CHECK(contains(called.err, "simgrad: 1 of 2 runs are in out/x already"));
    Json again = Json::parse(contents(file)), before = Json::parse(good);
    again.erase("wall_s");
    before.erase("wall_s");
    CHECK(again == before);
  }
}

TEST_CASE("forged records: that of another run under this one's id is done again") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const std::string file = record_of(scratch, 0), id = fs::path(file).stem();
  const std::string good = contents(file), other = contents(record_of(scratch, 1));
  write_bytes(file, forged_record(other, set("/id", id.substr(id.rfind('-') + 1))));
  const Called called = program(sweep, scratch);
  CHECK(contains(called.err, id + ".json is the record of another run; it is now " + id + ".json.damaged"));
  CHECK(results_in(scratch)["runs"][0]["seed"] == 1);
  for (const auto& [pointer, value] :
       std::vector<std::pair<std::string, Json>>{{"/workers", 5}, {"/strategy", "gossip"}, {"/seed", 7}}) {
    INFO(pointer);
    write_bytes(file, forged_record(good, set(pointer, value)));
    CHECK(contains(program(sweep, scratch).err, id + ".json is the record of another run; "));
  }
}

TEST_CASE("forged results: a report refuses runs that contradict themselves, with the run and the field") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program(sweep, scratch).exit_code == 0);
  const Json good = results_in(scratch);
  const std::string id = good["runs"][1]["id"];
  for (const auto& [words, change] : contradictions()) {
    INFO(words);
    Json forged = good;
    change(forged["runs"][1]);
    scratch.write("out/x/results.json", forged.dump(2));
    const Called called = program("report out/x", scratch);
    CAPTURE(called.err);
    CHECK(called.exit_code == 2);
    CHECK_THAT(called.err, StartsWith("out/x/results.json: runs[1], the run " + id + ": " + words));
  }
}

}  // namespace forged_records_test
