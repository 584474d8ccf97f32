#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace simgrad::cli {

std::optional<std::size_t> terminal_width() {
  constexpr std::size_t least = 60;
  winsize size = {};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return std::max<std::size_t>(least, size.ws_col);
}

}  // namespace simgrad::cli
