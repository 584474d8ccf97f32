#include "models/profiles/profiled_model.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace simgrad::models {

std::string ProfiledModel::numbers_refusal() const {
  return fmt::format(
      "{} is known by its layers alone, so that its runs are timed and compute no numbers; set training.numbers = "
      "false",
      kind());
}

std::int64_t ProfiledModel::parameters(const Problem&) const { return totals(profile()).parameters; }

void ProfiledModel::gradient(const Problem&, const Samples&, std::span<const double>, double, double,
                             std::span<double>) const {
  base::check(false, "a model that is known by its layers alone has no gradient");
}

Score ProfiledModel::score(const Problem&, const Samples&, std::span<const double>) const {
  base::invariant_broken("a model that is known by its layers alone has no loss", std::source_location::current());
}

LayerTotals totals(const std::vector<Layer>& layers) {
  LayerTotals sum;
  for (const Layer& layer : layers) {
    sum.parameters += layer.count;
    sum.forward_flops += layer.forward_flops;
    sum.backward_flops += layer.backward_flops;
    sum.forward_s += layer.forward_s;
    sum.backward_s += layer.backward_s;
    sum.kept.numbers += layer.kept.numbers;
    sum.kept.bytes += layer.kept.bytes;
  }
  return sum;
}

}  // namespace simgrad::models
