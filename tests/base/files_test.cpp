// Files that somebody else may have made: no device, no pipe, no link where none is allowed, no end beyond a limit.
#include "base/files.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/errors.h"
#include "base/json_depth.h"
#include "catch.h"
#include "scratch.h"

namespace files_test {

using namespace simgrad;
using simgrad::tests::Scratch;

namespace {

void check_no_file(const std::string& path, const std::string& what, const base::Reading& reading = {}) {
  CHECK_THROWS_MATCHES(base::read_file(path, reading), base::EnvironmentError, Message(path + ": " + what));
}

std::string pipe_in(const Scratch& scratch) {
  const std::string path = scratch.path() + "/pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  return path;
}

}  // namespace

TEST_CASE("a file is read as it is, also one that is longer than a block") {
  const Scratch scratch;
  CHECK(base::read_file(scratch.write("empty", "")).empty());
  CHECK(base::read_file(scratch.write("a", "one\ntwo")) == "one\ntwo");
  const std::string text((std::size_t{1} << 17) + 3, 'x');
  CHECK(base::read_file(scratch.write("b", text)) == text);
  check_no_file("/proc/self/status", "is what the system says of itself; expected a file on a disk");
}

TEST_CASE("devices are refused, endless ones too") {
  check_no_file("/dev/zero", "is a device; expected a regular file");
  check_no_file("/dev/null", "is a device; expected a regular file");
}

TEST_CASE("a directory, a socket and what is not there are refused") {
  const Scratch scratch;
  check_no_file(scratch.path(), "is a directory; expected a regular file");
  check_no_file(scratch.path() + "/none", "cannot be opened: No such file or directory");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = scratch.path() + "/s";
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int socket_of = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(bind(socket_of, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  check_no_file(path, "cannot be opened: No such device or address");
  close(socket_of);
}

TEST_CASE("a pipe to which nobody writes is refused at once, and where pipes are read after a wait") {
  const Scratch scratch;
  const std::string path = pipe_in(scratch);
  check_no_file(path, "is a pipe; expected a regular file");
  check_no_file(path, "is a pipe to which nobody has written for 0.02 s; expected the text of a file",
                {.pipes = base::Pipes::read, .pipe_wait_s = 0.02});
}

TEST_CASE("a pipe is read to its end where pipes are read, within the limit") {
  const Scratch scratch;
  const std::string path = pipe_in(scratch);
  const auto read_what = [&](const std::string& text, std::uintmax_t most) {
    std::thread writer([&] { static_cast<void>(std::ofstream(path) << text); });
    // The writer's end, should the reader leave before.
    struct Joined {
      std::thread& thread;
      ~Joined() { thread.join(); }
    } const joined{writer};
    return base::read_file(path, {.bytes_most = most, .pipes = base::Pipes::read});
  };
  const std::string text(100'000, 'x');
  CHECK(read_what(text, base::text_bytes_most) == text);
  CHECK(read_what("schema = 1\n", base::text_bytes_most) == "schema = 1\n");
  CHECK_THROWS_MATCHES(read_what("12345", 4), base::ScenarioError,
                       Message(path + ": has more than 4 bytes, the most that is read of it"));
}

TEST_CASE("a pipe whose writer falls silent is refused") {
  const Scratch scratch;
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  REQUIRE(write(ends[1], "sch", 3) == 3);
  check_no_file("/proc/self/fd/" + std::to_string(ends[0]),
                "is a pipe to which nobody has written for 0.02 s; expected the text of a file",
                {.pipes = base::Pipes::read, .pipe_wait_s = 0.02});
  for (const int end : ends) close(end);
}

TEST_CASE("a link is followed, or refused where links are") {
  const Scratch scratch;
  scratch.write("a", "text");
  const std::string link = scratch.path() + "/link";
  std::filesystem::create_symlink("a", link);
  CHECK(base::read_file(link) == "text");
  check_no_file(link, "is a link; expected a regular file", {.links = base::Links::refuse});
  std::filesystem::create_symlink("/dev/zero", scratch.path() + "/zero");
  check_no_file(scratch.path() + "/zero", "is a device; expected a regular file");
}

TEST_CASE("a file has at most as many bytes as its limit, and the longer one is not read") {
  const Scratch scratch;
  const std::string path = scratch.write("a", "12345");
  CHECK(base::read_file(path, {.bytes_most = 5}) == "12345");
  CHECK_THROWS_MATCHES(base::read_file(path, {.bytes_most = 4}), base::ScenarioError,
                       Message(path + ": has more than 4 bytes, the most that is read of it"));
  // It has no blocks on the disk, and would not fit into memory.
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42);
  CHECK_THROWS_MATCHES(base::read_file(path), base::ScenarioError,
                       Message(path + ": has more than 64 MiB, the most that is read of it"));
}

TEST_CASE("a NUL byte is in no text, with its place, and in bytes it is allowed") {
  const Scratch scratch;
  const std::string bytes("ab\nc\0d", 6);
  const std::string path = scratch.write("a", bytes);
  CHECK_THROWS_MATCHES(base::read_file(path), base::ScenarioError,
                       Message(path + ":2:2: a NUL byte, expected text in UTF-8 or ASCII"));
  CHECK(base::read_file(path, {.contents = base::Contents::bytes}) == bytes);
}

TEST_CASE("lists and objects of JSON are counted outside of texts") {
  const auto most = static_cast<std::size_t>(base::json_depth_most);
  const std::string deepest(most, '[');
  CHECK(base::too_deep_json(deepest) == std::string::npos);
  CHECK(base::too_deep_json(deepest + "{") == most);
  CHECK(base::too_deep_json(deepest + "]{") == std::string::npos);
  CHECK(base::too_deep_json(deepest + R"("[{\"[")") == std::string::npos);
}

}  // namespace files_test
