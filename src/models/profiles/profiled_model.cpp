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

std::string ProfiledModel::refusal(const Problem&, const Shares& shares) const {
  if (shares.tensor * shares.context * shares.expert == 1 && !shares.sequence_parallel) return {};
  return fmt::format(
      "{} is known by its layers alone, whose products have no known shares; set tensor, context and expert to 1, and "
      "cut it between its units, or take model = \"transformer\"",
      kind());
}

std::vector<Layer> ProfiledModel::layers(const Problem&, const Chunk& chunk) const {
  std::vector<Layer> own;
  std::int64_t next = 0;
  for (const Layer& layer : profile()) {
    if (layer.unit < chunk.first_unit || layer.unit >= chunk.end_unit) continue;
    own.push_back(layer);
    own.back().first = next;
    own.back().unit -= chunk.first_unit;
    next += layer.count;
  }
  return own;
}

std::vector<Segment> ProfiledModel::segments(const Problem&, const Chunk& chunk) const {
  std::vector<Segment> made;
  const std::vector<Layer> all = profile();
  std::size_t first_layer = 0;
  std::int64_t first = 0;
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (all[l].unit < chunk.first_unit || all[l].unit > chunk.end_unit) continue;
    const bool begins = l == 0 || all[l].unit != all[l - 1].unit;
    const double entrance = l == 0 ? 0.0 : all[l].entrance;
    const double bytes = l == 0 || entrance > 0.0 ? 0.0 : entrance_bytes(all, l);
    if (begins && !made.empty()) {
      made.back().exit = entrance;
      made.back().exit_bytes = bytes;
    }
    if (all[l].unit == chunk.end_unit) break;
    if (begins)
      made.push_back({.first_layer = first_layer, .first = first, .entrance = entrance, .entrance_bytes = bytes});
    made.back().layers += 1;
    made.back().count += all[l].count;
    first_layer += 1;
    first += all[l].count;
  }
  for (Segment& segment : made) {
    if (all.back().unit >= chunk.end_unit || &segment != &made.back()) segment.forward = {{.numbers = segment.exit}};
    segment.backward = {{.numbers = segment.entrance, .gradients = true}};
  }
  return made;
}

std::vector<ParameterStretch> ProfiledModel::parameters_of(const Problem&, const Chunk& chunk) const {
  JoinedStretches stretches;
  for (const Layer& layer : profile())
    if (layer.unit >= chunk.first_unit && layer.unit < chunk.end_unit) stretches.add(layer.first, layer.count);
  return stretches.all;
}

double ProfiledModel::entrance_bytes(const std::vector<Layer>& layers, std::size_t layer) const {
  return layers[layer].kept.bytes;
}

void ProfiledModel::run(const Problem&, const Chunk&, std::size_t, bool, std::size_t, const StepInputs&,
                        std::span<double>) const {
  base::check(false, "a model that is known by its layers alone computes no steps");
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
