// The workflow for GitHub in docs/scenarios.md: it is YAML, its actions are pinned, and its commands run.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "house/documents.h"

namespace workflow_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::string workflow() {
  const std::vector<std::string> blocks = fenced(text_of("docs/scenarios.md"), "yaml");
  REQUIRE(blocks.size() == 1);
  CHECK(fenced(text_of("docs/scenarios.zh.md"), "yaml") == blocks);
  return blocks.front();
}

/// The workflow as Python reads it; null without the package.
Json workflow_read(const Scratch& scratch) {
  if (call("python3 -c 'import yaml'", scratch.path()).exit_code != 0) {
    WARN("skipped: python3-yaml is not installed");
    return {};
  }
  scratch.write("w.yml", workflow());
  // The key "on" is true in YAML 1.1.
  const Called read = call(
      "python3 -c 'import json, yaml\nprint(json.dumps({str(k): v for k, v in "
      "yaml.safe_load(open(\"w.yml\")).items()}))'",
      scratch.path());
  INFO(read.err);
  REQUIRE(read.exit_code == 0);
  return Json::parse(read.out);
}

/// The actions and containers of a workflow's text: "actions/checkout@11bd...".
std::set<std::string> pinned(const std::string& text, const std::string& key) {
  std::set<std::string> all;
  const std::regex line(key + R"(: (\S+))");
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) all.insert((*at)[1]);
  return all;
}

}  // namespace

TEST_CASE("the documented workflow names actions by commit and its container by digest, those of CI as CI does") {
  const std::string text = workflow(), ci = text_of(".github/workflows/ci.yml");
  const std::set<std::string> actions = pinned(text, "uses");
  CHECK(actions.size() == 3);
  for (const std::string& action : actions) {
    INFO(action);
    CHECK(std::regex_match(action, std::regex("actions/[a-z-]+@[0-9a-f]{40}")));
  }
  for (const std::string& action : pinned(ci, "uses")) CHECK(actions.contains(action));
  CHECK(pinned(text, "container") == pinned(ci, "container"));
}

TEST_CASE("the documented workflow builds where nothing is cached, and its commands write the files that it uploads") {
  const Scratch scratch;
  const Json read = workflow_read(scratch);
  if (read.is_null()) return;
  CHECK(read["permissions"] == Json{{"contents", "read"}});
  const Json& steps = read["jobs"]["check"]["steps"];
  fs::create_directory(scratch.path() + "/scenarios");
  scratch.write("scenarios/mine.toml", scenarios_in(text_of("docs/scenarios.md")).at("mine.toml"));
  fs::create_directories(scratch.path() + "/simgrad/build");
  fs::create_symlink(SIMGRAD_PROGRAM, scratch.path() + "/simgrad/build/simgrad");
  std::vector<std::string> left_out;
  int ran = 0;
  for (const Json& step : steps) {
    if (!step.contains("run")) continue;
    const std::string command = step["run"];
    const bool builds = command.find("build/simgrad ") == std::string::npos;
    if (builds) {  // as CI itself does: it takes a network, and long
      left_out.push_back(command);
      continue;
    }
    const Called called = call("set -e\n" + command, scratch.path());
    INFO(command << called.out << called.err);
    if (called.exit_code == 5 && called.err.find("without Node") != std::string::npos) {
      WARN("no reports, for simgrad was built without Node");
      return;
    }
    CHECK(called.exit_code == 0);
    ++ran;
  }
  CHECK(ran == 2);
  REQUIRE(left_out.size() == 3);
  CHECK(left_out[1] == "simgrad/script/bootstrap");
  CHECK(fs::exists(source_dir() / "script/bootstrap"));
  CHECK(left_out[2].find("--target simgrad") != std::string::npos);
  std::istringstream uploaded(steps.back()["with"]["path"].get<std::string>());
  for (std::string file; std::getline(uploaded, file);) {
    INFO(file);
    CHECK(call("ls " + file, scratch.path()).exit_code == 0);
  }
}

}  // namespace workflow_test
