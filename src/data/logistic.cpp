#include "data/logistic.h"

#include <cmath>

#include "base/normals.h"

namespace simgrad::data {

void Logistic::describe(base::Describer& d) {
  d.number("margin", margin, "the standard deviation of the log-odds: the larger, the better the classes are separated",
           base::Bounds::between(0.0, 1000.0));
  d.number("flip", flip, "the share of labels that are flipped", base::Bounds::between(0.0, 0.5));
}

std::vector<double> Logistic::weights(std::uint64_t seed, std::int64_t features) const {
  base::Stream stream = truth_stream(seed);
  std::vector<double> w(static_cast<std::size_t>(features));
  double squares = 0.0;
  for (double& weight : w) {
    weight = stream.normal();
    squares += weight * weight;
  }
  for (double& weight : w) weight *= margin / std::sqrt(squares);
  return w;
}

Rows Logistic::rows(const Request& request) const {
  Dataset set = blank_head(about.kind, Task::classification, request);
  set.target_name = "class";
  set.classes = 2;
  set.class_names = {"0", "1"};

  const auto make = [this, w = weights(request.seed, set.columns), seed = request.seed](std::int64_t row,
                                                                                        std::span<double> x) {
    base::Stream stream = row_stream(seed, row);
    const double label_draw = stream.uniform();
    const double flip_draw = stream.uniform();
    double log_odds = 0.0;
    base::fill_normals(stream, x);
    for (std::size_t j = 0; j < x.size(); ++j) log_odds += w[j] * x[j];
    const bool one = label_draw < 1.0 / (1.0 + std::exp(-log_odds));
    return one != (flip_draw < flip) ? 1.0 : 0.0;
  };
  return {std::move(set), make};
}

}  // namespace simgrad::data
