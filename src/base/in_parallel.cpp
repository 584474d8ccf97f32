#include "base/in_parallel.h"

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace simgrad::base {

void in_parallel(int threads, std::size_t count, const std::function<void(std::size_t i)>& body) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> others;
  try {
    for (std::size_t thread = 1; static_cast<int>(thread) < threads && thread < count; ++thread)
      others.emplace_back(work);
  } catch (const std::system_error&) {  // the others take over its part
  }
  work();
}

}  // namespace simgrad::base
