// Gradients clipped by their norm.
#include "training/learning/clipping.h"

#include <cmath>

#include "catch.h"
#include "training/trial.h"
#include "values/dispatcher.h"

namespace clipping_test {

using namespace simgrad;
using values::Tensor;

TEST_CASE("a gradient above the norm is scaled to it, and one below it stays as it is, as PyTorch's clip_grad_norm_") {
  values::Dispatcher dispatcher({.threads = 0, .numbers = true});
  const Tensor g = dispatcher.constant({3.0, 0.0, -4.0});
  // |g| = 5: 2 / (5 + 1e-6)
  const double factor = 2.0 / (5.0 + 1e-6);
  const Tensor clipped = training::scaled_to_norm(g, 2.0);
  CHECK(clipped.value()[0] == factor * 3.0);
  CHECK(clipped.value()[1] == 0.0);
  CHECK(clipped.value()[2] == factor * -4.0);
  const Tensor whole = training::scaled_to_norm(g, 6.0);
  CHECK(whole.value()[0] == 3.0);
  CHECK(whole.value()[2] == -4.0);
}

}  // namespace clipping_test
