// Kernels and operations that the tests of values/ share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "values/dispatcher.h"

namespace simgrad::values {

/// Too long to run in the caller, by its own account.
inline constexpr double long_s = 1.0;

inline std::vector<double> numbers_of(const Tensor& tensor) {
  const auto value = tensor.value();
  return {value.begin(), value.end()};
}

/// Equal to the last bit, where == would equate 0 and -0 and tell NaN from NaN.
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), 8 * a.size()) == 0);
}

/// Waits for what another thread does without a signal; false after ten seconds.
inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

/// Time for other threads to do what they must not do.
inline void wait_a_while() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

/// Holds one thread of the pool until it is opened.
class Gate {
 public:
  explicit Gate(Dispatcher& dispatcher)
      : tensor(dispatcher.dispatch({.name = "gate", .seconds = long_s, .numbered = false}, 1, {},
                                   [state = state_](auto, std::span<double> result) {
                                     state->arrived = true;
                                     state->open.wait(false);
                                     result[0] = 0.0;
                                   })) {}
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  bool holds_a_thread() const {
    return eventually([this] { return state_->arrived.load(); });
  }
  void open() {
    state_->open = true;
    state_->open.notify_all();
  }

 private:
  struct State {
    std::atomic<bool> arrived = false;
    std::atomic<bool> open = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();

 public:
  Tensor tensor;
};

/// The names of the work that ran, in the order in which it started.
class Log {
 public:
  void add(const std::string& name) const {
    const std::lock_guard lock(state_->mutex);
    state_->names.push_back(name);
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock(state_->mutex);
    return state_->names;
  }

 private:
  struct State {
    std::mutex mutex;
    std::vector<std::string> names;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Work for the pool that writes its name into the log. The result is filled with 1.
inline Tensor logged(Dispatcher& dispatcher, const Log& log, const std::string& name, std::vector<Tensor> inputs = {},
                     std::int64_t size = 1) {
  return dispatcher.dispatch({.name = "logged", .seconds = long_s, .numbered = false}, size, inputs,
                             [log, name](auto, std::span<double> result) {
                               log.add(name);
                               std::fill(result.begin(), result.end(), 1.0);
                             });
}

}  // namespace simgrad::values
