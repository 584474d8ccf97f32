/// Standardisation: columns are scaled to mean 0 and standard deviation 1 by the training set's statistics.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace simgrad::data {

/// The scaling of columns: a value x becomes (x - mean) / deviation.
struct Scaling {
  std::vector<double> means;
  std::vector<double> deviations;       ///< population standard deviation; 1 for a constant column
  std::vector<std::string> names = {};  ///< of the columns, for errors
};

/// The statistics of the first `columns` columns of a row-major matrix.  values: (rows, stride).  Takes two passes over
/// the rows with compensated sums, so that large means cost no digits.  names: (columns), for errors.
/// Errors: ScenarioError for columns whose mean or deviation is beyond the range of a double.
Scaling scaling_of(std::span<const double> values, std::int64_t columns, std::int64_t stride,
                   const std::vector<std::string>& names, int threads = 1);

/// Standardises a matrix in place.  values: (rows, stride).
/// Errors: ScenarioError for a value of other rows that is beyond the range of a double in this scale.
void rescale(std::span<double> values, std::int64_t stride, const Scaling& scaling, int threads = 1);

}  // namespace simgrad::data
