/// The three kinds of error and their three ways out; see STYLE in CONTRIBUTING.md.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::base {

/// The user's mistake, found before the clock starts: one line a fault, `file:line:column: what, expected what`.
/// Exit 2.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(const std::string& fault) : std::runtime_error(fault), faults_{fault} {}
  explicit ScenarioError(std::vector<std::string> faults);
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  std::vector<std::string> faults_;
};

/// A file or directory that cannot be opened, read or written. Exit 5.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Our own mistake: an invariant that does not hold. Kept in release builds.
class InvariantError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InvariantError, naming the place, unless `holds`.
inline void check(bool holds, std::string_view what = "invariant",
                  std::source_location where = std::source_location::current());

[[noreturn]] void invariant_broken(std::string_view what, const std::source_location& where);

inline void check(bool holds, std::string_view what, std::source_location where) {
  if (!holds) [[unlikely]]
    invariant_broken(what, where);
}

}  // namespace simgrad::base
