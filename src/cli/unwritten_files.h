/// The files that a command could not write, told on stderr.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "base/say.h"
#include "cli/progress.h"

namespace simgrad::cli {

/// The first fault is told when it comes, so that somebody may make room while the runs go on. A full disk has a fault
/// for each run: a few are shown at the end, and the others counted.
class UnwrittenFiles {
 public:
  explicit UnwrittenFiles(Progress& progress) : progress_(progress) {}

  void add(const std::string& fault) {
    if (!faults_.insert(fault).second) return;  // a record that is written again
    if (faults_.size() == 1) {
      progress_.clear();
      base::say(fault);
    } else if (faults_.size() <= shown) {
      later_.push_back(fault);
    }
  }
  bool none() const { return faults_.empty(); }

  /// Tells of all but the first.
  void tell_rest() const {
    for (const std::string& fault : later_) base::say(fault);
    if (faults_.size() <= shown) return;
    const std::size_t more = faults_.size() - shown;
    base::say(fmt::format("simgrad: {} more file{} not written; the same command does what is missing", more,
                          more == 1 ? " is" : "s are"));
  }

 private:
  static constexpr std::size_t shown = 5;

  Progress& progress_;
  std::set<std::string> faults_;
  std::vector<std::string> later_;
};

}  // namespace simgrad::cli
