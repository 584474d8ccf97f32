// A layer that is one product by parameters.
#pragma once

#include <cstdint>

#include "models/model.h"

namespace simgrad::tests {

inline models::Layer layer_of(const models::Product& product) {
  return {.count = static_cast<std::int64_t>(product.n * product.k),
          .forward_flops = product.flops(),
          .backward_flops = 2.0 * product.flops(),
          .products = {product}};
}

}  // namespace simgrad::tests
