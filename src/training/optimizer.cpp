#include "training/optimizer.h"

namespace simgrad::training {

namespace {

/// w <- w - lr g
struct Sgd : Optimizer {
  static constexpr base::About about{.kind = "sgd",
                                     .summary = "w <- w - lr g",
                                     .cost = "2 d flops an update",
                                     .source = "H. Robbins, S. Monro, A Stochastic Approximation Method, 1951"};

  double flops() const override { return 2.0; }
  void update(State& state, const values::Tensor& g, double lr) const override {
    state.w = values::add_scaled(state.w, -lr, g);
  }
};

/// v <- mu v + g;  w <- w - lr v
struct Momentum : Optimizer {
  static constexpr base::About about{
      .kind = "momentum",
      .summary = "v <- momentum v + g; w <- w - lr v (the heavy ball)",
      .cost = "4 d flops an update",
      .source = "B. T. Polyak, Some methods of speeding up the convergence of iteration methods, 1964"};

  double momentum = 0.9;

  void describe(base::Describer& d) override {
    d.number("momentum", momentum, "how much of the last direction is kept", base::Bounds::between(0, 1));
  }
  double flops() const override { return 4.0; }
  void start(State& state) const override { state.memory = {0.0 * state.w}; }
  void update(State& state, const values::Tensor& g, double lr) const override {
    values::Tensor& v = state.memory.front();
    v = values::add_scaled(g, momentum, v);
    state.w = values::add_scaled(state.w, -lr, v);
  }
};

}  // namespace

void Optimizer::start(State&) const {}

const base::Registry<Optimizer>& optimizers() {
  static const base::Registry<Optimizer> table({
      base::entry<Optimizer, Sgd>(),
      base::entry<Optimizer, Momentum>(),
  });
  return table;
}

}  // namespace simgrad::training
