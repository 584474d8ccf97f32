// Files of a directory that is the program's: what somebody has put in their places is replaced, and never followed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/directory_lock.h"
#include "base/errors.h"
#include "base/files.h"
#include "catch.h"
#include "scratch.h"

namespace own_files_test {

using namespace simgrad::base;
using simgrad::tests::contents;
using simgrad::tests::Scratch;
namespace fs = std::filesystem;

namespace {

const std::string precious = "a text that is somebody else's\n";

/// Puts something at `path` that is no file of the program's.  victim: a file elsewhere.
using Put = void (*)(const std::string& path, const std::string& victim);

const std::vector<std::pair<const char*, Put>> strangers{
    {"a link", [](const std::string& path, const std::string& victim) { fs::create_symlink(victim, path); }},
    {"a link to nothing", [](const std::string& path, const std::string&) { fs::create_symlink("nowhere", path); }},
    {"a link to itself", [](const std::string& path, const std::string&) { fs::create_symlink(path, path); }},
    {"another name of a file",
     [](const std::string& path, const std::string& victim) { fs::create_hard_link(victim, path); }},
    {"a pipe", [](const std::string& path, const std::string&) { REQUIRE(mkfifo(path.c_str(), 0600) == 0); }}};

}  // namespace

TEST_CASE("a file of the program's own takes the place of what is none, and leaves that as it is") {
  for (const auto& [what, put] : strangers) {
    INFO(what);
    const Scratch scratch;
    const std::string victim = scratch.write("victim", precious), path = scratch.path() + "/log";
    put(path, victim);
    alarm(20);  // a pipe that is waited for ends the test
    {
      const OpenFile file = open_own_file(path);
      CHECK(write(file.descriptor(), "line\n", 5) == 5);
    }
    alarm(0);
    CHECK(fs::is_regular_file(fs::symlink_status(path)));
    CHECK(contents(path) == "line\n");
    CHECK(contents(victim) == precious);
    CHECK_FALSE(fs::exists(scratch.path() + "/nowhere"));
  }
}

TEST_CASE("a file of the program's own is written to at its end, and a directory in its place is refused") {
  const Scratch scratch;
  const std::string path = scratch.write("log", "first\n");
  CHECK(write(open_own_file(path).descriptor(), "second\n", 7) == 7);
  CHECK(contents(path) == "first\nsecond\n");
  fs::create_directory(scratch.path() + "/taken");
  CHECK_THROWS_WITH(open_own_file(scratch.path() + "/taken"),
                    scratch.path() + "/taken: is a directory; expected a regular file, or nothing");
  CHECK_THROWS_AS(open_own_file(scratch.path() + "/none/log"), EnvironmentError);
}

TEST_CASE("a directory's lock takes the place of what is no lock, and leaves that as it is") {
  for (const auto& [what, put] : strangers) {
    INFO(what);
    const Scratch scratch;
    fs::create_directory(scratch.path() + "/out");
    const std::string victim = scratch.write("victim", precious), path = scratch.path() + "/out/.lock";
    put(path, victim);
    alarm(20);
    {
      DirectoryLock lock(scratch.path() + "/out");
      CHECK(lock.try_take());
      CHECK(lock.holder().starts_with("process "));
    }
    alarm(0);
    CHECK_FALSE(fs::exists(fs::symlink_status(path)));
    CHECK(contents(victim) == precious);
  }
}

TEST_CASE("the holder of a lock is read from a lock's file alone") {
  const Scratch scratch;
  const DirectoryLock lock(scratch.path());
  const std::string path = scratch.path() + "/.lock";
  CHECK(lock.holder() == "another process");
  scratch.write(".lock", "process 12 on here\nmore");
  CHECK(lock.holder() == "process 12 on here");
  for (const std::string& text :
       {std::string("a secret\n"), std::string("process \x1b[2J\n"), std::string(5000, 'p')}) {
    scratch.write(".lock", text);
    CHECK(lock.holder() == "another process");
  }
  fs::remove(path);
  scratch.write("other", "process 12 on here\n");
  fs::create_symlink("other", path);
  CHECK(lock.holder() == "another process");
  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  alarm(20);
  CHECK(lock.holder() == "another process");
  alarm(0);
}

TEST_CASE("a folder of the program's own is made, and a link in its place is refused") {
  const Scratch scratch;
  make_own_folder(scratch.path() + "/out/runs");
  CHECK(fs::is_directory(scratch.path() + "/out/runs"));
  CHECK_NOTHROW(make_own_folder(scratch.path() + "/out/runs"));
  fs::create_directory_symlink(scratch.path(), scratch.path() + "/out/models");
  CHECK_THROWS_WITH(make_own_folder(scratch.path() + "/out/models"),
                    scratch.path() +
                        "/out/models: is a link; expected a folder, since what lies behind a link is not the "
                        "program's to change");
}

}  // namespace own_files_test
