#include "experiment/calibration/measured_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "base/errors.h"
#include "base/text.h"
#include "data/cells.h"
#include "data/csv_table.h"
#include "data/text_file.h"

namespace simgrad::experiment {

namespace {

/// NAME=KEY, by name.
std::map<std::string, std::string> keys_of(const std::vector<std::string>& columns) {
  std::map<std::string, std::string> keys;
  for (const std::string& column : columns) {
    const std::size_t equals = column.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == column.size())
      throw base::ScenarioError(fmt::format(
          "--column {}: expected NAME=KEY, a column of the file and an option, as in hidden=model.hidden", column));
    keys[column.substr(0, equals)] = column.substr(equals + 1);
  }
  return keys;
}

/// The length of the lines at the beginning that are comments, and their number.
std::pair<std::size_t, std::int64_t> comments(std::string_view text) {
  std::size_t end = 0;
  std::int64_t lines = 0;
  while (end < text.size() && text[end] == '#') {
    const std::size_t line_end = text.find('\n', end);
    end = line_end == std::string_view::npos ? text.size() : line_end + 1;
    ++lines;
  }
  return {end, lines};
}

class RunTable {
 public:
  RunTable(const std::string& path, const std::vector<std::string>& columns)
      : path_(path), text_(data::text_file(path)) {
    const auto [skipped, lines] = comments(text_);
    above_ = lines;
    table_ = data::csv_table(std::span(text_).subspan(skipped), {}, path);
    const std::map<std::string, std::string> keys = keys_of(columns);
    for (const auto& [name, key] : keys)
      if (std::ranges::find(table_.names, name) == table_.names.end())
        refuse_names(fmt::format("there is no column \"{}\", which --column names{}", name,
                                 base::suggestion(name, table_.names)));
    for (std::int64_t j = 0; j < table_.columns; ++j) {
      const std::string& name = table_.names[static_cast<std::size_t>(j)];
      if (name == "step_s")
        step_s_ = j;
      else if (name == "family")
        family_ = j;
      else if (const auto key = keys.find(name); key != keys.end())
        options_.emplace_back(j, key->second);
      else if (name.find('.') != std::string::npos)
        options_.emplace_back(j, name);
      else
        runs_.unused.push_back(name);
    }
    if (step_s_ < 0) refuse_names("there is no column \"step_s\", the measured seconds of a step");
  }

  MeasuredRuns all() {
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      const data::Cell time = data::parse_cell(table_.cell(row, step_s_));
      if (time.kind == data::Cell::Kind::missing) continue;
      if (time.kind != data::Cell::Kind::number || !(time.value > 0.0)) refuse_time(row);
      MeasuredRun& run = runs_.rows.emplace_back();
      run.line = line(row);
      run.step_s = time.value;
      if (family_ >= 0) run.family = data::trimmed(table_.cell(row, family_));
      for (const auto& [column, key] : options_)
        if (const std::string_view cell = data::trimmed(table_.cell(row, column)); !cell.empty())
          run.sets.push_back(fmt::format("{}={}", key, cell));
    }
    if (runs_.rows.empty()) throw base::ScenarioError(fmt::format("{}: no row has a time in column step_s", path_));
    return std::move(runs_);
  }

 private:
  std::int64_t line(std::int64_t row) const { return table_.lines[static_cast<std::size_t>(row)] + above_; }

  [[noreturn]] void refuse_names(const std::string& what) const {
    throw base::ScenarioError(fmt::format("{}:{}:1: {}", path_, table_.names_line + above_, what));
  }

  [[noreturn]] void refuse_time(std::int64_t row) const {
    const std::string_view found = table_.cell(row, step_s_);
    const char* at = found.data();
    while (at > text_.data() && at[-1] != '\n' && at[-1] != '\r') --at;
    throw base::ScenarioError(fmt::format("{}:{}:{}: step_s is {}; expected seconds above 0", path_, line(row),
                                          found.data() - at + 1, data::shown(found)));
  }

  const std::string& path_;
  std::string text_;
  data::CsvTable table_;
  std::int64_t above_ = 0;  ///< lines above the header
  std::int64_t step_s_ = -1;
  std::int64_t family_ = -1;
  std::vector<std::pair<std::int64_t, std::string>> options_;  ///< column, key
  MeasuredRuns runs_;
};

}  // namespace

MeasuredRuns read_measured_runs(const std::string& path, const std::vector<std::string>& columns) {
  return RunTable(path, columns).all();
}

}  // namespace simgrad::experiment
