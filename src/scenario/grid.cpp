/// The values that keys take in turn: [grid] with its zips.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "scenario/axis_values.h"
#include "scenario/formula.h"
#include "scenario/node.h"

namespace simgrad::scenario {

namespace {

/// The most axes of a grid: each is a column of the results, and a copy of the points before it.
constexpr std::size_t axes_most = 1'000;

/// The axes of [grid], or of a zip.
class AxesOf {
 public:
  AxesOf(std::string title, Faults& faults) : title_(std::move(title)), faults_(faults) {}

  void collect(const Table& table, const std::string& prefix) {
    for (const Entry& entry : table.entries) {
      const std::string key = prefix.empty() ? entry.key : fmt::format("{}.{}", prefix, entry.key);
      if (const auto* nested = entry.node.as<Table>())
        collect(*nested, key);
      else
        add(key, entry);
    }
  }

  std::vector<Axis> take() {
    sort_by_place(axes_);
    return std::move(axes_);
  }

 private:
  void add(const std::string& key, const Entry& entry) {
    Axis axis{.key = key, .values = {}, .position = entry.position};
    const auto* list = entry.node.as<Array>();
    const auto* text = entry.node.as<std::string>();
    if (!list && !(text && is_formula(*text)))
      return faults_.add(entry.node.position,
                         fmt::format("{} in {} must be a list of values, as in [1, 2, 4], or range(a,b,step) or "
                                     "logspace(a,b,n) in quotes, found {}",
                                     toml_string(key), title_, shown(entry.node)));
    if (list && std::cmp_greater(list->size(), formula_values_most))
      return faults_.add(entry.node.position, fmt::format("{} in {}: these are {} values; at most {} are allowed",
                                                          toml_string(key), title_, list->size(), formula_values_most));
    try {
      if (!list) add_values(entry.node, axis.values);
      for (std::size_t i = 0; list && i < list->size(); ++i) add_values((*list)[i], axis.values);
    } catch (const std::invalid_argument& fault) {
      return faults_.add(entry.node.position, fmt::format("{} in {}: {}", toml_string(key), title_, fault.what()));
    }
    if (axis.values.empty())
      return faults_.add(
          entry.node.position,
          fmt::format("{} in {} has no values; expected at least one, as in [1, 2, 4]", toml_string(key), title_));
    axes_.push_back(std::move(axis));
  }

  /// The keys of one table may be spread over several lines, as cluster.workers, training.seed, cluster.speed. A file
  /// that others extend comes first.
  static void sort_by_place(std::vector<Axis>& axes) {
    std::vector<std::string> files;
    for (const Axis& axis : axes)
      if (std::ranges::find(files, axis.position.file) == files.end()) files.push_back(axis.position.file);
    std::ranges::stable_sort(axes, {}, [&](const Axis& axis) {
      return std::tuple(axis.position.line == 0, std::ranges::find(files, axis.position.file) - files.begin(),
                        axis.position.line, axis.position.column);
    });
  }

  std::string title_;
  Faults& faults_;
  std::vector<Axis> axes_;
};

/// The axes of one table of [[grid.zip]].
std::vector<Axis> zip_of(const Node& node, int number, std::string_view name, Faults& faults) {
  const auto* table = node.as<Table>();
  if (!table || table->entries.empty()) {
    faults.add(node.position,
               fmt::format("a zip is a table of lists under [[{}.zip]], found {}", name, table ? "none" : shown(node)));
    return {};
  }
  AxesOf zip(fmt::format("[[{}.zip]]", name), faults);
  zip.collect(*table, "");
  std::vector<Axis> axes = zip.take();
  if (!equally_long(axes, faults)) return {};
  for (Axis& axis : axes) axis.zip = number;
  return axes;
}

/// Leaves out axes whose key is there already, with a fault for each.
std::vector<Axis> distinct(std::vector<Axis> all, std::string_view name, Faults& faults) {
  std::vector<Axis> first;
  for (Axis& axis : all) {
    const auto same = std::ranges::find(first, axis.key, &Axis::key);
    if (same == first.end())
      first.push_back(std::move(axis));
    else
      faults.add(axis.position,
                 fmt::format("{} is in [{}] twice, first at {}", toml_string(axis.key), name, same->position.text()));
  }
  return first;
}

}  // namespace

std::vector<Axis> axes(const Table& grid, std::string_view name, Faults& faults) {
  Table plain = grid;
  std::vector<Node> zips;
  if (const Entry* entry = grid.find("zip")) {
    if (const auto* list = entry->node.as<Array>())
      zips = *list;
    else
      zips.push_back(entry->node);
    std::erase_if(plain.entries, [](const Entry& each) { return each.key == "zip"; });
  }
  AxesOf own(fmt::format("[{}]", name), faults);
  own.collect(plain, "");
  std::vector<Axis> all = own.take();
  int number = 0;
  for (const Node& zip : zips)
    for (Axis& axis : zip_of(zip, ++number, name, faults)) all.push_back(std::move(axis));
  if (all.size() > axes_most) {
    faults.add(all[axes_most].position,
               fmt::format("[{}] varies {} keys, expected at most {}", name, all.size(), axes_most));
    return {};
  }
  return distinct(std::move(all), name, faults);
}

}  // namespace simgrad::scenario
