/// The values that keys take in turn: [grid] and `--grid`.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/errors.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

void collect(const Table& table, const std::string& prefix, std::vector<Axis>& axes, Faults& faults) {
  for (const Entry& entry : table.entries) {
    const std::string key = prefix.empty() ? entry.key : fmt::format("{}.{}", prefix, entry.key);
    if (const auto* nested = entry.node.as<Table>()) {
      collect(*nested, key, axes, faults);
      continue;
    }
    const auto* list = entry.node.as<Array>();
    if (!list) {
      faults.add(entry.node.position, fmt::format("{} in [grid] must be a list of values, as in [1, 2, 4], found {}",
                                                  toml_string(key), shown(entry.node)));
      continue;
    }
    if (list->empty()) {
      faults.add(entry.node.position, fmt::format("{} in [grid] has no values", toml_string(key)));
      continue;
    }
    Axis axis{.key = key, .values = {}, .position = entry.position};
    for (const Node& value : *list) axis.values.push_back({inline_toml(value), value.position});
    axes.push_back(std::move(axis));
  }
}

/// Splits a text at the commas outside of quotes and brackets.
std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> pieces;
  char quote = '\0';
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      pieces.push_back(text.substr(from, i - from));
      from = i + 1;
    }
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

}  // namespace

std::vector<Axis> axes(const Table& grid, Faults& faults) {
  std::vector<Axis> all;
  collect(grid, "", all, faults);
  // Sorts by position: the keys of one table may be spread over several lines, as cluster.workers, training.seed,
  // cluster.speed.
  std::ranges::stable_sort(all, {}, [](const Axis& axis) {
    return std::tuple(axis.position.line == 0, axis.position.line, axis.position.column);
  });
  std::vector<Axis> distinct;
  for (Axis& axis : all) {
    const auto same = std::ranges::find(distinct, axis.key, &Axis::key);
    if (same == distinct.end())
      distinct.push_back(std::move(axis));
    else
      faults.add(axis.position,
                 fmt::format("{} is in [grid] twice, first at {}", toml_string(axis.key), same->position.text()));
  }
  return distinct;
}

Axis Document::axis(std::string_view assignment) {
  const Position position{.file = fmt::format("--grid {}", assignment)};
  const Assignment parts = split_assignment(assignment, "--grid", "KEY=VALUE,VALUE,...");
  if (!key_parts(parts.key))
    throw base::ScenarioError(
        fmt::format("{}: malformed key {}; expected names with dots between, as in cluster.workers", position.text(),
                    toml_string(parts.key)));
  Axis axis{.key = std::string(parts.key), .values = {}, .position = position};
  if (const Node whole = parse_value(parts.value, position); const auto* list = whole.as<Array>()) {
    for (const Node& value : *list) axis.values.push_back({inline_toml(value), position});
  } else {
    for (const std::string_view piece : split_at_commas(parts.value)) {
      if (trimmed(piece).empty()) throw base::ScenarioError(fmt::format("{}: a value is empty", position.text()));
      axis.values.push_back({inline_toml(parse_value(piece, position)), position});
    }
  }
  if (axis.values.empty()) throw base::ScenarioError(fmt::format("{}: the list is empty", position.text()));
  return axis;
}

}  // namespace simgrad::scenario
