// The pool of child processes.
#include "experiment/run/children.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "catch.h"

namespace children_test {

using namespace simgrad::experiment;

namespace {

/// Waits for a child to end.
Children::Ended end_of(Children& children) {
  const auto ended = children.reap(20.0);
  REQUIRE(ended);
  return *ended;
}

}  // namespace

TEST_CASE("a child that returns has no error, and takes some time") {
  Children children(1);
  children.start(7, [](simgrad::training::Pulse*) { return usleep(20'000), std::string(); });
  CHECK(children.full());
  const auto ended = end_of(children);
  CHECK(ended.task == 7);
  CHECK(ended.error.empty());
  CHECK(ended.wall_s > 0.0);
  CHECK(children.empty());
}

TEST_CASE("the text of a child's exception is its error") {
  Children children(1);
  children.start(0, [](simgrad::training::Pulse*) -> std::string { throw std::runtime_error("rank 3, step 2"); });
  CHECK(end_of(children).error == "rank 3, step 2");
  children.start(0, [](simgrad::training::Pulse*) -> std::string { throw std::runtime_error(""); });
  CHECK(end_of(children).error == "an error without a text");
  children.start(0, [](simgrad::training::Pulse*) -> std::string { throw 3; });
  CHECK(end_of(children).error == "an unknown error");
}

TEST_CASE("a child's result comes back, however long") {
  Children children(1);
  children.start(0, [](simgrad::training::Pulse*) { return std::string(1'000'000, 'x'); });
  const auto ended = end_of(children);
  CHECK(ended.error.empty());
  CHECK(ended.answer == std::string(1'000'000, 'x'));
}

TEST_CASE("a long error is cut, and the child still ends") {
  Children children(1);
  children.start(
      0, [](simgrad::training::Pulse*) -> std::string { throw std::runtime_error(std::string(1'000'000, 'x')); });
  CHECK(end_of(children).error == std::string(4000, 'x'));
}

TEST_CASE("a child that dies of a signal, or leaves, says so") {
  Children children(1);
  children.start(0, [](simgrad::training::Pulse*) { return kill(getpid(), SIGKILL), std::string(); });
  CHECK(end_of(children).error == "the simulating process died of signal 9 (Killed)");
  children.start(0, [](simgrad::training::Pulse*) -> std::string { _exit(3); });
  CHECK(end_of(children).error == "the simulating process ended with 3");
}

TEST_CASE("where descriptors are few, fewer children run at a time, and none is lost") {
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few = {.rlim_cur = 40, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  Children children(1000);
  int started = 0, ended = 0;
  for (const std::size_t all = 100; ended < static_cast<int>(all);) {
    const bool more = started < static_cast<int>(all) && !children.full();
    if (more && children.start(static_cast<std::size_t>(started),
                               [](simgrad::training::Pulse*) { return usleep(5'000), std::string("x"); })) {
      ++started;
    } else if (const auto child = children.reap(20.0)) {
      ++ended;
      CHECK(child->answer == "x");
    }
  }
  CHECK(ended == 100);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("children end in their own order, and as many run as there are jobs") {
  Children children(2);
  children.start(0, [](simgrad::training::Pulse*) { return usleep(300'000), std::string(); });
  CHECK_FALSE(children.full());
  children.start(1, [](simgrad::training::Pulse*) { return std::string(); });
  CHECK(children.full());
  CHECK(end_of(children).task == 1);
  CHECK_FALSE(children.full());
  CHECK(end_of(children).task == 0);
}

TEST_CASE("waiting for a child ends after the time given, and at once without children") {
  Children children(1);
  CHECK_FALSE(children.reap(20.0));
  children.start(0, [](simgrad::training::Pulse*) { return sleep(20), std::string(); });
  CHECK_FALSE(children.reap(0.01));
  CHECK_FALSE(children.empty());
}

TEST_CASE("the progress of all children is seen as it is written, and is nothing again when they have ended") {
  Children children(2);
  for (const double share : {0.25, 0.5})
    children.start(0, [share](simgrad::training::Pulse* pulse) {
      pulse->share = share;
      sleep(20);
      return std::string();
    });
  for (int tries = 0; tries < 1000 && children.progress() < 0.75; ++tries) usleep(5'000);
  CHECK(children.progress() == 0.75);
}

TEST_CASE("a pool that goes away ends its children") {
  void* const shared = mmap(nullptr, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& child = *static_cast<std::atomic<pid_t>*>(shared);
  {
    Children children(1);
    children.start(0, [&](simgrad::training::Pulse*) { return child = getpid(), sleep(600), std::string(); });
    while (child == 0) usleep(1000);
    CHECK(kill(child, 0) == 0);
  }
  CHECK(kill(child, 0) != 0);  // it has ended, and its end was waited for
  munmap(shared, sizeof(pid_t));
}

TEST_CASE("a child that takes longer than it may is killed, and its error says so") {
  Children children(2, {.time_s = 0.05});
  children.start(0, [](simgrad::training::Pulse*) { return sleep(600), std::string(); });
  std::optional<Children::Ended> ended;
  while (!ended) ended = children.reap(20.0);
  CHECK(ended->error == "stopped after 50ms of real time, the limit of a run");
  CHECK(children.empty());
}

TEST_CASE("the data that a child has from its parent count as its memory") {
  Children children(1, {.memory_bytes = 256e6});
  const auto takes = [](simgrad::training::Pulse*) {
    const std::string own(100'000'000, 'x');
    return usleep(200'000), own.substr(0, 1);
  };
  const auto takes_and_stays = [](simgrad::training::Pulse*) {
    const std::string own(100'000'000, 'x');
    return sleep(600), own.substr(0, 1);
  };
  const auto end = [&](double data_bytes, const std::function<std::string(simgrad::training::Pulse*)>& body) {
    children.start(0, body, {}, data_bytes);
    std::optional<Children::Ended> ended;
    while (!ended) ended = children.reap(20.0);  // limits are looked at in between
    return *ended;
  };
  CHECK(end(50e6, takes).answer == "x");
  CHECK(end(200e6, takes_and_stays).error == "stopped at 256MB of memory, the limit of a run");
}

TEST_CASE("a child that takes more memory than it may is killed, and another one goes on") {
  Children children(2, {.memory_bytes = 256e6});
  children.start(0, [](simgrad::training::Pulse*) {
    const std::string large(1'000'000'000, 'x');
    return sleep(600), large.substr(0, 1);
  });
  children.start(1, [](simgrad::training::Pulse*) { return std::string("done"); });
  std::map<std::size_t, Children::Ended> all;
  while (all.size() < 2)
    if (const auto ended = children.reap(20.0)) all[ended->task] = *ended;
  CHECK(all[0].error == "stopped at 256MB of memory, the limit of a run");
  CHECK(all[1].answer == "done");
}

}  // namespace children_test
