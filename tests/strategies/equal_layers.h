// A model of which only the times are known: of layers that are alike.
#pragma once

#include "models/profiles/profiled_model.h"

namespace simgrad::tests {

/// Equal layers with measured seconds, whose activations weigh nothing.
class EqualLayers final : public models::ProfiledModel {
 public:
  std::int64_t count = 1;
  std::int64_t parameters_a_layer = 1;
  double forward_s = 1.0, inputs_s = 1.0, weights_s = 1.0;

  std::vector<models::Layer> profile() const override {
    std::vector<models::Layer> all;
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back({.first = i * parameters_a_layer,
                     .count = parameters_a_layer,
                     .unit = i,
                     .forward_s = forward_s,
                     .backward_s = inputs_s + weights_s,
                     .weights_s = weights_s});
    return all;
  }

 protected:
  std::string_view kind() const override { return "equal layers"; }
};

}  // namespace simgrad::tests
