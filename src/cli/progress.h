/// A progress line on stderr.
#pragma once

#include <chrono>

namespace simgrad::cli {

/// Shows the share of runs that are done: on a terminal in one line that is redrawn, with the time left, elsewhere in a
/// line every 10 %.
class Progress {
 public:
  explicit Progress(bool quiet);
  void show(int done, int all, double share);
  void clear();  ///< erases the line

 private:
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  int tenths_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

}  // namespace simgrad::cli
