// Temporary files: a writer that is alive keeps its file, and one that is gone does not.
#include "outputs/files/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/errors.h"
#include "catch.h"
#include "outputs/files/byte_file.h"
#include "outputs/results.h"
#include "scratch.h"

namespace {

std::vector<ino_t> synchronised_inodes;

}  // namespace

/// In place of the C library's: notes the file.
extern "C" int fsync(int file) {
  struct stat found = {};
  if (fstat(file, &found) == 0) synchronised_inodes.push_back(found.st_ino);
  return 0;
}

namespace temporary_file_test {

using namespace simgrad;
using namespace simgrad::outputs;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) files.push_back(entry.path().string());
  return files;
}

ino_t inode(const std::string& path) {
  struct stat found = {};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return found.st_ino;
}

/// Calls a function with a name of its own while a writer has a file half written there.
template <class Use>
void half_written(const std::string& path, Use use) {
  write_file(path, [&](const Sink& sink) {
    sink("one ");
    use();
    sink("two");
  });
}

}  // namespace

TEST_CASE("a temporary file that is being written is not removed, and is the whole file at the end") {
  const tests::Scratch scratch;
  const std::string path = scratch.path() + "/a.json";
  half_written(path, [&] {
    const auto files = files_in(scratch.path());
    REQUIRE(files.size() == 1);
    CHECK(is_temporary_name(fs::path(files.front()).filename().string()));
    remove_abandoned(files.front());
    CHECK(fs::exists(files.front()));
  });
  CHECK(read_file(path) == "one two");
  CHECK(files_in(scratch.path()).size() == 1);
}

TEST_CASE("a file that is kept on the disk is there as a whole, and so is its name") {
  const tests::Scratch scratch;
  const std::string path = scratch.path() + "/a.json";
  synchronised_inodes.clear();
  TemporaryFile file(path);
  file.write("one");
  file.keep_on_disk();
  CHECK(read_file(path) == "one");
  CHECK(files_in(scratch.path()).size() == 1);
  // First the contents, then the name: a name must not be found without contents.
  CHECK(synchronised_inodes == std::vector{inode(path), inode(scratch.path())});
}

TEST_CASE("a temporary file whose writer was killed is removed") {
  const tests::Scratch scratch;
  const std::string path = scratch.path() + "/a.json";
  const pid_t writer = fork();
  if (writer == 0) {
    half_written(path, [] { kill(getpid(), SIGKILL); });
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(writer, &status, 0) == writer);
  REQUIRE(WIFSIGNALED(status));
  const auto files = files_in(scratch.path());
  REQUIRE(files.size() == 1);
  CHECK(is_temporary_name(fs::path(files.front()).filename().string()));
  remove_abandoned(files.front());
  CHECK(files_in(scratch.path()).empty());
}

TEST_CASE("a writer whose file is removed before it has the lock writes another one") {
  const tests::Scratch scratch;
  const std::string path = scratch.path() + "/a.json";
  // The remover of all files runs beside the writer; each file that it catches without a lock is made again.
  const pid_t remover = fork();
  if (remover == 0) {
    for (;;)
      for (const std::string& file : files_in(scratch.path()))
        if (is_temporary_name(fs::path(file).filename().string())) remove_abandoned(file);
  }
  for (int i = 0; i < 2000; ++i) write_file(path, "text");
  kill(remover, SIGKILL);
  waitpid(remover, nullptr, 0);
  CHECK(read_file(path) == "text");
}

TEST_CASE("names of temporary files are ours alone") {
  for (const char* name : {"a.json.0123456789abcdef.tmp", ".x.0123456789abcdef.tmp"}) CHECK(is_temporary_name(name));
  for (const char* name : {"a.tmp", "a.json.tmp", "a.0123456789abcde.tmp", "a.0123456789abcdeg.tmp", "a.json",
                           ".0123456789abcdef.tmp", "0123456789abcdef.tmp", ".tmp", ""}) {
    INFO(name);
    CHECK_FALSE(is_temporary_name(name));
  }
}

TEST_CASE("link_or_copy gives a file a second name, replaces what is there, and may be repeated") {
  const tests::Scratch scratch;
  const std::string from = scratch.write("from", "text"), path = scratch.write("path", "other");
  for (int i = 0; i < 2; ++i) {
    link_or_copy(from, path);
    CHECK(fs::equivalent(from, path));
    CHECK(files_in(scratch.path()).size() == 2);
  }
}

TEST_CASE("link_or_copy follows no link, waits for no pipe, and replaces those that are in its place") {
  const tests::Scratch scratch;
  const std::string secret = scratch.write("secret", "a key"), path = scratch.path() + "/path";
  const std::string link = scratch.path() + "/link", pipe = scratch.path() + "/pipe";
  fs::create_symlink(secret, link);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  alarm(20);  // one that waits ends the test
  CHECK_THROWS_WITH(link_or_copy(link, path), link + ": is a link; expected a regular file");
  CHECK_THROWS_WITH(link_or_copy(pipe, path), pipe + ": is a pipe; expected a regular file");
  CHECK_FALSE(fs::exists(path));
  const std::string from = scratch.write("from", "text");
  for (const std::string& there : {link, pipe}) {
    link_or_copy(from, there);
    CHECK(fs::is_regular_file(fs::symlink_status(there)));
    CHECK(read_file(there) == "text");
  }
  alarm(0);
  CHECK(read_file(secret) == "a key");
}

TEST_CASE("what has a temporary file's name and is no regular file stays") {
  const tests::Scratch scratch;
  const std::string pipe = scratch.path() + "/a.json.0123456789abcdef.tmp";
  const std::string link = scratch.path() + "/b.json.0123456789abcdef.tmp";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink(scratch.write("target", "text"), link);
  alarm(20);
  for (const std::string& file : {pipe, link}) {
    remove_abandoned(file);
    CHECK(fs::exists(fs::symlink_status(file)));
  }
  alarm(0);
  CHECK(final_name("a.json.0123456789abcdef.tmp") == "a.json");
}

TEST_CASE("link_or_copy copies between file systems") {
  const tests::Scratch scratch;
  const std::string memory = "/dev/shm";
  if (!fs::is_directory(memory)) return;
  const std::string from = memory + "/simgrad-link-or-copy-" + std::to_string(getpid());
  std::ofstream(from) << "text";
  const std::string path = scratch.path() + "/path";
  link_or_copy(from, path);
  fs::remove(from);
  CHECK(read_file(path) == "text");
  CHECK(files_in(scratch.path()).size() == 1);
  CHECK_THROWS_AS(link_or_copy(from, path), base::EnvironmentError);
  CHECK(files_in(scratch.path()).size() == 1);
}

}  // namespace temporary_file_test
