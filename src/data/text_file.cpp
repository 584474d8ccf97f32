#include "data/text_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "data/limits.h"

namespace simgrad::data {

namespace {

/// A whole file that the free memory holds: it is somebody else's, and may be of any length.
std::string contents(const std::string& path, base::Contents expected) {
  return base::read_file(path, {.bytes_most = base::as_memory_allows, .contents = expected});
}

/// Appends up to `most` bytes of the file. Returns whether there may be more.
bool append(std::string& text, const base::OpenFile& file, std::size_t most, const std::string& path) {
  const std::size_t before = text.size();
  text.resize(before + most);
  std::size_t length = 0;
  while (length < most) {
    const ssize_t size = ::read(file.descriptor(), text.data() + before + length, most - length);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      throw base::EnvironmentError(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
    if (size == 0) break;
    length += static_cast<std::size_t>(size);
  }
  text.resize(before + length);
  return length == most;
}

}  // namespace

std::string file_contents(const std::string& path) { return contents(path, base::Contents::bytes); }

void for_each_block_of_lines(const std::string& path, const std::function<void(std::string_view lines)>& visit) {
  constexpr std::size_t block_bytes = std::size_t{4} << 20;
  const base::OpenFile file = base::open_regular(path);
  std::string text;
  bool first = true;
  for (bool more = true; more;) {
    const std::size_t before = text.size();
    more = append(text, file, block_bytes, path);
    if (text.find('\0', before) != std::string::npos)
      throw base::ScenarioError(fmt::format("{}:1: a NUL byte, expected text in UTF-8 or ASCII", path));
    const std::size_t newline = std::string_view(text).substr(before).rfind('\n');
    const std::size_t end = more ? (newline == std::string::npos ? 0 : before + newline + 1) : text.size();
    if (end == 0 && text.size() > line_bytes_most)
      throw base::ScenarioError(
          fmt::format("{}: a line of more than {} GiB, expected shorter ones", path, line_bytes_most >> 30));
    std::string_view lines = std::string_view(text).substr(0, end);
    if (!lines.empty() && std::exchange(first, false) && lines.starts_with("\xEF\xBB\xBF")) lines.remove_prefix(3);
    visit(lines);
    text.erase(0, end);
  }
}

void clean_text(std::string& text, const std::string& path) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  const auto nul = text.find('\0');
  if (nul == std::string::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
  throw base::ScenarioError(fmt::format("{}:{}: a NUL byte, expected text in UTF-8 or ASCII", path, line));
}

std::string text_file(const std::string& path) {
  std::string text = contents(path, base::Contents::text);
  clean_text(text, path);
  return text;
}

}  // namespace simgrad::data
