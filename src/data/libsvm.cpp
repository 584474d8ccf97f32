#include "data/libsvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "data/cells.h"
#include "data/encoding.h"
#include "data/labels.h"
#include "data/limits.h"
#include "data/sparse_rows.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

struct Entry {
  std::int64_t index;
  double value;
};

/// The rows of the file, not yet a data set.
struct Lines {
  std::vector<double> labels;
  SparseRows rows;  ///< by the file's own indices
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = -1;
  std::int64_t most_line = 0;

  void add(const Entry& entry) {
    // Stores values only once one differs from 1: in most files of this kind all are 1.
    if (rows.values.empty() && entry.value != 1.0) rows.values.assign(rows.keys.size(), 1.0);
    rows.keys.push_back(static_cast<std::uint32_t>(entry.index));  // an index that does not fit is refused at the end
    if (entry.value != 1.0 || !rows.values.empty()) rows.values.push_back(entry.value);
  }
  double value(std::size_t entry) const { return rows.values.empty() ? 1.0 : rows.values[entry]; }
};

/// Removes the text up to and including the delimiter from the front. Returns it without the delimiter.
std::string_view take_until(std::string_view& text, std::string_view delimiters) {
  const auto end = std::min(text.find_first_of(delimiters), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

class RowParser {
 public:
  explicit RowParser(const std::string& path) : path_(path) { rows_.rows.starts.push_back(0); }

  /// Reads the next block of whole lines.
  void feed(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      std::string_view line = take_until(text, "\n");
      if (line.ends_with('\r')) line.remove_suffix(1);
      read_line(line);
    }
  }

  Lines lines() {
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
      rows_.add(entry);
    }
    rows_.rows.starts.push_back(rows_.rows.entries());
  }

  Entry parsed(std::string_view pair) const {
    Entry entry{};
    std::string_view value = pair;
    const std::string_view index = take_until(value, ":");
    const char* end = index.data() + index.size();
    const auto [stop, error] = std::from_chars(index.data(), end, entry.index);
    // The largest number is not allowed, so that the number of columns fits as well.
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
  Lines rows_;
};

}  // namespace

void Libsvm::describe(base::Describer& d) {
  d.path("path", path, "the file");
  if (path.empty()) d.refuse("path", "the data source \"libsvm\" needs the path of a file");
}

namespace {

void set_targets(Dataset& set, std::vector<double> labels, const Request& request, const std::string& path) {
  set.target_name = "label";
  set.targets = std::move(labels);
  if (request.task != Task::classification) return;
  const std::vector<double> names = std::exchange(set.targets, std::vector<double>(set.targets.size()));
  set_classes<double>(set, names, fmt::format("{}:1: the label", path));
}

/// The format's indices begin at 1; some programs (scikit-learn by default) write them from 0. The same features mean
/// the same model either way, so such a file is read, and said to be unusual.
void note_base(Dataset& set, std::int64_t base, const Request& request, const std::string& path) {
  auto encoding = std::make_shared<Encoding>();
  encoding->form = Encoding::Form::sparse;
  encoding->task = request.task;
  encoding->target.name = "label";
  encoding->first_index = base;
  set.encoding = std::move(encoding);
  if (base == 0)
    set.notes.push_back(fmt::format(
        "{}: an index is 0, though LIBSVM's indices begin at 1: all indices are taken to count from 0", path));
}

Dataset sparse_dataset(Lines lines, const Request& request, const std::string& path) {
  const std::int64_t base = lines.least == 0 ? 0 : 1;
  if (lines.most - base >= keys_most)
    throw base::ScenarioError(
        fmt::format("{}:{}: index {}; expected at most {}, as a sparse feature's number has 32 bits", path,
                    lines.most_line, lines.most, keys_most - 1 + base));
  Dataset set;
  note_base(set, base, request, path);
  set.rows = static_cast<std::int64_t>(lines.labels.size());
  set.columns = lines.most - base + 1;
  set.sparse = std::move(lines.rows);
  if (base > 0)
    for (std::uint32_t& key : set.sparse.keys) --key;
  set.fields = common_length(set.sparse);
  set_targets(set, std::move(lines.labels), request, path);
  return set;
}

Dataset dense_dataset(Lines lines, const Request& request, const std::string& path) {
  const std::int64_t base = lines.least == 0 ? 0 : 1;
  const auto count = static_cast<std::int64_t>(lines.labels.size());
  Dataset set =
      sized_dataset(count, lines.most - base + 1, fmt::format("{}:{}: as a dense matrix", path, lines.most_line));
  note_base(set, base, request, path);
  for (std::int64_t row = 0; row < count; ++row) {
    double* features = set.features.data() + row * set.columns;
    std::fill_n(features, set.columns, 0.0);
    const std::int64_t end = lines.rows.starts[static_cast<std::size_t>(row) + 1];
    for (auto at = static_cast<std::size_t>(lines.rows.starts[static_cast<std::size_t>(row)]); std::cmp_less(at, end);
         ++at)
      features[static_cast<std::int64_t>(lines.rows.keys[at]) - base] = lines.value(at);
  }
  for (std::int64_t j = 0; j < set.columns; ++j) set.feature_names.push_back(fmt::format("feature_{}", j + base));
  set_targets(set, std::move(lines.labels), request, path);
  return set;
}

}  // namespace

Dataset Libsvm::load(const Request& request) const {
  if (!request.sparse) return read(text_file(path), request);
  RowParser parser(path);
  for_each_block_of_lines(path, [&](std::string_view lines) { parser.feed(lines); });
  return sparse_dataset(parser.lines(), request, path);
}

Dataset Libsvm::read(std::string text, const Request& request) const {
  clean_text(text, path);
  RowParser parser(path);
  parser.feed(text);
  text = {};
  return request.sparse ? sparse_dataset(parser.lines(), request, path) : dense_dataset(parser.lines(), request, path);
}

}  // namespace simgrad::data
