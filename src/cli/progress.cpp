#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/say.h"

namespace simgrad::cli {

namespace {

std::string left_text(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 5400.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

/// The text cut to the terminal's width: a longer line would not be erased.
std::string fitting(std::string text) {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  if (known && text.size() >= size.ws_col) text.resize(size.ws_col - 1u);
  return text;
}

}  // namespace

std::string progress_text(const experiment::Advance& advance) {
  const std::string done = fmt::format("{} of {} run{} done", advance.done, advance.all, advance.all == 1 ? "" : "s");
  if (advance.done == advance.all) return done;
  if (advance.left_s) return fmt::format("{}, {} left", done, left_text(*advance.left_s));
  return fmt::format("{}, {:.0f} % of the work", done, 100.0 * advance.share);
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(experiment::Advance advance) {
  if (quiet_ || advance.all == 0) return;
  const auto now = std::chrono::steady_clock::now();
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  constexpr double foreseeable_s = 1.0;  // an extrapolation from less is off by factors
  if (elapsed_s < foreseeable_s) advance.left_s.reset();
  if (terminal_) {
    if (elapsed_s < 0.3 || now - last_ < std::chrono::milliseconds(100)) return;  // short experiments stay silent
    last_ = now;
    base::write_to_stderr("\r\x1b[K" + fitting(progress_text(advance)));
    std::fflush(stderr);
    drawn_ = true;
    return;
  }
  constexpr double first_look_s = 2.0, long_s = 20.0;
  if (!estimated_ && elapsed_s >= first_look_s && advance.left_s) {
    estimated_ = true;
    if (*advance.left_s >= long_s)
      base::say(fmt::format("{} run{}, about {} in all", advance.all, advance.all == 1 ? "" : "s",
                            left_text(elapsed_s + *advance.left_s)));
  }
  if (const int tenths = static_cast<int>(advance.share * 10.0 + 1e-9); tenths > tenths_) {
    tenths_ = tenths;
    base::say(progress_text(advance));
  }
}

void Progress::tell(const std::string& text) {
  if (quiet_) return;
  clear();
  base::say("simgrad: " + text);
}

void Progress::clear() {
  if (drawn_) base::write_to_stderr("\r\x1b[K");
  drawn_ = false;
}

}  // namespace simgrad::cli
