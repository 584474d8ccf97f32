#include "models/profiles/layer_profile.h"

#include "base/errors.h"
#include "models/profiles/layer_table.h"

namespace simgrad::models {

void LayerProfile::describe(base::Describer& d) {
  d.path("path", path,
         "a CSV file, a line a layer: name, parameters, forward_flops and backward_flops or forward_s and backward_s, "
         "of a "
         "sample; if wanted activation_bytes and unit");
  if (path.empty()) return d.refuse("path", "kind = \"profile\" reads layers from a file; give path = \"...\"");
  if (path == path_read_) return;
  try {
    layers_ = read_layers(path);
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
  if (totals(layers_).parameters > 0) return {};
  return "the layers of " + path + " have no parameters, so that there is nothing to train; expected at least one";
}

}  // namespace simgrad::models
