#include "data/libsvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "base/errors.h"
#include "data/cells.h"
#include "data/labels.h"
#include "data/limits.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

struct Entry {
  std::int64_t index;
  double value;
};

/// The file as it stands: rows of entries, one behind the other.
struct SparseRows {
  std::vector<double> labels;
  std::vector<std::size_t> ends;  ///< rows; where a row's entries end
  std::vector<Entry> entries;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = -1;
  std::int64_t most_line = 0;
};

/// Takes the text up to the delimiter, and the delimiter, off the front.
std::string_view take_until(std::string_view& text, std::string_view delimiters) {
  const auto end = std::min(text.find_first_of(delimiters), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  SparseRows rows(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      std::string_view line = take_until(text, "\n");
      if (line.ends_with('\r')) line.remove_suffix(1);
      read_line(line);
    }
    if (rows_.labels.empty()) throw base::ScenarioError(fmt::format("{}:1: no rows, expected at least one", path_));
    if (rows_.most < 0)
      throw base::ScenarioError(fmt::format("{}:1: no row has a feature, expected index:value pairs", path_));
    return std::move(rows_);
  }

 private:
  void read_line(std::string_view line) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return;
    const std::string_view label = take_until(line, " \t");
    const Cell cell = parse_cell(label);
    if (cell.kind != Cell::Kind::number) refuse(label, "a number as the line's label");
    rows_.labels.push_back(cell.value);

    std::int64_t before = -1;
    while (!line.empty()) {
      const std::string_view pair = take_until(line, " \t");
      if (pair.empty() || pair.starts_with("qid:")) continue;
      const Entry entry = parsed(pair);
      if (entry.index == before) refuse(pair, "each index once in a line");
      if (entry.index < before) refuse(pair, fmt::format("ascending indices, not one below {}", before));
      before = entry.index;
      rows_.least = std::min(rows_.least, entry.index);
      if (entry.index > rows_.most) {
        rows_.most = entry.index;
        rows_.most_line = line_;
      }
      rows_.entries.push_back(entry);
    }
    rows_.ends.push_back(rows_.entries.size());
  }

  Entry parsed(std::string_view pair) const {
    Entry entry{};
    std::string_view value = pair;
    const std::string_view index = take_until(value, ":");
    const char* end = index.data() + index.size();
    const auto [stop, error] = std::from_chars(index.data(), end, entry.index);
    // The largest number is kept free, so that a count of columns fits as well.
    if (index.size() == pair.size() || stop != end || error != std::errc() || entry.index < 0 ||
        entry.index == std::numeric_limits<std::int64_t>::max())
      refuse(pair, "index:value with an index from 0");
    const Cell cell = parse_cell(value);
    if (cell.kind != Cell::Kind::number) refuse(pair, "a finite number behind the colon");
    entry.value = cell.value;
    return entry;
  }

  [[noreturn]] void refuse(std::string_view found, std::string_view expected) const {
    throw base::ScenarioError(fmt::format("{}:{}: found {}, expected {}", path_, line_, shown(found), expected));
  }

  const std::string& path_;
  std::int64_t line_ = 0;
  SparseRows rows_;
};

}  // namespace

void Libsvm::describe(base::Describer& d) {
  d.path("path", path, "the file");
  if (path.empty()) d.refuse("path", "the data source \"libsvm\" needs the path of a file");
}

Dataset Libsvm::load(const Request& request) const { return read(text_file(path), request); }

Dataset Libsvm::read(std::string text, const Request& request) const {
  clean_text(text, path);
  const SparseRows rows = Parser(path).rows(text);

  const std::int64_t base = rows.least == 0 ? 0 : 1;
  const auto count = static_cast<std::int64_t>(rows.labels.size());
  Dataset set =
      sized_dataset(count, rows.most - base + 1, fmt::format("{}:{}: as a dense matrix", path, rows.most_line));
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.ends.size(); ++row) {
    double* features = set.features.data() + static_cast<std::int64_t>(row) * set.columns;
    for (; next < rows.ends[row]; ++next) features[rows.entries[next].index - base] = rows.entries[next].value;
  }
  for (std::int64_t j = 0; j < set.columns; ++j) set.feature_names.push_back(fmt::format("feature_{}", j + base));
  set.target_name = "label";
  if (request.task != Task::classification)
    set.targets = rows.labels;
  else
    set_classes<double>(set, rows.labels, fmt::format("{}:1: the label", path));
  return set;
}

}  // namespace simgrad::data
