#include "training/schedule.h"

namespace simgrad::training {

namespace {

struct Constant : Schedule {
  static constexpr base::About about{
      .kind = "constant", .summary = "the learning rate stays as it is", .cost = "", .source = ""};

  double factor(double) const override { return 1.0; }
};

struct InverseTime : Schedule {
  static constexpr base::About about{
      .kind = "inverse_time",
      .summary = "lr / (1 + decay k) in step k",
      .cost = "",
      .source = "L. Bottou, Large-Scale Machine Learning with Stochastic Gradient Descent, 2010"};

  double decay = 0.01;

  void describe(base::Describer& d) override {
    d.number("decay", decay, "how fast it falls, per step", base::Bounds::at_least(0));
  }
  double factor(double rounds) const override { return 1.0 / (1.0 + decay * rounds); }
};

}  // namespace

const base::Registry<Schedule>& schedules() {
  static const base::Registry<Schedule> table({
      base::entry<Schedule, Constant>(),
      base::entry<Schedule, InverseTime>(),
  });
  return table;
}

}  // namespace simgrad::training
