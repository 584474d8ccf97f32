// run --shard: parts of an experiment for several machines.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "catch.h"
#include "cli/process.h"
#include "cli/sharded.h"
#include "share.h"

namespace shard_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string sweep = "run x.toml --seeds 1..5 --grid cluster.workers=2,4 --jobs 2";

/// The runs whose records are in a directory.
std::set<std::string> records_in(const std::string& directory) {
  std::set<std::string> ids;
  for (const auto& entry : fs::directory_iterator(directory + "/runs")) ids.insert(entry.path().stem().string());
  return ids;
}

/// A call of `run` with variables of the environment.
Called in_environment(const std::string& variables, const Scratch& scratch, const std::string& options = "") {
  return call("env " + variables + " timeout 60 simgrad run x.toml --seeds 1..4 --no-baseline " + options,
              scratch.path());
}

}  // namespace

TEST_CASE("shard: shards of any number do each run once, and merge to the files of the unsharded run") {
  const Scratch scratch;
  scratch.write("x.toml",
                with_strategies(all_strategies) + "[prices]\nworker = \"2$/h\"\nidle = \"60W\"\nbusy = \"200W\"\n");
  REQUIRE(program(sweep + " --out whole", scratch).exit_code == 0);
  Share share(3);
  for (const int n : {1, 3, 7}) {
    if (!share.next()) continue;
    INFO(n);
    std::size_t records = 0;
    std::set<std::string> ids;
    for (int i = 1; i <= n; ++i) {
      const Called called = program(fmt::format("{} --shard {}/{}", sweep, i, n), scratch);
      REQUIRE(called.exit_code == 0);
      const std::string shard = fmt::format("out/x/shard-{}-of-{}", i, n);
      CHECK(contains(called.out, fmt::format("runs are finished, in {}.\n", shard)));
      CHECK(contains(called.out, fmt::format("simgrad merge out/x/shard-*-of-{} --out out/x\n", n)));
      for (const char* file : {"results.json", "runs.csv", "report.html"})
        CHECK_FALSE(fs::exists(scratch.path() + "/" + shard + "/" + file));
      const auto of_shard = records_in(scratch.path() + "/" + shard);
      records += of_shard.size();
      ids.insert(of_shard.begin(), of_shard.end());
    }
    CHECK(records == ids.size());
    const std::string out = fmt::format("merged-{}", n);
    const Called merged = program(fmt::format("merge out/x/shard-*-of-{} --out {}", n, out), scratch);
    INFO(merged.err);
    REQUIRE(merged.exit_code == 0);
    CHECK(merged.out.starts_with(fmt::format("90 runs from {} shard", n)));
    CHECK(differing(scratch.path() + "/" + out, scratch.path() + "/whole") == "equal");
    const Called again = program(sweep + " --out " + out, scratch);  // the merged directory is that of a run
    int found = 0, all = -1;
    const std::string already = "simgrad: %d of %d runs are in " + out + " already";
    const std::size_t line = again.err.rfind("simgrad: ", again.err.find(" runs are in "));  // behind notes
    REQUIRE(line != std::string::npos);
    CHECK(std::sscanf(again.err.c_str() + line, already.c_str(), &found, &all) == 2);
    CHECK(found == all);
  }
}

TEST_CASE("shard: jobs that share a cluster, and those by themselves, merge to the unsharded files") {
  const Scratch scratch;
  const std::string run =
      fmt::format("run '{}/scenarios/two_jobs_one_fabric.toml' --jobs 2 --quiet", SIMGRAD_SOURCE_DIR);
  REQUIRE(program(run + " --out whole", scratch).exit_code == 0);
  for (const int i : {1, 2, 3})
    REQUIRE(program(fmt::format("{} --out p --shard {}/3", run, i), scratch).exit_code == 0);
  REQUIRE(program("merge p/shard-*-of-3 --out merged --quiet", scratch).exit_code == 0);
  CHECK(differing(scratch.path() + "/merged", scratch.path() + "/whole") == "equal");
}

TEST_CASE("shard: a shard that is killed goes on where it was") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10", "steps = 3000"));
  const std::string shard = scratch.path() + "/out/x/shard-1-of-2";
  {
    Process killed({"run", "x.toml", "--seeds", "1..20", "--jobs", "1", "--shard", "1/2"}, scratch);
    REQUIRE(soon([&] {  // not a temporary file
      if (!fs::exists(shard + "/runs")) return false;
      return std::ranges::any_of(fs::directory_iterator(shard + "/runs"),
                                 [](const auto& entry) { return entry.path().extension() == ".json"; });
    }));
    killed.send(SIGKILL);
    killed.wait();
  }
  const Called again = program("run x.toml --seeds 1..20 --shard 1/2", scratch);
  CHECK(again.exit_code == 0);
  CHECK(contains(again.err, " of 20 runs are in out/x/shard-1-of-2 already"));
  CHECK(contains(again.out, "Shard 1/2: 20 of 20 runs are finished"));
}

TEST_CASE("shard: an unsharded run in the same directory leaves a shard's temporary files alone") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(program("run x.toml --shard 1/2 --quiet", scratch).exit_code == 0);
  const std::string file = scratch.write("out/x/shard-1-of-2/runs/a.json.0123456789abcdef.tmp", "{");
  REQUIRE(program("run x.toml --quiet", scratch).exit_code == 0);
  CHECK(fs::exists(file));
  REQUIRE(program("run x.toml --shard 1/2 --quiet", scratch).exit_code == 0);
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("shard: more shards than runs leave some with nothing to do") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("run x.toml --shard 5/5", scratch);
  CHECK(called.exit_code == 0);
  CHECK(contains(called.out, "Shard 5/5: there are fewer runs than shards, so it has nothing to do"));
}

TEST_CASE("shard: a failed run ends its shard with 4, and the merge as the unsharded run") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "[stop]", "[cluster.watchdog]\nsimulated = \"1ns\"\n[stop]"));
  REQUIRE(program("run x.toml --no-baseline --out whole", scratch).exit_code == 1);
  const Called shard = program("run x.toml --no-baseline --shard 1/1", scratch);
  CHECK(shard.exit_code == 4);
  CHECK(contains(shard.err, "simulated time has passed watchdog.simulated"));
  const Called merged = program("merge out/x/shard-1-of-1 --out merged", scratch);
  CHECK(merged.exit_code == 1);
  CHECK(differing(scratch.path() + "/merged", scratch.path() + "/whole") == "equal");
}

TEST_CASE("shard: parts that cannot be are refused") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* part : {"5/4", "0/3", "3", "/", "1/0", "-1/3", "1/3x", "a/b", "1/1000000", "1.5/3"}) {
    INFO(part);
    const Called called = program(std::string("run x.toml --shard=") + part, scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.err ==
          std::string("--shard ") + part + ": found no shard, expected i/n with 1 <= i <= n <= 100000, such as 1/8\n");
  }
  for (const char* option : {"--json", "--events", "--trace"}) {
    const Called called = program(std::string("run x.toml --shard 1/2 ") + option, scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.err.starts_with(std::string(option) + ": shard 1/2 writes records alone"));
  }
  CHECK(program("run x.toml --shard 1/2 --dry-run", scratch).exit_code == 2);
  const Called empty = program("run x.toml --shard \"$no_such_variable\"", scratch);
  CHECK(empty.exit_code == 2);
  CHECK(empty.err.find("found an empty text, expected i/n, such as 1/8, or all") != std::string::npos);
  CHECK_FALSE(fs::exists(scratch.path() + "/out"));
}

TEST_CASE("shard: the environment stands for the option, in an order, and says so") {
  const std::string slurm =
      "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10 "
      "SLURM_ARRAY_TASK_MAX=14 SLURM_ARRAY_TASK_STEP=2 ";
  const std::string kubernetes = "JOB_COMPLETION_INDEX=0 SIMGRAD_SHARDS=4 ";
  struct Case {
    std::string variables, options, shard, name;
  };
  for (const Case& each : std::vector<Case>{{slurm + kubernetes + "SIMGRAD_SHARD=2/5", "", "2-of-5", "SIMGRAD_SHARD"},
                                            {slurm + kubernetes, "", "3-of-3", "SLURM_ARRAY_TASK_ID"},
                                            {kubernetes, "", "1-of-4", "JOB_COMPLETION_INDEX"},
                                            {slurm, "--shard 1/2", "1-of-2", ""}}) {
    INFO(each.shard);
    const Scratch scratch;
    scratch.write("x.toml", small);
    const Called called = in_environment(each.variables, scratch, each.options);
    CHECK(called.exit_code == 0);
    CHECK(fs::exists(scratch.path() + "/out/x/shard-" + each.shard + "/experiment.json"));
    const std::string said = "simgrad: this is shard " + with(each.shard, "-of-", " of ") + ", by " + each.name +
                             "; --shard all does all runs\n";
    CHECK(contains(called.err, said) == !each.name.empty());
  }
}

TEST_CASE("shard: all runs are done where the environment says nothing whole, or is told to be left out") {
  for (const auto& [variables, options] : std::vector<std::pair<std::string, std::string>>{
           {"SIMGRAD_SHARD=2/5", "--shard all"},
           {"SIMGRAD_SHARD=all SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2", ""},
           {"SIMGRAD_SHARD= SLURM_ARRAY_TASK_ID=", ""},
           {"SIMGRAD_SHARDS=3", ""},
           {"SLURM_ARRAY_TASK_ID=2", ""},
           {"JOB_COMPLETION_INDEX=2", ""}}) {
    INFO(variables);
    const Scratch scratch;
    scratch.write("x.toml", small);
    const Called called = in_environment(variables, scratch, options);
    CHECK(called.exit_code == 0);
    const bool half = variables.starts_with("SLURM_ARRAY_TASK_ID=2") || variables.starts_with("JOB");
    CHECK(contains(called.err, "is not, so that this process does all runs") == half);
    CHECK(fs::exists(scratch.path() + "/out/x/results.json"));
  }
}

TEST_CASE("shard: some tasks of an array that is submitted again, and wrong numbers, are refused") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* variables :
       {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3",
        "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7",
        "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=2", "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=2",
        "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_MAX=3",
        "SIMGRAD_SHARD=3", "JOB_COMPLETION_INDEX=4 SIMGRAD_SHARDS=4", "JOB_COMPLETION_INDEX=1 SIMGRAD_SHARDS=x"}) {
    INFO(variables);
    const Called called = in_environment(variables, scratch);
    CHECK(called.exit_code == 2);
    CHECK(contains(called.err, "expected"));
    CHECK_FALSE(fs::exists(scratch.path() + "/out"));
  }
}

}  // namespace shard_test
