#include "models/profiles/layer_profile.h"

#include "base/errors.h"

namespace simgrad::models {

void LayerProfile::describe(base::Describer& d) {
  d.path(
      "path", path,
      "a CSV file with a line for each layer: name, parameters, forward_flops and backward_flops or forward_s and "
      "backward_s, of a sample; optionally weights_s (the part of backward_s for the gradients of the parameters), "
      "activation_bytes, entrance_bytes (carried by a hop of a pipeline), unit and times (the number of such layers)");
  if (path.empty()) return d.refuse("path", "kind = \"profile\" reads layers from a file; give path = \"...\"");
  if (path == path_read_) return;
  try {
    table_ = read_layers(path);
    path_read_ = path;
  } catch (const base::ScenarioError& error) {
    d.refuse("path", error.what());
  }
}

std::vector<std::string> LayerProfile::files() const {
  if (path.empty()) return {};
  return {path};
}

std::string LayerProfile::refusal(const Problem&) const {
  if (totals(table_.layers).parameters > 0) return {};
  return "the layers of " + path + " have no parameters, so that there is nothing to train; expected at least one";
}

double LayerProfile::entrance_bytes(const std::vector<Layer>& layers, std::size_t layer) const {
  return table_.entrance_bytes.empty() ? ProfiledModel::entrance_bytes(layers, layer) : table_.entrance_bytes[layer];
}

}  // namespace simgrad::models
