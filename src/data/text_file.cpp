#include "data/text_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "data/limits.h"

namespace simgrad::data {

namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void cannot(const std::string& path, const char* what, int code) {
  throw base::EnvironmentError(fmt::format("{}: cannot be {}: {}", path, what, std::generic_category().message(code)));
}

/// Only a guess: pipes have no size, and a file may grow while it is read.
std::size_t expected_size(const std::string& path) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  return ignored || size > static_cast<std::uintmax_t>(text_bytes_most) ? 0 : static_cast<std::size_t>(size);
}

}  // namespace

std::string file_contents(const std::string& path) {
  errno = 0;
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) cannot(path, "opened", errno);

  std::string bytes;
  std::size_t length = 0;
  // One byte more than expected, so that the end of the file is seen without a second round.
  bytes.resize(std::max<std::size_t>(expected_size(path) + 1, 1 << 16));
  for (;;) {
    errno = 0;
    length += std::fread(bytes.data() + length, 1, bytes.size() - length, file.get());
    if (std::ferror(file.get())) cannot(path, "read", errno);
    if (length < bytes.size()) break;
    if (bytes.size() > static_cast<std::size_t>(text_bytes_most))
      throw base::ScenarioError(
          fmt::format("{}:1: the file is larger than {} GiB, the most that is read", path, text_bytes_most >> 30));
    bytes.resize(2 * bytes.size());
  }
  bytes.resize(length);
  return bytes;
}

void for_each_block_of_lines(const std::string& path, const std::function<void(std::string_view lines)>& visit) {
  constexpr std::size_t block_bytes = std::size_t{4} << 20;
  errno = 0;
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) cannot(path, "opened", errno);
  std::string text;
  bool first = true;
  for (bool more = true; more;) {
    const std::size_t before = text.size();
    text.resize(before + block_bytes);
    errno = 0;
    const std::size_t count = std::fread(text.data() + before, 1, block_bytes, file.get());
    if (std::ferror(file.get())) cannot(path, "read", errno);
    text.resize(before + count);
    more = count == block_bytes;
    const std::size_t newline = text.rfind('\n');
    const std::size_t end = more ? (newline == std::string::npos ? 0 : newline + 1) : text.size();
    std::string_view lines = std::string_view(text).substr(0, end);
    if (lines.find('\0') != std::string_view::npos)
      throw base::ScenarioError(fmt::format("{}:1: a NUL byte, expected text in UTF-8 or ASCII", path));
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
  std::string text = file_contents(path);
  clean_text(text, path);
  return text;
}

}  // namespace simgrad::data
