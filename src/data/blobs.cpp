#include "data/blobs.h"

#include <fmt/format.h>

#include <string>

#include "base/errors.h"
#include "data/limits.h"

namespace simgrad::data {

void Blobs::describe(base::Describer& d) {
  d.integer("classes", classes, "the number of classes", base::Bounds::between(2.0, static_cast<double>(values_most)));
  d.number("spread", spread, "the standard deviation of a class in each direction; that of the centres is 1",
           base::Bounds::at_least(0.0));
}

std::vector<double> Blobs::centres(std::uint64_t seed, std::int64_t features) const {
  base::Stream stream = truth_stream(seed);
  std::vector<double> all(static_cast<std::size_t>(classes * features));
  for (double& coordinate : all) coordinate = stream.normal();
  return all;
}

Dataset Blobs::load(const Request& request) const {
  if (const std::string fault = too_large(classes, request.features); !fault.empty())
    throw base::ScenarioError(fmt::format("the centres of data source \"blobs\": {}", fault));
  Dataset set = blank_dataset(about.kind, Task::classification, request);
  set.target_name = "class";
  set.classes = static_cast<int>(classes);
  for (std::int64_t k = 0; k < classes; ++k) set.class_names.push_back(std::to_string(k));

  const std::vector<double> all = centres(request.seed, set.columns);
  double* x = set.features.data();
  for (std::int64_t row = 0; row < set.rows; ++row) {
    base::Stream stream = row_stream(request.seed, row);
    const std::int64_t k = row % classes;
    const double* centre = all.data() + k * set.columns;
    for (std::int64_t j = 0; j < set.columns; ++j) *x++ = centre[j] + spread * stream.normal();
    set.targets[static_cast<std::size_t>(row)] = static_cast<double>(k);
  }
  return set;
}

}  // namespace simgrad::data
