// Long tests run a share of their cells in the gate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace simgrad::tests {

/// Counts the cells of a long test, and says which of them run: all, or where SIMGRAD_SHARE is "3/8" those whose number
/// leaves 3 when it is divided by 8. script/test sets it by the number of commits; --all does not.
class Share {
 public:
  /// A test of few cells is divided into `parts_most` shares at most.
  explicit Share(std::size_t parts_most = 8) {
    const char* const given = std::getenv("SIMGRAD_SHARE");
    std::size_t part = 0, parts = 1;
    if (!given || std::sscanf(given, "%zu/%zu", &part, &parts) != 2 || parts == 0) return;
    parts_ = std::min(parts, parts_most);
    part_ = part % parts_;
  }

  bool whole() const { return parts_ == 1; }
  /// Whether the next cell runs.
  bool next() { return count_++ % parts_ == part_; }

 private:
  std::size_t parts_ = 1, part_ = 0, count_ = 0;
};

}  // namespace simgrad::tests
