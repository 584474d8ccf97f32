// SimGrid allows one simulation a process, so a test that simulates does it in a child and hands back the numbers.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace simgrad::tests {

/// What `body` returns, computed in a child process.  Its exceptions come back as std::runtime_error; a child that dies
/// otherwise is one, too.
inline std::string text_of_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    std::string answer;
    try {
      answer = "+" + body();
    } catch (const std::exception& error) {
      answer = std::string("-") + error.what();
    }
    for (std::size_t done = 0; done < answer.size();) {
      const auto n = write(ends[1], answer.data() + done, answer.size() - done);
      if (n <= 0) _exit(1);
      done += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string answer;
  std::array<char, 65536> buffer{};
  for (ssize_t n = 0; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    answer.append(buffer.data(), static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (answer.empty() || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("the simulating process died");
  if (answer[0] == '-') throw std::runtime_error(answer.substr(1));
  return answer.substr(1);
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
