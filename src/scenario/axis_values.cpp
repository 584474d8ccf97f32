#include "scenario/axis_values.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "scenario/formula.h"

namespace simgrad::scenario {

namespace {

Value value_of(Node node, const Position& position) {
  place(node, position);
  return {inline_toml(node), position, std::make_shared<const Node>(std::move(node))};
}

}  // namespace

void add_values(const Node& node, std::vector<Value>& values) {
  const auto* text = node.as<std::string>();
  if (!text || !is_formula(*text)) return values.push_back(value_of(node, node.position));
  for (Node& each : formula_values(*text, node.position)) values.push_back(value_of(std::move(each), node.position));
}

bool equally_long(const std::vector<Axis>& zip, Faults& faults) {
  bool equal = true;
  for (const Axis& axis : zip) {
    if (axis.values.size() == zip.front().values.size()) continue;
    equal = false;
    const std::string place = zip.front().position.line == 0 ? "" : " at " + zip.front().position.text();
    faults.add(axis.position, fmt::format("the lists of a zip are equally long, but {} has {} value{} and {}{} has {}",
                                          toml_string(axis.key), axis.values.size(), axis.values.size() == 1 ? "" : "s",
                                          toml_string(zip.front().key), place, zip.front().values.size()));
  }
  return equal;
}

}  // namespace simgrad::scenario
