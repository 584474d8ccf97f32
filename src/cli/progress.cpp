#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/say.h"

namespace simgrad::cli {

namespace {

std::string left_text(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(int done, int all, double share) {
  if (quiet_ || all == 0) return;
  const auto now = std::chrono::steady_clock::now();
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  if (terminal_) {
    if (elapsed_s < 0.3 || now - last_ < std::chrono::milliseconds(100)) return;  // short experiments stay silent
    last_ = now;
    const std::string left = share > 0.01 ? ", " + left_text(elapsed_s * (1.0 - share) / share) + " left" : "";
    base::write_to_stderr(fmt::format("\r\x1b[K{} of {} runs, {:.0f} %{}", done, all, 100.0 * share, left));
    std::fflush(stderr);
    drawn_ = true;
  } else if (const int tenths = static_cast<int>(share * 10.0 + 1e-9); tenths > tenths_) {
    tenths_ = tenths;
    base::write_to_stderr(fmt::format("{} of {} runs, {} %\n", done, all, 10 * tenths));
  }
}

void Progress::clear() {
  if (drawn_) base::write_to_stderr("\r\x1b[K");
  drawn_ = false;
}

}  // namespace simgrad::cli
