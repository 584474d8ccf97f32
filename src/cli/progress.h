/// Progress on stderr.
#pragma once

#include <chrono>
#include <string>

#include "experiment/run/runner.h"

namespace simgrad::cli {

/// "12 of 60 runs done, 3 min left"; "2 of 7 runs done, 31 % of the work" while the time is not known.
std::string progress_text(const experiment::Advance& advance);

/// Shows how far an experiment is: on a terminal in one line that is redrawn, elsewhere in a line every 10 %, and at
/// first in one that estimates the whole time, if that is long.
class Progress {
 public:
  explicit Progress(bool quiet);
  void show(experiment::Advance advance);
  void tell(const std::string& text);  ///< a remark, in a line of its own; nothing if quiet
  void clear();                        ///< erases the line

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  bool estimated_ = false;
  int tenths_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace simgrad::cli
