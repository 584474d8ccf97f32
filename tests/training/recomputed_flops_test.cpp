// The flops of a GPT with and without recomputation, against the published count.
#include "catch.h"
#include "models/transformer_shape.h"
#include "training/learning/units.h"

namespace recomputed_flops_test {

using namespace simgrad;
using training::Recompute;

TEST_CASE("a GPT with and without full recomputation takes the flops that D. Narayanan et al. (2021) count") {
  const double l = 5, h = 96, s = 64, V = 1000;
  const std::vector<models::Layer> layers = models::layers({.layers = 5,
                                                            .hidden = 96,
                                                            .heads = 8,
                                                            .kv_heads = 8,
                                                            .feed_forward = 4 * 96,
                                                            .sequence = 64,
                                                            .vocabulary = 1000});
  const auto flops = [&](Recompute recompute) {
    double sum = 0.0;
    for (std::size_t i = 0; i < layers.size(); ++i)
      sum += layers[i].forward_flops + layers[i].backward_flops + training::recomputed_flops(layers, i, recompute);
    return sum;
  };
  CHECK(flops(Recompute::none) == Approx(72 * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h))).epsilon(1e-12));
  CHECK(flops(Recompute::full) == Approx(96 * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h))).epsilon(1e-12));
  // scores and their application once more: 4 s h a token and layer
  CHECK(flops(Recompute::selective) - flops(Recompute::none) == Approx(4 * s * s * h * l).epsilon(1e-12));
}

}  // namespace recomputed_flops_test
