// --force removes what is the program's by name and by contents, and nothing else.
#include "experiment/run/left_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/errors.h"
#include "catch.h"
#include "outputs/files/byte_file.h"
#include "scratch.h"
#include "values/contents.h"

namespace left_files_test {

using namespace simgrad;
using namespace simgrad::experiment;
using simgrad::tests::contents;
using simgrad::tests::Scratch;
namespace fs = std::filesystem;

namespace {

const std::string id = "0123456789abcdef";

struct File {
  std::string name;
  std::string text;  ///< as the program begins it
};

std::vector<File> ours() {
  return {
      {"runs/" + id + ".json", "{\"id\":\"" + id + "\",\"strategy\":\"single\"}"},
      {"runs/gossip-w8-s1-" + id + ".json", "{\"id\":\"" + id + "\",\"strategy\":\"single\"}"},
      {"runs/parameter_server-consistency-asp-w8-s1-" + id + ".json.damaged", "{\"id\":\"" + id + "\",\"str"},
      {"models/" + id + ".model", "{\"format\":\"simgrad model\",\"version\":1}\n"},
      {"timelines/gossip-w8-s1-" + id + ".json.gz", "{\n  \"schema\": 1,\n  \"run\": \"" + id + "\",\n  \"from_s\": 0"},
      {"trajectories/" + id, "simgrad trajectory 1 12 -inf\n"},
      {"trajectories/" + id + ".state", values::text_of({})},
      {"trace/" + id + ".json", "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"simgrad\":\"1\"}"},
      {"trace/gossip-w8-s1-" + id + ".json.gz", "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"simgrad\":\"1\"}"},
      {"events/" + id + ".txt",
       "     from [s]        to [s]  who        kind        what           step     bytes  peer\n"},
      {"trials.json", "{\"checksum\":\"x\"}"},
      {"pairs.csv", "label,other,compared_by,seeds,behind,behind_low,behind_high,p,p_holm,param.cluster.workers\n"},
      {"summary.tex", "% Tables by simgrad report --latex. Needs \\usepackage{booktabs}.\n"},
      {"report.html", "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>simgrad</title>\n"},
      {"results.sqlite", std::string("SQLite format 3\0", 16)}};
}

/// Writes a file with its folder, packed if its name ends in ".gz".
void put(const Scratch& scratch, const std::string& name, const std::string& text) {
  const std::string path = scratch.path() + "/" + name;
  fs::create_directories(fs::path(path).parent_path());
  outputs::ByteFile file(path);
  file.write(text);
  file.close();
}

}  // namespace

TEST_CASE("files of a replaced experiment are removed, and files of other contents under their names stay") {
  for (const File& file : ours()) {
    INFO(file.name);
    const Scratch scratch;
    const std::string path = scratch.path() + "/" + file.name;
    put(scratch, file.name, file.text);
    remove_files_of_experiment(scratch.path());
    CHECK_FALSE(fs::exists(path));
    for (const std::string& text : {std::string("a user's text\n"), std::string(), "x" + file.text}) {
      put(scratch, file.name, text);
      remove_files_of_experiment(scratch.path());
      CHECK(fs::exists(path));
    }
  }
}

TEST_CASE("files of a replaced experiment stay where they have another name, or stand in another folder") {
  for (const File& file : ours()) {
    const fs::path name = file.name;
    for (const std::string& other :
         {"elsewhere/" + name.filename().string(), file.name + ".bak", (name.parent_path() / "mine.json").string()}) {
      INFO(other);
      const Scratch scratch;
      put(scratch, other, file.text);
      remove_files_of_experiment(scratch.path());
      CHECK(fs::exists(scratch.path() + "/" + other));
    }
  }
}

TEST_CASE("a link, a pipe or a directory with the name of a replaced experiment's file stays") {
  for (const File& file : ours()) {
    INFO(file.name);
    const Scratch scratch;
    const std::string path = scratch.path() + "/" + file.name;
    fs::create_directories(fs::path(path).parent_path());
    put(scratch, "elsewhere" + fs::path(path).extension().string(), file.text);
    const std::string target = scratch.path() + "/elsewhere" + fs::path(path).extension().string();
    const std::string before = contents(target);
    alarm(20);  // a pipe that is waited for ends the test
    fs::create_symlink(target, path);
    remove_files_of_experiment(scratch.path());
    CHECK(fs::is_symlink(path));
    CHECK(contents(target) == before);
    fs::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    remove_files_of_experiment(scratch.path());
    CHECK(fs::is_fifo(path));
    fs::remove(path);
    fs::create_directory(path);
    remove_files_of_experiment(scratch.path());
    CHECK(fs::is_directory(path));
    alarm(0);
  }
}

TEST_CASE("temporary files are removed where they would have become a file of the program's") {
  const Scratch scratch;
  const std::string ending = ".fedcba9876543210.tmp";
  std::vector<std::string> own{"results.json" + ending, "runs.csv" + ending, "plan.json" + ending,
                               "trace/run.json" + ending};
  for (const File& file : ours()) own.push_back(file.name + ending);
  std::vector<std::string> others{"notes.txt" + ending,
                                  "runs/mine.txt" + ending,
                                  "trajectories/mine" + ending,
                                  "runs/" + id + ending,
                                  "elsewhere/" + id + ".json" + ending,
                                  "models/" + id + ".json" + ending};
  for (const auto* names : {&own, &others})
    for (const std::string& name : *names) put(scratch, name, "half a file");
  fs::create_directory(scratch.path() + "/trace/" + id + ".json" + ending + "x");
  REQUIRE(mkfifo((scratch.path() + "/summary.csv" + ending).c_str(), 0600) == 0);
  alarm(20);
  remove_temporary_files(scratch.path());
  alarm(0);
  for (const std::string& name : own) {
    INFO(name);
    CHECK_FALSE(fs::exists(scratch.path() + "/" + name));
  }
  for (const std::string& name : others) {
    INFO(name);
    CHECK(fs::exists(scratch.path() + "/" + name));
  }
  CHECK(fs::is_fifo(scratch.path() + "/summary.csv" + ending));
}

TEST_CASE("each folder of a results directory is refused where it is a link") {
  for (const char* folder : {"runs", "models", "timelines", "trajectories", "trace", "events"}) {
    const Scratch scratch;
    CHECK_NOTHROW(refuse_linked_folders(scratch.path()));
    const std::string path = scratch.path() + "/" + folder;
    fs::create_directory_symlink("elsewhere", path);
    CHECK_THROWS_WITH(refuse_linked_folders(scratch.path()),
                      path +
                          ": is a link; expected a folder, since what lies behind a link is not the program's to "
                          "change");
  }
}

}  // namespace left_files_test
