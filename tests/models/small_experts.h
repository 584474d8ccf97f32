// A small transformer with experts.
#pragma once

#include "models/transformer.h"

namespace simgrad::models::test {

inline Transformer small(std::int64_t experts, std::int64_t top_k, double capacity_factor, double auxiliary_loss) {
  Transformer model;
  model.options.layers = 2;
  model.options.hidden = 6;
  model.options.heads = 2;
  model.options.feed_forward = 5;
  model.options.sequence = 4;
  model.options.tied = false;
  model.options.experts = experts;
  model.options.top_k = top_k;
  model.options.capacity_factor = capacity_factor;
  model.options.auxiliary_loss = auxiliary_loss;
  return model;
}

}  // namespace simgrad::models::test
