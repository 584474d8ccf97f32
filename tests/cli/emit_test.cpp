// run --emit: a script for Slurm, and a manifest for Kubernetes.
#include "cli/emit.h"

#include <fmt/format.h>

#include "catch.h"
#include "cli/sharded.h"

namespace emit_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// Stands for sbatch: with a script's name it runs every task of the array that the script's #SBATCH lines say, else
/// the script on stdin, both in another directory, as after --chdir. Notes its arguments.
const std::string fake_sbatch = R"(#!/usr/bin/env bash
set -euo pipefail
printf '<%s>' "$@" >> "$SUBMITTED"; printf '\n' >> "$SUBMITTED"
export SLURM_SUBMIT_DIR=$PWD
cd /
if [[ -f ${!#} ]]; then
  tasks=$(sed -n 's/^#SBATCH --array=1-//p' "${!#}")
  cp "${!#}" "$SUBMITTED.spooled"
  for ((i = 1; i <= tasks; ++i)); do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=$tasks bash "$SUBMITTED.spooled" >&2 || exit
  done
  echo "7;cluster"
else
  bash >&2
  echo 8
fi
)";

/// The manifest as Python reads it, one JSON object for each Job.
std::vector<Json> jobs_of(const std::string& manifest, const Scratch& scratch) {
  scratch.write("job.yaml", manifest);
  const Called read = call(
      "python3 -c 'import json, sys, yaml\nfor each in yaml.safe_load_all(open(\"job.yaml\")): "
      "print(json.dumps(each))'",
      scratch.path());
  INFO(read.err);
  REQUIRE(read.exit_code == 0);
  std::vector<Json> jobs;
  for (const std::string& line : lines_of(read.out)) jobs.push_back(Json::parse(line));
  return jobs;
}

/// A container's command as Kubernetes starts it: $(NAME) is replaced, and $$( is $(.
std::vector<std::string> container_command(const Json& job) {
  std::vector<std::string> words;
  for (const Json& word : job["spec"]["template"]["spec"]["containers"][0]["command"]) {
    std::string text = word;
    for (std::size_t at = 0; (at = text.find("$(", at)) != std::string::npos;) {
      REQUIRE(at > 0);
      REQUIRE(text[at - 1] == '$');
      text.erase(at - 1, 1);
    }
    words.push_back(text);
  }
  return words;
}

std::string shell_quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// Names that a script which quotes badly trips over.
const std::vector<std::string> names{"it's $HOME and `pwd`", "a \"b\" $(touch oops) \\ *",
                                     "new\nline; %s {name} #x & y"};

}  // namespace

TEST_CASE("emit: the Slurm script, run with bash, does all shards and merges them, whatever the names are") {
  for (const std::string& name : names) {
    INFO(name);
    const Scratch scratch;
    fs::create_directories(scratch.path() + "/bin");
    const std::string folder = scratch.path() + "/in " + name;
    fs::create_directories(folder);
    scratch.write("in " + name + "/" + name + ".toml",
                  with(small, "kind = \"allreduce\"", "kind = \"allreduce\"\nlabel = \"it's one\""));
    scratch.write("bin/sbatch", fake_sbatch);
    const std::string selection = shell_quoted(name + ".toml") +
                                  " --seeds 1..4 --set 'title=\"it'\\''s $HOME\"' --strategy \"it's one\" --no-why";
    const std::string out = " --out " + shell_quoted("to " + name);
    const std::string there = "cd " + shell_quoted("in " + name) + " && simgrad run " + selection;
    REQUIRE(call(there + " --out whole", scratch.path()).exit_code == 0);
    const Called emitted = call(there + out + " --emit slurm --shards 3 > job.sh", scratch.path());
    CHECK(emitted.exit_code == 0);
    CHECK(emitted.err.empty());
    CHECK_FALSE(fs::exists(folder + "/to " + name));
    REQUIRE(call("cd " + shell_quoted("in " + name) + " && bash -n job.sh", scratch.path()).exit_code == 0);
    CHECK_FALSE(contains(contents(folder + "/job.sh"), scratch.path()));
    const Called run = call(
        "chmod +x bin/sbatch && export SUBMITTED=$PWD/submitted PATH=$PWD/bin:$PATH && "
        "bash " +
            shell_quoted("in " + name + "/job.sh") + " --partition='a b' --array 1-3%2",
        scratch.path());
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == "Array job 7: 3 shards. Job 8: the merge, when all have ended well.\n");
    CHECK(differing(folder + "/to " + name, folder + "/whole") == "equal");
    CHECK_FALSE(fs::exists(folder + "/oops"));
    const std::string submitted = contents(scratch.path() + "/submitted");
    const std::string array = "<--parsable><--partition=a b><--array><1-3%2><" + folder + "/job.sh>\n";
    REQUIRE(submitted.starts_with(array));
    const std::string merge = submitted.substr(array.size());
    CHECK(contains(merge, "<--time=0:05:00><--mem="));
    CHECK_FALSE(contains(merge, "1-3"));
    CHECK(contains(merge, "<--dependency=afterok:7><--kill-on-invalid-dep=yes><--partition=a b>"));
    CHECK_FALSE(contains(merge, "--array"));
  }
}

TEST_CASE("emit: a task of the array passes on the code of its shard, but for runs that failed") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "[stop]", "[cluster.watchdog]\nsimulated = \"1ns\"\n[stop]"));
  REQUIRE(call("simgrad run x.toml --emit slurm --shards 2 > job.sh", scratch.path()).exit_code == 0);
  CHECK(call("SLURM_ARRAY_TASK_ID=1 bash job.sh", scratch.path()).exit_code == 0);
  CHECK(call("SLURM_ARRAY_TASK_ID=3 bash job.sh", scratch.path()).exit_code == 2);
  scratch.write("x.toml", "?");
  CHECK(call("SLURM_ARRAY_TASK_ID=1 bash job.sh", scratch.path()).exit_code == 2);
}

TEST_CASE("emit: the Slurm script says what it lacks") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  REQUIRE(call("simgrad run x.toml --emit slurm --shards 2 > job.sh", scratch.path()).exit_code == 0);
  const Called piped = call("bash < job.sh", scratch.path());
  CHECK(piped.exit_code == 2);
  CHECK(contains(piped.err, "Save this script as a file"));
  const Called lost = call("SIMGRAD=nowhere/simgrad bash job.sh", scratch.path());
  CHECK(lost.exit_code == 2);
  CHECK(contains(lost.err, "nowhere/simgrad: not found"));
}

TEST_CASE("emit: time and memory are guessed from trials, and the script says so") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string script = program("run x.toml --emit slurm --shards 2", scratch).out;
  CHECK(contains(script, "# --time and --mem are guesses, from short trials on the machine that printed this"));
  CHECK(contains(script, "3 times the time of a shard, and 2 times the memory"));
  CHECK(contains(script, "\n#SBATCH --time=0:05:00\n#SBATCH --mem="));  // the least
  const std::string manifest = program("run x.toml --emit kubernetes --shards 2", scratch).out;
  CHECK(contains(manifest, "# The memory that is requested is a guess, from short trials"));
  CHECK(contains(manifest, "\n              memory: \""));
}

TEST_CASE("emit: a task has time for its part and one run besides, the merge for a seventh, each three times") {
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  simgrad::cli::Sharded command{.name = "x", .words = {"simgrad", "run", "x.toml"}, .out = "o", .merge = {}, .jobs = 2};
  command.estimate = {.runs = 8, .wall_s = 7200, .longest_s = 600, .run_bytes = 4 * gibibyte};
  const auto script = [&] { return emitted({.engine = "slurm", .shards = 4, .image = ""}, command); };
  // 3 (7200 / 4 + 600) = 7200 s, and of the merge, whose work is that of two jobs: 3 (2 7200 / 7 + 20) = 6231 s.
  CHECK(contains(script(), "\n#SBATCH --time=2:00:00\n"));
  CHECK(contains(script(), "-merge --time=1:45:00 "));
  CHECK(contains(script(), "\nmemory=(--mem="));
  CHECK(contains(script(), "All runs would take about 2 h"));
  // Twice two runs of 4 GiB and this process, which has less than 1 GiB.
  const std::string from = "\n#SBATCH --mem=", text = script();
  const int mebibytes = std::stoi(text.substr(text.find(from) + from.size()));
  CHECK(mebibytes % 512 == 0);
  CHECK(mebibytes > 16 * 1024);
  CHECK(mebibytes <= 18 * 1024);
  CHECK(contains(emitted({.engine = "kubernetes", .shards = 4, .image = "a"}, command),
                 fmt::format("\n              memory: \"{}Mi\"\n", mebibytes)));
  command.estimate.wall_s = 7200 + 1;
  CHECK(contains(script(), "\n#SBATCH --time=2:05:00\n"));
  const auto check_unlimited = [&](const std::string& reason) {
    for (const char* engine : {"slurm", "kubernetes"}) {
      const std::string unknown = emitted({.engine = engine, .shards = 4, .image = "a"}, command);
      CHECK(contains(unknown, "\n# No limits are guessed: " + reason));
      for (const char* limit : {"--time=", "--mem=", "memory:"}) CHECK_FALSE(contains(unknown, limit));
    }
  };
  command.estimate.at_least = true;  // a limit would end the task
  check_unlimited("all runs take at least 2 h");
  command.estimate.unknown = "the data are too large to try a run";
  check_unlimited("the data are too large to try a run.\n");
}

TEST_CASE("emit: the numbers of jobs and threads are the cores that a task asks for") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string script =
      program("run x.toml --emit slurm --shards 2 --jobs 3 --threads 2 --language zh", scratch).out;
  CHECK(contains(script, "#SBATCH --cpus-per-task=6\n"));
  CHECK(contains(script, " run x.toml --out out/x --jobs 3 --threads 2 --shard \"$SLURM_ARRAY_TASK_ID/2\""));
  CHECK(contains(script, " merge out/x/shard-*-of-2 --out out/x --language zh\n"));
}

TEST_CASE("emit: the manifest is YAML whose commands do all shards and merge them, whatever the names are") {
  if (call("python3 -c 'import yaml'", ".").exit_code != 0) {
    WARN("skipped: python3-yaml is not installed");
    return;
  }
  for (const std::string& name : names) {
    INFO(name);
    const Scratch scratch;
    scratch.write(name + ".toml", small);
    const std::string run = "run " + shell_quoted(name + ".toml") + " --seeds 1..3 --no-why ";
    REQUIRE(program(run + "--out whole", scratch).exit_code == 0);
    const Called emitted =
        program(run + "--out " + shell_quoted("to " + name) + " --emit kubernetes --shards 2 --image a/b:1", scratch);
    CHECK(emitted.exit_code == 0);
    const auto jobs = jobs_of(emitted.out, scratch);
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0]["spec"]["completionMode"] == "Indexed");
    CHECK(jobs[0]["spec"]["completions"] == 2);
    CHECK(jobs[1]["spec"]["suspend"] == true);
    for (const Json& job : jobs) {
      const Json& container = job["spec"]["template"]["spec"]["containers"][0];
      CHECK(container["image"] == "a/b:1");
      std::string variables;
      if (container.contains("env"))
        for (const Json& variable : container["env"])
          variables += variable["name"].get<std::string>() + "=" + variable["value"].get<std::string>() + " ";
      std::string line;
      for (const std::string& word : container_command(job)) line += " " + shell_quoted(word);
      for (int index = 0; index < job["spec"].value("completions", 1); ++index) {
        const Called done =
            call(fmt::format("env {} JOB_COMPLETION_INDEX={} {}", variables, index, line), scratch.path());
        INFO(done.err);
        CHECK(done.exit_code == 0);
      }
    }
    CHECK(differing(scratch.path() + "/to " + name, scratch.path() + "/whole") == "equal");
    CHECK_FALSE(fs::exists(scratch.path() + "/oops"));
  }
}

TEST_CASE("emit: names of Jobs are made of letters, digits and hyphens") {
  const Scratch scratch;
  scratch.write("My grid_2!.toml", small);
  const std::string manifest = program("run 'My grid_2!.toml' --emit kubernetes --shards 2", scratch).out;
  CHECK(contains(manifest, "\n  name: simgrad-my-grid-2-shards\n"));
  CHECK(contains(manifest, "\n  name: simgrad-my-grid-2-merge\n"));
  CHECK(contains(manifest, "image: \"simgrad:0"));
}

TEST_CASE("emit: options that contradict it, and a missing number of shards, are refused") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* options : {"--json", "--dry-run", "--shard 1/2", "--force", "--trace", "--events", "--shards 0"}) {
    INFO(options);
    const Called called = program(std::string("run x.toml --emit slurm --shards 2 ") + options, scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.out.empty());
  }
  CHECK(program("run x.toml --emit slurm", scratch).err == "--emit slurm needs --shards N, the number of shards\n");
  CHECK(program("run x.toml --emit pbs --shards 2", scratch).exit_code == 2);
  for (const char* options : {"--shards 2", "--image a", "--emit slurm --shards 2 --image a"}) {
    INFO(options);
    CHECK(program(std::string("run x.toml ") + options, scratch).exit_code == 2);
  }
  CHECK_FALSE(fs::exists(scratch.path() + "/out"));
}

TEST_CASE("emit: more shards than runs are told") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  CHECK(program("run x.toml --emit slurm --shards 5", scratch).err ==
        "simgrad: 2 runs to simulate are fewer than 5 shards: some will have nothing to do\n");
}

}  // namespace emit_test
