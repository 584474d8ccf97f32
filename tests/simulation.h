// SimGrid allows one simulation a process: a test simulates in a child process, which returns the numbers.
#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/child_process.h"

namespace simgrad::tests {

/// The result of `body`, computed in a child process.  Its exceptions come back as std::runtime_error; so does its
/// death.
inline std::string text_of_child(const std::function<std::string()>& body) {
  const base::ChildEnd end = base::run_in_child(body);
  if (end.kind == base::ChildEnd::Kind::died) throw std::runtime_error("the simulating process " + end.death);
  if (end.kind == base::ChildEnd::Kind::threw) throw std::runtime_error(end.text);
  return end.text;
}

inline std::vector<double> numbers_of_child(const std::function<std::vector<double>()>& body) {
  const std::string bytes = text_of_child([&] {
    const std::vector<double> numbers = body();
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
  });
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace simgrad::tests
