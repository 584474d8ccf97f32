#include "data/csv_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/errors.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

/// Finds the ends of rows, as the scanner of tables cuts them: a quote opens a cell only where the cell begins.
class RowEnds {
 public:
  explicit RowEnds(char separator) : separator_(separator) {}

  /// Reads on. Returns the length up to the last end of a row in all that was read since the last call of `restart`; 0:
  /// there is none.
  std::size_t read(std::string_view text) {
    for (const char c : text) {
      ++length_;
      if (quoted_) {
        if (c == '"') quoted_ = false;  // a doubled one opens again
        begins_ = c == '"';
        continue;
      }
      if (c == '"' && begins_) {
        quoted_ = true;
        continue;
      }
      begins_ = c == separator_ || c == '\n' || c == '\r';
      if (c == '\n') end_ = length_;
    }
    return end_;
  }
  /// The text up to the last end is gone.
  void restart() {
    length_ -= end_;
    end_ = 0;
  }

 private:
  char separator_;
  bool quoted_ = false, begins_ = true;
  std::size_t length_ = 0, end_ = 0;
};

}  // namespace

void for_each_block_of_rows(const std::string& path, char separator,
                            const std::function<void(std::string& text, std::int64_t first_line)>& visit) {
  RowEnds ends(separator);
  std::string waiting;
  std::int64_t line = 1;
  const auto pass_on = [&](std::size_t length) {
    std::string block = waiting.substr(0, length);
    waiting.erase(0, length);
    const auto lines = std::ranges::count(block, '\n');
    visit(block, line);
    line += lines;
  };
  for_each_block_of_lines(path, [&](std::string_view lines) {
    waiting += lines;
    if (const std::size_t end = ends.read(lines); end > 0) {
      ends.restart();
      pass_on(end);
    }
    if (waiting.size() > line_bytes_most)
      throw base::ScenarioError(
          fmt::format("{}:{}: a row of more than {} GiB; is a quote never closed?", path, line, line_bytes_most >> 30));
  });
  if (!waiting.empty()) pass_on(waiting.size());
}

}  // namespace simgrad::data
