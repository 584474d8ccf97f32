#include "training/optimizer.h"

#include "catch.h"
#include "training/schedule.h"
#include "values/dispatcher.h"

using namespace simgrad;
using training::State;

namespace {

std::vector<double> numbers(const values::Tensor& x) { return {x.value().begin(), x.value().end()}; }

}  // namespace

TEST_CASE("sgd: w <- w - lr g, 2 flops a parameter") {
  values::Dispatcher dispatcher({.label = {}});
  const auto sgd = training::optimizers().find("sgd")->make();
  State state{.w = dispatcher.constant({1.0, -2.0, 0.5}), .memory = {}, .step = 0};
  sgd->start(state);
  sgd->update(state, dispatcher.constant({0.5, 1.0, -4.0}), 0.25);
  CHECK(numbers(state.w) == std::vector<double>{1.0 - 0.25 * 0.5, -2.0 - 0.25, 0.5 + 0.25 * 4.0});
  CHECK(state.memory.empty());
  CHECK(state.step == 0);  // counting is the caller's
  CHECK(sgd->flops() == 2.0);
}

TEST_CASE("momentum: v <- 0.9 v + g, w <- w - lr v, 4 flops a parameter") {
  values::Dispatcher dispatcher({.label = {}});
  const auto momentum = training::optimizers().find("momentum")->make();
  State state{.w = dispatcher.constant({1.0, -2.0}), .memory = {}, .step = 0};
  momentum->start(state);
  REQUIRE(state.memory.size() == 1);
  CHECK(numbers(state.memory[0]) == std::vector<double>{0.0, 0.0});
  double v0 = 0.0;
  double v1 = 0.0;
  double w0 = 1.0;
  double w1 = -2.0;
  for (int k = 0; k < 5; ++k) {
    momentum->update(state, dispatcher.constant({0.3 + k, -0.7}), 0.1);
    v0 = 0.9 * v0 + (0.3 + k);
    v1 = 0.9 * v1 - 0.7;
    w0 -= 0.1 * v0;
    w1 -= 0.1 * v1;
    CHECK(state.w.value()[0] == Approx(w0).epsilon(1e-14));
    CHECK(state.w.value()[1] == Approx(w1).epsilon(1e-14));
  }
  CHECK(momentum->flops() == 4.0);
}

TEST_CASE("a state that was copied is not changed by the updates of the other") {
  values::Dispatcher dispatcher({.label = {}});
  const auto momentum = training::optimizers().find("momentum")->make();
  State state{.w = dispatcher.constant({1.0}), .memory = {}, .step = 0};
  momentum->start(state);
  const State kept = state;
  momentum->update(state, dispatcher.constant({1.0}), 0.5);
  CHECK(kept.w.value()[0] == 1.0);
  CHECK(kept.memory[0].value()[0] == 0.0);
}

TEST_CASE("schedules: constant is 1, inverse_time is 1 / (1 + 0.01 k)") {
  const auto constant = training::schedules().find("constant")->make();
  const auto inverse = training::schedules().find("inverse_time")->make();
  for (const double k : {0.0, 1.0, 2.5, 100.0, 1e6}) {
    CHECK(constant->factor(k) == 1.0);
    CHECK(inverse->factor(k) == 1.0 / (1.0 + 0.01 * k));
  }
}
