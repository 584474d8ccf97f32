#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "catch.h"
#include "scratch.h"

namespace child_process_test {

using namespace simgrad::base;
using Kind = ChildEnd::Kind;

TEST_CASE("a child's result comes back byte for byte, however long and whatever bytes") {
  std::string all;
  for (int i = 0; i < 1'000'000; ++i) all += static_cast<char>(i % 256);
  for (const std::string& text : {std::string(), std::string("+"), std::string("-"), all}) {
    const ChildEnd end = run_in_child([&] { return text; });
    CHECK(end.kind == Kind::returned);
    CHECK(end.text == text);
    CHECK(end.death.empty());
  }
}

TEST_CASE("an exception in a child comes back as its text") {
  const auto text_of = [](const std::function<std::string()>& body) {
    const ChildEnd end = run_in_child(body);
    CHECK(end.kind == Kind::threw);
    CHECK(end.death.empty());
    return end.text;
  };
  CHECK(text_of([]() -> std::string { throw std::runtime_error("rank 3, step 2"); }) == "rank 3, step 2");
  CHECK(text_of([]() -> std::string { throw std::runtime_error(""); }) == "an error without a text");
  CHECK(text_of([]() -> std::string { throw 3; }) == "an unknown error");
}

TEST_CASE("a child that dies of a signal, or exits by itself, says how") {
  ChildEnd end = run_in_child([] {
    kill(getpid(), SIGKILL);
    return std::string("never");
  });
  CHECK(end.kind == Kind::died);
  CHECK(end.death == "died of signal 9 (Killed)");
  end = run_in_child([]() -> std::string { _exit(3); });
  CHECK(end.kind == Kind::died);
  CHECK(end.death == "ended with 3");
  // A library that calls exit(0) has not answered.
  CHECK(run_in_child([]() -> std::string { _exit(0); }).death == "ended with 0");
}

TEST_CASE("a captured standard error comes before the result, and is kept if the child dies") {
  const auto warn = [] { CHECK(write(STDERR_FILENO, "careful; ", 9) == 9); };
  ChildEnd end = run_in_child(
      [&] {
        warn();
        return std::string("done");
      },
      {.capture_stderr = true});
  CHECK(end.kind == Kind::returned);
  CHECK(end.text == "careful; done");
  end = run_in_child(
      [&]() -> std::string {
        warn();
        _exit(7);
      },
      {.capture_stderr = true});
  CHECK(end.text == "careful; ");
  CHECK(end.death == "ended with 7");
}

TEST_CASE("a child changes nothing in its parent") {
  int here = 1;
  CHECK(run_in_child([&] { return std::to_string(++here); }).text == "2");
  CHECK(here == 1);
}

TEST_CASE("two children run at a time, and poll tells which has ended") {
  ChildProcess slow([] {
    sleep(20);
    return std::string();
  });
  ChildProcess quick([] { return std::string("quick"); });
  pollfd pipes[2] = {{slow.descriptor(), POLLIN, 0}, {quick.descriptor(), POLLIN, 0}};
  CHECK(poll(pipes, 2, 20'000) == 1);
  CHECK(pipes[0].revents == 0);
  CHECK(quick.wait().text == "quick");
}

TEST_CASE("a child that is given up is killed and reaped") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  {
    ChildProcess given_up([] {
      sleep(20);
      return std::string();
    });
    ChildProcess moved = std::move(given_up);
  }
  close(ends[1]);
  // The child holds the writing end, too: the pipe closes only when the child is gone.
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 0);
  close(ends[0]);
}

TEST_CASE("interrupts of a child's group do not end the child") {
  const ChildEnd end = run_in_child([] {
    kill(getpid(), SIGINT);
    kill(getpid(), SIGTERM);
    return std::string("unharmed");
  });
  CHECK(end.text == "unharmed");
}

TEST_CASE("a child dies with its parent") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const ChildEnd parent = run_in_child([&]() -> std::string {
    const ChildProcess child([] {
      sleep(20);
      return std::string();
    });
    _exit(0);  // without the destructor that would kill the child
  });
  CHECK(parent.kind == Kind::died);
  close(ends[1]);
  char byte = 0;
  CHECK(read(ends[0], &byte, 1) == 0);
  close(ends[0]);
}

TEST_CASE("a process with threads does not fork") {
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) std::this_thread::yield();
  });
  CHECK_THROWS_AS(run_in_child([] { return std::string(); }), InvariantError);
  over = true;
  other.join();
  CHECK(run_in_child([] { return std::string("alone"); }).text == "alone");
}

TEST_CASE("a child is ended by the limit of its processor time, of real time, and of files it may not write") {
  ChildEnd end = run_in_child(
      []() -> std::string {
        for (std::atomic<int> i = 0;; ++i) continue;
      },
      {.limits = {.processor_s = 1}});
  CHECK(end.kind == Kind::died);
  CHECK(end.signal == SIGXCPU);
  end = run_in_child([]() -> std::string { return std::to_string(pause()); }, {.limits = {.real_s = 1}});
  CHECK(end.signal == SIGALRM);
  const simgrad::tests::Scratch scratch;
  const std::string file = scratch.write("f", "");
  const auto writes = [&] {
    scratch.write("f", "bytes");
    return std::string("written");
  };
  end = run_in_child(writes, {.limits = {.writes_files = false}});
  CHECK(end.signal == SIGXFSZ);
  CHECK(simgrad::tests::contents(file).empty());
  CHECK(run_in_child(writes, {.limits = {.processor_s = 9, .real_s = 9}}).text == "written");
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a child's allocations fail beyond its limit of memory, whatever its parent has") {
  const std::string parents(100 << 20, 'p');
  const auto takes = [&](std::size_t bytes) {
    return run_in_child([&] { return std::string(1, std::string(bytes, parents.back())[0]); },
                        {.limits = {.memory_bytes = 50 << 20}});
  };
  CHECK(takes(20 << 20).text == "p");
  CHECK(takes(1 << 30).kind == Kind::threw);
  CHECK(takes(1 << 30).text == "not enough memory");
}
#endif

TEST_CASE("a child has the standard streams and its own pipe, and none of its parent's other files") {
  std::array<int, 2> pipe_of_parent{};
  REQUIRE(pipe(pipe_of_parent.data()) == 0);  // without O_CLOEXEC, and children do not call exec anyway
  const ChildProcess sibling([] {
    pause();
    return std::string();
  });
  const ChildEnd end = run_in_child([&] {
    std::string open;
    for (int file = 0; file < 256; ++file)
      if (fcntl(file, F_GETFD) >= 0) open += std::to_string(file) + " ";
    return open + (fcntl(sibling.descriptor(), F_GETFD) >= 0 ? "sibling " : "") +
           (fcntl(pipe_of_parent[0], F_GETFD) >= 0 ? "pipe" : "");
  });
  for (const int file : pipe_of_parent) close(file);
  REQUIRE(end.kind == Kind::returned);
  std::istringstream words(end.text);
  std::vector<std::string> open{std::istream_iterator<std::string>(words), {}};
  std::erase_if(open, [](const std::string& file) { return file == "0" || file == "1" || file == "2"; });
  INFO(end.text);
  CHECK(open.size() == 1);  // the end of the pipe to which it writes its answer
}

}  // namespace child_process_test
