#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/say.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

namespace {

using outputs::counted;
using outputs::tr;

std::string left_text(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", std::max(seconds, 1.0));
  if (seconds < 5400.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

/// The columns and lines of the terminal.
std::pair<std::size_t, std::size_t> terminal_size() {
  constexpr std::size_t columns = 80, lines = 24;
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  return known ? std::pair<std::size_t, std::size_t>(size.ws_col, size.ws_row) : std::pair(columns, lines);
}

/// "  allreduce, workers=8, seed 1  [####      ]  40 %  12 s".
std::string line_of(const experiment::Advance::Running& run, std::size_t name_width) {
  constexpr std::size_t cells = 10;
  const auto full = std::min(cells, static_cast<std::size_t>(run.share * static_cast<double>(cells)));
  return fmt::format("  {}  [{}{}] {:3.0f} %  {}",
                     outputs::padded(outputs::cut_middle(run.name, name_width), name_width, outputs::Align::left),
                     std::string(full, '#'), std::string(cells - full, ' '), 100.0 * run.share,
                     left_text(run.elapsed_s));
}

}  // namespace

std::string progress_text(const experiment::Advance& advance) {
  std::string done = advance.all == 1 ? tr("{} of {} run done", advance.done, advance.all)
                                      : tr("{} of {} runs done", advance.done, advance.all);
  if (advance.failed > 0) done += tr(", {} failed", advance.failed);
  if (advance.done == advance.all) return done;
  if (advance.left_s) return tr("{}, {} left", done, left_text(*advance.left_s));
  return tr("{}, {:.0f} % of the work", done, 100.0 * advance.share);
}

std::vector<std::string> progress_table(const experiment::Advance& advance, std::size_t width, std::size_t height) {
  constexpr std::size_t beside_name = 32, name_least = 10, fixed_lines = 3;
  const std::size_t shown = std::min(advance.running.size(), std::max(height, fixed_lines) - fixed_lines);
  std::size_t name_width = name_least;
  for (std::size_t i = 0; i < shown; ++i)
    name_width = std::max(name_width, outputs::display_width(advance.running[i].name));
  name_width = std::min(name_width, std::max(width, beside_name + name_least) - beside_name);
  std::vector<std::string> lines{progress_text(advance)};
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(line_of(advance.running[i], name_width));
  if (const std::size_t more = advance.running.size() - shown; more > 0 && height > 1)
    lines.push_back(fmt::format("  {}", tr("and {} more", more)));
  if (!advance.best.empty() && lines.size() < height) lines.push_back(tr("best so far: {}", advance.best));
  for (std::string& line : lines) line = outputs::cut(line, width);
  return lines;
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
    clear();
    const auto [width, height] = terminal_size();
    std::string drawn;
    for (const std::string& line : progress_table(advance, width - 1, height - 1)) {
      drawn += line + "\n";
      ++lines_drawn_;
    }
    base::write_to_stderr(drawn);
    std::fflush(stderr);
    return;
  }
  constexpr double first_look_s = 2.0, long_s = 20.0;
  if (!estimated_ && elapsed_s >= first_look_s && advance.left_s) {
    estimated_ = true;
    if (*advance.left_s >= long_s)
      base::say(tr("{}, about {} in all", counted(static_cast<std::size_t>(advance.all), "{} run", "{} runs"),
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
  // Back to the table's first line, then erased to the end of the screen.
  if (lines_drawn_ > 0) base::write_to_stderr(fmt::format("\x1b[{}A\r\x1b[J", lines_drawn_));
  lines_drawn_ = 0;
}

}  // namespace simgrad::cli
