#include "data/blobs.h"

#include <fmt/format.h>

#include <string>

#include "base/errors.h"
#include "base/normals.h"
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

Rows Blobs::rows(const Request& request) const {
  if (const std::string fault = too_large(classes, request.features); !fault.empty())
    throw base::ScenarioError(fmt::format("the centres of data source \"blobs\": {}", fault));
  Dataset set = blank_head(about.kind, Task::classification, request);
  set.target_name = "class";
  set.classes = static_cast<int>(classes);
  for (std::int64_t k = 0; k < classes; ++k) set.class_names.push_back(std::to_string(k));

  const auto make = [this, all = centres(request.seed, set.columns), seed = request.seed](std::int64_t row,
                                                                                          std::span<double> x) {
    base::Stream stream = row_stream(seed, row);
    const std::int64_t k = row % classes;
    const double* const centre = all.data() + k * static_cast<std::int64_t>(x.size());
    base::fill_normals(stream, x);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = centre[j] + spread * x[j];
    return static_cast<double>(k);
  };
  return {std::move(set), make};
}

}  // namespace simgrad::data
