#include "cluster/failures/trace_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/errors.h"

namespace simgrad::cluster {

TraceRow::TraceRow(const std::string& file, int number, std::string_view line) : file_(file), number_(number) {
  for (std::size_t from = 0; from <= line.size();) {
    const auto comma = std::min(line.find(',', from), line.size());
    cells_.push_back({line.substr(from, comma - from), from + 1});
    from = comma + 1;
  }
}

void TraceRow::refuse(std::size_t cell, const std::string& text) const {
  const std::size_t column = cell < cells_.size() ? cells_[cell].column : 1;
  throw base::ScenarioError(fmt::format("{}:{}:{}: {}", file_, number_, column, text));
}

double TraceRow::number(std::size_t cell, std::string_view name) const {
  const std::string_view text = cells_.at(cell).text;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0)
    refuse(cell, fmt::format("{} must be a number of at least 0, found \"{}\"", name, text));
  return value;
}

std::size_t TraceRow::index(std::size_t cell, std::string_view name, std::size_t end, std::string_view meaning) const {
  const double value = number(cell, name);
  if (value != std::floor(value) || value >= static_cast<double>(end))
    refuse(cell, fmt::format("{} must be {}, from 0 on", name, meaning));
  return static_cast<std::size_t>(value);
}

}  // namespace simgrad::cluster
