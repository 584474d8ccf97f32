#include "base/in_parallel.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "catch.h"

namespace in_parallel_test {

using namespace simgrad::base;

TEST_CASE("each pass of a parallel loop runs once, on any number of threads") {
  for (const int threads : {-1, 0, 1, 2, 5})
    for (const std::size_t count : {0, 1, 3, 1000}) {
      std::vector<int> runs(count);
      in_parallel(threads, count, [&](std::size_t i) { ++runs[i]; });
      CHECK(std::ranges::count(runs, 1) == static_cast<std::ptrdiff_t>(count));
    }
}

TEST_CASE("a parallel loop on one thread runs in order") {
  std::vector<std::size_t> order;
  in_parallel(1, 4, [&](std::size_t i) { order.push_back(i); });
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3});
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a parallel loop does without the threads that the system does not give") {
  const auto end = run_in_child([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};  // no memory for a thread's stack, but for some that ended before
    setrlimit(RLIMIT_AS, &none);
    std::vector<int> runs(200);
    in_parallel(200, runs.size(), [&](std::size_t i) { ++runs[i]; });
    return std::string(std::ranges::count(runs, 1) == 200 ? "all" : "some");
  });
  CHECK(end.text == "all");
}
#endif

TEST_CASE("a process may fork after a parallel loop") {
  in_parallel(4, 100, [](std::size_t) {});
  CHECK(run_in_child([] { return std::string("child"); }).text == "child");
}

}  // namespace in_parallel_test
