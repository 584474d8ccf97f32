/// Progress on stderr.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "experiment/run/runner.h"

namespace simgrad::cli {

/// "12 of 60 runs done, 1 failed, 3 min left"; "2 of 7 runs done, 31 % of the work" while the time is not known.
std::string progress_text(const experiment::Advance& advance);

/// The table of a terminal: the line above, a line for each run under way with its own progress, and the best run so
/// far. No line is wider than `width` columns, and there are at most `height` lines.
std::vector<std::string> progress_table(const experiment::Advance& advance, std::size_t width, std::size_t height);

/// Shows how far an experiment is: on a terminal in a table that is redrawn, elsewhere in a line every 10 %, and at
/// first in one that estimates the whole time, if that is long.
class Progress {
 public:
  explicit Progress(bool quiet);
  void show(experiment::Advance advance);
  void tell(const std::string& text);  ///< a remark, in a line of its own; nothing if quiet
  void clear();                        ///< erases the table

 private:
  bool quiet_;
  bool terminal_;
  std::size_t lines_drawn_ = 0;
  bool estimated_ = false;
  int tenths_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace simgrad::cli
