/// The real time that a run's kernels take: which of them makes a simulation slow; and how many gradients they are.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace simgrad::training {

/// Summed over the threads that compute.
struct Effort {
  std::atomic<std::int64_t> gradients_ns = 0;
  std::atomic<std::int64_t> evaluations_ns = 0;
  std::atomic<std::int64_t> gradients = 0;  ///< a rank's part of one, or a piece of it, is one
};

/// Rough real speed of one core on our kernels, to tell small work from large.
inline constexpr double flops_per_real_second = 2e9;

/// Adds the time of its life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<std::int64_t>& sum_ns) : sum_ns_(sum_ns) {}
  ~Stopwatch() {
    const auto taken = std::chrono::steady_clock::now() - start_;
    sum_ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<std::int64_t>& sum_ns_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace simgrad::training
