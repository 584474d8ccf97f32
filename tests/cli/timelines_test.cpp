// Timelines: few of a sweep are kept, --timelines asks for more, and the report says which there are and why.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "catch.h"
#include "cli/sharded.h"
#include "run_files.h"
#include "unpacked.h"

namespace kept_timelines_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

struct Sweep {
  Scratch scratch;

  Sweep() { scratch.write("x.toml", small); }
  Called run(const std::string& options) const {
    Called called = program("run x.toml --no-why --no-baseline " + options, scratch);
    INFO(called.err);
    CHECK(called.exit_code == 0);
    return called;
  }
  std::string path(const std::string& name) const { return scratch.path() + "/" + name; }
  Json runs(const std::string& out) const { return results_in(scratch, out)["runs"]; }
  /// The ids of the runs that have a timeline.
  std::set<std::string> kept(const std::string& out) const {
    std::set<std::string> ids;
    for (const auto& entry : fs::directory_iterator(path(out + "/timelines"))) {
      const std::string name = entry.path().filename();
      CHECK(name.ends_with(".json.gz"));
      const std::string stem = name.substr(0, name.find('.'));
      ids.insert(stem.substr(stem.rfind('-') + 1));
    }
    return ids;
  }
  /// The data of the report; null where simgrad was built without Node.
  Json page(const std::string& out) const {
    if (!fs::exists(path(out + "/report.html"))) return {};
    scratch.write("page.html", "@simgrad-data@");
    CHECK(program("report " + out + " --template page.html --out data.json", scratch).exit_code == 0);
    return Json::parse(contents(path("data.json")));
  }
};

const std::string many = "--grid 'cluster.latency=range(1us,70us,1us)' --jobs 2";

}  // namespace

TEST_CASE("timelines of the first seed of each case are kept, packed, and the report names those that are missing") {
  const Sweep sweep;
  sweep.run("--seeds 3,1,2 --grid cluster.workers=2,4 --out a");
  std::set<std::string> first;
  for (const Json& run : sweep.runs("a"))
    if (run["seed"] == 3) first.insert(run["id"]);
  CHECK(first.size() == 2);
  CHECK(sweep.kept("a") == first);
  for (const std::string& id : first) {
    const std::string file = file_of_run(sweep.path("a/timelines"), id, ".json.gz");
    CHECK(Json::parse(unpacked(file))["run"] == id);
    CHECK(contents(file).starts_with("\x1f\x8b"));
    CHECK(fs::file_size(file) < 4096);
  }
  if (const Json page = sweep.page("a"); !page.is_null()) CHECK(page["missing_timelines"].is_null());
}

TEST_CASE("of more than 64 cases 64 have a timeline, and the page says why and what makes more") {
  const Sweep sweep;
  sweep.run(many + " --out a");
  CHECK(sweep.runs("a").size() == 70);
  CHECK(sweep.kept("a").size() == 64);
  sweep.run(many + " --timelines 10 --out b");
  const std::set<std::string> ten = sweep.kept("b"), more = sweep.kept("a");
  CHECK(ten.size() == 10);
  CHECK(std::ranges::includes(more, ten));
  sweep.run(many + " --timelines 0 --out none");
  CHECK(sweep.kept("none").empty());
  const Json page = sweep.page("a");
  if (page.is_null()) return;  // built without Node
  CHECK(page["gantt"]["runs"].size() == 64);
  CHECK(page["missing_timelines"]["sentence"].get<std::string>().starts_with(
      "Timelines of 64 of 70 cases are here: those of the first seed of at most 64 cases are kept by default"));
  CHECK(page["missing_timelines"]["command"] ==
        "simgrad run x.toml --grid 'cluster.latency=range(1us,70us,1us)' --no-baseline --timelines all");
  const Json none = sweep.page("none");
  CHECK(none["gantt"].is_null());
  CHECK(none["missing_timelines"]["sentence"].get<std::string>().starts_with("No timeline of the 70 cases is here: "));
}

TEST_CASE("option --timelines all adds what is missing by its own command, and leaves every result as it was") {
  const Sweep sweep;
  const std::string seeds = "--seeds 1..5 --grid cluster.workers=2,4";
  sweep.run(seeds + " --out a");
  std::map<std::string, std::string> before;
  for (const auto& entry : fs::recursive_directory_iterator(sweep.path("a")))
    if (entry.is_regular_file()) before[entry.path()] = contents(entry.path());
  const Called all = sweep.run(seeds + " --timelines all --out a");
  CHECK(contains(all.err, "simgrad: 2 of 10 runs are in a already"));
  CHECK(contains(all.err, "simgrad: 8 of 10 runs are simulated again for their timelines; their results stay\n"));
  CHECK(sweep.kept("a").size() == 10);
  for (const auto& [file, text] : before) {
    const std::string name = fs::path(file).filename();
    INFO(name);
    if (name != "report.html" && name != "results.json") CHECK(contents(file) == text);  // wall_s too
  }
  for (const Json& run : sweep.runs("a")) CHECK(run["wall_s"].is_number());
  CHECK(contains(sweep.run(seeds + " --timelines all --out a").err, "10 of 10 runs are in a already"));
  // All timelines in one command, whatever the number of jobs.
  sweep.run(seeds + " --timelines all --jobs 1 --threads 0 --out b");
  sweep.run(seeds + " --timelines all --jobs 3 --out c");
  CHECK(differing(sweep.path("b"), sweep.path("c")) == "equal");
  CHECK(differing(sweep.path("a"), sweep.path("b")) == "equal");
  CHECK(contains(sweep.run(seeds + " --out a").err, "10 of 10 runs are in a already"));
  CHECK(sweep.kept("a").size() == 10);
}

TEST_CASE("runs that are one piece of work have a timeline each, if both are kept") {
  const Sweep sweep;
  // A bandwidth that nothing is sent over: two points, one simulation.
  sweep.run("--set cluster.workers=1 --grid cluster.bandwidth=1Gbps,2Gbps --out a");
  const auto kept = sweep.kept("a");
  CHECK(kept.size() == 2);
  for (const std::string& id : kept)
    CHECK(Json::parse(unpacked(file_of_run(sweep.path("a/timelines"), id, ".json.gz")))["run"] == id);
}

TEST_CASE("shards keep the timelines of the whole experiment, and merge brings those that the shards were asked for") {
  const Sweep sweep;
  const std::string seeds = "--seeds 1..3 --grid cluster.workers=2,4";
  for (const std::string option : {"", " --timelines all", " --timelines 1"}) {
    for (const char* old : {"whole", "parts", "merged"}) fs::remove_all(sweep.path(old));
    sweep.run(seeds + option + " --out whole");
    for (const int i : {1, 2}) sweep.run(fmt::format("{}{} --shard {}/2 --out parts", seeds, option, i));
    REQUIRE(program("merge parts/shard-1-of-2 parts/shard-2-of-2 --no-why --out merged", sweep.scratch).exit_code == 0);
    INFO(option);
    CHECK(sweep.kept("merged") == sweep.kept("whole"));
    CHECK(differing(sweep.path("merged"), sweep.path("whole")) == "equal");
  }
  sweep.run(seeds + " --timelines all --shard 1/2 --out parts");
  const Called strangers = program("merge parts/shard-1-of-2 parts/shard-2-of-2 --out m", sweep.scratch);
  CHECK(strangers.exit_code == 2);
  CHECK(contains(strangers.err, "--timelines all in parts/shard-1-of-2, and --timelines 1 in parts/shard-2-of-2"));
}

TEST_CASE("option --timelines refuses what is no number of cases") {
  const Sweep sweep;
  for (const std::string text : {"some", "-1", "1.5", "64x"}) {
    const Called called = program("run x.toml --timelines=" + text, sweep.scratch);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "--timelines " + text + ": found no number of cases; expected all, or a number"));
  }
}

}  // namespace kept_timelines_test
