/// Turns the labels of a file into classes.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/errors.h"
#include "data/dataset.h"
#include "data/distinct.h"
#include "data/limits.h"

namespace simgrad::data {

/// Sets targets, classes and class_names from one label for each row: the distinct labels, sorted, are 0 .. k-1.
/// Label: double or std::string_view; numbers sort as numbers.  `what`: position and name, for errors.
/// Errors: ScenarioError for fewer than two labels or more than `values_most`.
template <class Label>
void set_classes(Dataset& set, std::span<const Label> labels, const std::string& what) {
  Distinct<Label> distinct(values_most);
  for (const Label& label : labels)
    if (!distinct.add(label))
      throw base::ScenarioError(
          fmt::format("{} holds more than {} different values, expected a few classes; it looks like a regression: use "
                      "a model that predicts a number",
                      what, values_most));
  if (distinct.size() < 2)
    throw base::ScenarioError(
        fmt::format("{} holds one value only, {}; expected at least two classes", what, distinct.values().front()));
  for (std::size_t i = 0; i < labels.size(); ++i) set.targets[i] = static_cast<double>(distinct.index(labels[i]));
  set.classes = static_cast<int>(distinct.size());
  for (const Label& label : distinct.values()) set.class_names.push_back(fmt::format("{}", label));
}

}  // namespace simgrad::data
