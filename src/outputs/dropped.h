/// A strategy that a race has dropped at a grid point.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "record/describe.h"

namespace simgrad::outputs {

struct Dropped {
  std::string label;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();  ///< the grid point
  std::int64_t seeds = 0;                                                ///< that it has run
  std::int64_t seeds_left_out = 0;                                       ///< that it has not
  std::string behind;  ///< the label of the strategy that was best then
  std::string number;  ///< by which they were compared: a field of a run, or s_per_sample
  /// The mean of the differences from the best one, seed by seed, with the interval that decided; nothing where no seed
  /// has the number.
  std::optional<double> difference = {};
  std::optional<double> difference_low = {};
  std::optional<double> difference_high = {};
};

template <record::Maybe<Dropped> Given, class Visitor>
void describe(Given& dropped, Visitor& v) {
  v.value("label", dropped.label);
  v.value("parameters", dropped.parameters);
  v.value("seeds", dropped.seeds);
  v.value("seeds_left_out", dropped.seeds_left_out);
  v.value("behind", dropped.behind);
  v.value("number", dropped.number);
  v.value("difference", dropped.difference);
  v.value("difference_low", dropped.difference_low);
  v.value("difference_high", dropped.difference_high);
}

}  // namespace simgrad::outputs
