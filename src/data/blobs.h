/// k classes, each a normal distribution around its centre.
#pragma once

#include <vector>

#include "data/generator.h"

namespace simgrad::data {

/// Row i belongs to class i mod classes, so that the classes are balanced; x ~ N(centre, spread^2 I). The centres' own
/// coordinates are N(0, 1): two centres are about sqrt(2 d) apart in d dimensions.
struct Blobs : RowGenerator {
  static constexpr base::About about{.kind = "blobs",
                                     .summary = "Classes that are normal distributions around random centres",
                                     .cost = "one normal draw a number",
                                     .source = ""};

  std::int64_t classes = 3;
  double spread = 1.0;

  void describe(base::Describer& d) override;
  bool suits(Task task) const override { return serves(Task::classification, task); }
  Rows rows(const Request& request) const override;

  /// The true centres.  Returns (classes, features), row-major.
  std::vector<double> centres(std::uint64_t seed, std::int64_t features) const;
};

}  // namespace simgrad::data
