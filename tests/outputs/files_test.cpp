#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/errors.h"
#include "catch.h"
#include "sample.h"

namespace files_test {

using namespace simgrad;
using namespace simgrad::outputs;
namespace fs = std::filesystem;

namespace {

/// A directory of its own, gone with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("simgrad-outputs-" + std::to_string(std::random_device()()))) {
    fs::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("a file is written, read and replaced whole, and no temporary is left") {
  const Folder folder;
  write_file(folder / "a", "one");
  CHECK(read_file(folder / "a") == "one");
  const std::string large(300'000, '\0');  // more than a block, and bytes that end a C string
  write_file(folder / "a", large);
  CHECK(read_file(folder / "a") == large);
  CHECK(folder.files() == 1);
}

TEST_CASE("a device that the command line names is written to, and stays a device") {
  write_named_file("/dev/null", "text");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK_THROWS_WITH(write_named_file("/dev/full", "text"), "/dev/full: cannot be written: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a link that the command line names is followed, and one in a directory of results is replaced") {
  const Folder folder;
  std::ofstream(folder / "target") << "before";
  fs::create_symlink("target", folder / "named");
  write_named_file(folder / "named", "text");
  CHECK(fs::is_symlink(folder / "named"));
  CHECK(read_file(folder / "target") == "text");
  fs::create_symlink("target", folder / "inside");
  write_file(folder / "inside", "other");
  CHECK_FALSE(fs::is_symlink(folder / "inside"));
  CHECK(read_file(folder / "inside") == "other");
  CHECK(read_file(folder / "target") == "text");
}

TEST_CASE("a pipe in a directory of results is replaced, and nobody waits for its reader") {
  const Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  alarm(20);  // a writer that waits ends the test
  write_file(folder / "pipe", "text");
  alarm(0);
  CHECK(read_file(folder / "pipe") == "text");
}

TEST_CASE("a file that cannot be put in place leaves what was there and no temporary") {
  const Folder folder;
  fs::create_directories(folder / "taken/full");
  CHECK_THROWS_AS(write_file(folder / "taken", "text"), base::EnvironmentError);
  CHECK(fs::is_directory(folder / "taken"));
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that cannot be written or read is named with the system's reason") {
  const Folder folder;
  std::ofstream(folder / "file") << "text";
  // A file in the place of a directory stops even root, whom permissions do not.
  CHECK_THROWS_WITH(write_file(folder / "file/a", "text"),
                    (folder / "file/a") + ": cannot be written: Not a directory");
  CHECK_THROWS_WITH(read_file(folder / "none"), (folder / "none") + ": cannot be opened: No such file or directory");
  CHECK_THROWS_WITH(read_file(folder / "."), (folder / ".") + ": is a directory; expected a regular file");
  CHECK_THROWS_AS(write_all({}, folder / "file/out"), base::EnvironmentError);
}

TEST_CASE("write_all makes the directory and the six files, the same bytes each time") {
  const Folder folder;
  write_all(six_runs(), folder / "deep/out");
  CHECK(read_file(folder / "deep/out/results.json") == results_json(six_runs()));
  CHECK(read_file(folder / "deep/out/runs.csv") == runs_csv(six_runs()));
  CHECK(read_file(folder / "deep/out/summary.csv") == summary_csv(six_runs()));
  CHECK(read_file(folder / "deep/out/curves.csv") == curves_csv(six_runs()));
  CHECK(read_file(folder / "deep/out/ranks.csv") == ranks_csv(six_runs()));
  CHECK(read_file(folder / "deep/out/links.csv") == links_csv(six_runs()));
  write_all(six_runs(), folder / "deep/out");
  CHECK(std::distance(fs::directory_iterator(folder / "deep/out"), fs::directory_iterator()) == 6);
}

}  // namespace files_test
