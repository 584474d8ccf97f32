/// Further rows of LIBSVM files.
#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/errors.h"
#include "data/cells.h"
#include "data/new_rows.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

/// Reads lines `label index:value ... # comment`, or without the label.
class SparseReader {
 public:
  SparseReader(const Encoding& encoding, const std::string& path, Unseen unseen)
      : encoding_(encoding), path_(path), unseen_(unseen) {}

  NewRows read(std::string_view text) {
    NewRows block;
    if (encoding_.sparse) block.rows.sparse.starts.push_back(0);
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end), block);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    finish_rows(encoding_, block);
    return block;
  }

 private:
  [[noreturn]] void refuse(std::string_view line, std::string_view found, const std::string& expected) const {
    throw base::ScenarioError(fmt::format("{}:{}:{}: found {}, expected {}", path_, line_,
                                          found.data() - line.data() + 1, shown(found), expected));
  }

  void read_line(std::string_view line, NewRows& block) {
    std::string_view rest = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    constexpr std::string_view blanks = " \t\r";
    for (std::size_t at = rest.find_first_not_of(blanks); at != std::string_view::npos;
         at = rest.find_first_not_of(blanks)) {
      rest.remove_prefix(at);
      const std::size_t end = std::min(rest.find_first_of(blanks), rest.size());
      words.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (words.empty()) return;
    const bool has_label = words.front().find(':') == std::string_view::npos;
    const auto number = static_cast<std::int64_t>(block.lines.size());
    block.lines.push_back(line_);
    block.rows.targets.push_back(has_label ? label(line, words.front()) : 0.0);
    if (has_label && encoding_.task != Task::clustering) block.labelled.push_back(number);
    begin_row(block.rows);
    std::int64_t before = -1;
    for (std::size_t i = has_label ? 1 : 0; i < words.size(); ++i)
      if (!words[i].starts_with("qid:")) read_entry(line, words[i], before, block.rows);
    end_row(block.rows);
  }

  double label(std::string_view line, std::string_view word) const {
    const Cell cell = parse_cell(word);
    if (cell.kind != Cell::Kind::number) refuse(line, word, "a number as the line's label");
    if (encoding_.task != Task::classification) return cell.value;
    const std::int64_t number = class_of(encoding_, word);
    if (number < 0) refuse(line, word, fmt::format("a class of the training: {}", known_names(encoding_.class_names)));
    return static_cast<double>(number);
  }

  void read_entry(std::string_view line, std::string_view word, std::int64_t& before, Dataset& rows) const {
    const std::size_t colon = word.find(':');
    std::int64_t index = 0;
    const char* const end = word.data() + std::min(colon, word.size());
    const auto [stop, error] = std::from_chars(word.data(), end, index);
    if (colon == std::string_view::npos || stop != end || error != std::errc() || index < 0)
      refuse(line, word, "index:value with an index from 0");
    const Cell cell = parse_cell(word.substr(colon + 1));
    if (cell.kind != Cell::Kind::number) refuse(line, word, "a finite number behind the colon");
    if (index <= before) refuse(line, word, fmt::format("ascending indices, above {}", before));
    before = index;
    const std::int64_t feature = index - encoding_.first_index;
    if (feature < 0 || feature >= encoding_.features) {
      if (unseen_ == Unseen::ignore && feature >= 0) return;
      refuse(line, word,
             fmt::format("an index of the training, {} to {}{}", encoding_.first_index,
                         encoding_.features + encoding_.first_index - 1,
                         feature >= 0 ? "; --ignore-unseen leaves others out" : ""));
    }
    if (!encoding_.sparse) {
      rows.features[rows.features.size() - row_width() + static_cast<std::size_t>(feature)] = cell.value;
      return;
    }
    rows.sparse.keys.push_back(static_cast<std::uint32_t>(feature));
    rows.sparse.values.push_back(cell.value);
  }

  std::size_t row_width() const { return static_cast<std::size_t>(encoding_.features + (encoding_.bias ? 1 : 0)); }

  void begin_row(Dataset& rows) const {
    if (encoding_.sparse) return;
    rows.features.resize(rows.features.size() + row_width(), 0.0);
    if (encoding_.bias) rows.features.back() = 1.0;
  }

  void end_row(Dataset& rows) const {
    if (!encoding_.sparse) return;
    if (encoding_.bias) {
      rows.sparse.keys.push_back(static_cast<std::uint32_t>(encoding_.features));
      rows.sparse.values.push_back(1.0);
    }
    rows.sparse.starts.push_back(rows.sparse.entries());
  }

  const Encoding& encoding_;
  const std::string& path_;
  Unseen unseen_;
  std::int64_t line_ = 0;
};

}  // namespace

void read_sparse_rows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit) {
  SparseReader reader(encoding, path, unseen);
  std::int64_t rows = 0;
  for_each_block_of_lines(path, [&](std::string_view lines) {
    NewRows block = reader.read(lines);
    rows += block.rows.rows;
    if (block.rows.rows > 0) visit(block);
  });
  if (rows == 0) throw base::ScenarioError(fmt::format("{}:1:1: no rows, expected at least one", path));
}

}  // namespace simgrad::data
