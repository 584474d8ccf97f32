// Files that somebody else may have made: devices and pipes wherever a path stands, and texts that would take minutes.
#include <sys/stat.h>

#include <functional>

#include "cli/refusal.h"

namespace hostile_files_test {

using namespace simgrad::tests;

namespace {

const std::string files_data = "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n";

std::string with_data(const std::string& table) { return with(small, files_data, table); }
std::string with_cluster(const std::string& option) { return with(small, "[data]", option + "\n[data]"); }
std::string with_model(const std::string& options) {
  return with(with(small, "kind = \"least_squares\"", options), "features = 5\n", "");
}
std::string with_gossip(const std::string& option) {
  return with_strategies("[[strategy]]\nkind = \"gossip\"\n" + option + "\n");
}

/// Scenarios that name the file PATH, one for each kind of file.
const std::vector<std::string> scenarios{
    "extends = \"PATH\"\n",
    with_data("source = \"csv\"\npath = \"PATH\"\n"),
    with_data("source = \"libsvm\"\npath = \"PATH\"\n"),
    with(with_data("source = \"libsvm\"\npath = \"PATH\"\n"), "least_squares", "sparse_logistic"),
    with_data("source = \"idx\"\npath = \"PATH\"\nlabels_path = \"PATH\"\n"),
    with_data("source = \"npy\"\npath = \"PATH\"\nlabels_path = \"PATH\"\n"),
    with(with_data("source = \"text\"\npath = \"PATH\"\n"), "kind = \"least_squares\"",
         "kind = \"transformer\"\nlayers = 1\nhidden = 8\nheads = 2\nsequence = 4\n"),
    with_cluster("stragglers = { kind = \"trace\", file = \"PATH\" }"),
    with_cluster("failures = { hosts = { kind = \"trace\", path = \"PATH\" } }"),
    with_cluster("collectives = { measured = \"PATH\" }"),
    with_model("kind = \"transformer\"\nconfig = \"PATH\""),
    with_model("kind = \"profile\"\npath = \"PATH\""),
    with_model("kind = \"operator_graph\"\npath = \"PATH\""),
    with_gossip("graph = { kind = \"file\", path = \"PATH\" }"),
    with_gossip("mixing = { kind = \"file\", path = \"PATH\" }"),
};

/// The program's answer to x.toml within 10 s of processor time and 3 GB of memory.
Called answer(const std::string& command, const Scratch& scratch) {
  return call("ulimit -t 10 && ulimit -v 3000000 && timeout 60 simgrad " + command, scratch.path());
}

std::string many(int count, const std::function<std::string(int)>& each) {
  std::string text;
  for (int k = 0; k < count; ++k) text += each(k);
  return text;
}

/// x.toml is refused with 2, in few lines, the first of which contains the text.
void check_answered(const std::string& scenario, const std::string& expected) {
  const Scratch scratch;
  scratch.write("x.toml", scenario);
  const Called called = answer("validate x.toml", scratch);
  CHECK(called.exit_code == 2);
  const std::vector<std::string> lines = lines_of(called.err);
  REQUIRE(!lines.empty());
  CHECK(lines.size() <= 21);
  CHECK_THAT(lines[0].substr(0, 1000), ContainsSubstring(expected));
}

}  // namespace

TEST_CASE("a device, a pipe to which nobody writes and a directory are refused wherever a path stands, at once") {
  const Scratch scratch;
  REQUIRE(mkfifo((scratch.path() + "/pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(scratch.path() + "/folder");
  for (const auto& [path, kind] :
       {std::pair("/dev/zero", "a device"), std::pair("pipe", "a pipe"), std::pair("folder", "a directory")})
    for (const std::string& scenario : scenarios) {
      INFO(scenario);
      std::string text = scenario;
      for (auto at = text.find("PATH"); at != std::string::npos; at = text.find("PATH")) text.replace(at, 4, path);
      scratch.write("x.toml", text);
      for (const char* command : {"validate x.toml", "run x.toml --quiet"}) {
        const Called called = answer(command, scratch);
        CHECK(called.exit_code == 5);
        CHECK(called.err.size() < 400);
        CHECK_THAT(called.err, EndsWith(std::string(path) + ": is " + kind + "; expected a regular file\n"));
      }
    }
}

TEST_CASE("a stored baseline, measurements and runs to predict are regular files") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  for (const char* command :
       {"check x.toml --baseline /dev/zero", "calibrate x.toml --runs /dev/zero --fit cluster.bandwidth",
        "calibrate --network /dev/zero"}) {
    INFO(command);
    const Called called = answer(command, scratch);
    CHECK(called.exit_code == 5);
    CHECK_THAT(called.err, EndsWith("/dev/zero: is a device; expected a regular file\n"));
  }
}

TEST_CASE("the scenario of the command line may come through a pipe, and a device is none") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called direct = answer("validate x.toml --resolved", scratch);
  REQUIRE(direct.exit_code == 0);
  const Called piped = call("cat x.toml | timeout 60 simgrad validate /dev/stdin --resolved", scratch.path());
  CHECK(piped.exit_code == 0);
  CHECK(piped.out == direct.out);
  for (const char* device : {"/dev/zero", "/dev/null"}) {
    const Called called = answer(std::string("validate ") + device, scratch);
    CHECK(called.exit_code == 5);
    CHECK(called.err == std::string(device) + ": is a device; expected a regular file\n");
  }
}

TEST_CASE("a text with a NUL byte is refused before the rest of it is read") {
  const Scratch scratch;
  const std::string path = scratch.write("x.toml", std::string("seed = 1\n\0", 10));
  std::filesystem::resize_file(path, 60 << 20);
  const Called called = answer("validate x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.err == "x.toml:2:1: a NUL byte, expected text in UTF-8 or ASCII\n");
}

TEST_CASE("a megabyte of unknown keys, tables, texts and levels is refused within moments") {
  check_answered(with(small, "[cluster]\n",
                      "[cluster]\n" + many(8000, [](int k) { return "wokers" + std::to_string(k) + " = 1\n"; })),
                 "unknown key \"wokers0\" in [cluster]; did you mean \"workers\"?");
  check_answered(many(90'000, [](int k) { return "x" + std::to_string(k) + " = 1\n"; }) + small,
                 "a table of 90008 keys, expected at most 10000");
  check_answered(small + many(3,
                              [](int t) {
                                const std::string name(1, static_cast<char>('a' + t));
                                return "[" + name + "]\n" + many(9999, [&](int k) {
                                         return "[" + name + ".t" + std::to_string(k) + "]\nx = 1\n";
                                       });
                              }),
                 "unknown key \"a\"");
  check_answered(with(small, "\"small\"", '"' + std::string(50'000'000, 'x') + '"'),
                 "x.toml:1:9: a text of 50000000 bytes, expected at most 10000");
}

TEST_CASE("a megabyte of axes, of values and of jobs is refused within moments") {
  const auto axis = [](int k) { return "\"a.b" + std::to_string(k) + "\" = [1]\n"; };
  check_answered(small + "[grid]\n" + many(9999, axis), "[grid] varies 9999 keys, expected at most 1000");
  check_answered(small + many(33'000, [&](int k) { return "[[grid.zip]]\n" + axis(k); }),
                 "[grid] varies 33000 keys, expected at most 1000");
  const auto values = many(19'500, [](int k) { return std::to_string(k) + ","; });
  check_answered(small + "[grid]\nseed = [" + values + values + "]\n",
                 "these are 39000 values; at most 20000 are allowed");
  check_answered(with(small, "[cluster]\n", "[cluster]\nwrkers = 1\n") + "[grid]\nseed = [" + values + "]\n",
                 "unknown key \"wrkers\" in [cluster]; did you mean \"workers\"?");
  check_answered(small + many(40'000, [](int k) { return "[[job]]\nname = \"j" + std::to_string(k) + "\"\n"; }),
                 "40000 jobs are too many; expected at most 256");
}

TEST_CASE("two thousand files that extend each other are refused within moments") {
  const Scratch scratch;
  for (int k = 0; k < 2000; ++k)
    scratch.write("c" + std::to_string(k) + ".toml", "extends = \"c" + std::to_string(k + 1) + ".toml\"\n");
  const Called called = answer("validate c0.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.err == "c31.toml:1:11: more than 32 files extend each other, expected at most that many\n");
}

TEST_CASE("a hundred thousand columns to ignore, and as many neighbours of one rank, are answered within moments") {
  const Scratch scratch;
  constexpr int columns = 75'000;
  const auto all = [](const std::function<std::string(int)>& each) {
    return many(columns, [&](int k) { return each(k) + (k + 1 < columns ? "," : "\n"); });
  };
  scratch.write("d.csv", all([](int k) { return "c" + std::to_string(k); }) + all([](int) { return "1"; }));
  scratch.write("x.toml", with_data("source = \"csv\"\npath = \"d.csv\"\nignore = [" +
                                    all([](int k) { return '"' + std::to_string(k) + '"'; }) + "]\n"));
  Called called = answer("validate x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.err == "d.csv:1: every column is to be ignored, expected some to remain\n");
  scratch.write("edges", many(120'000, [](int k) { return "0 " + std::to_string(k + 1) + "\n"; }));
  scratch.write("x.toml", with(with(with_gossip("graph = { kind = \"file\", path = \"edges\" }"), "workers = 4",
                                    "workers = 120001"),
                               "samples = 200", "samples = 200000"));
  called = answer("validate x.toml", scratch);
  CHECK(called.exit_code == 0);
}

}  // namespace hostile_files_test
