#include "training/learning/learning_rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace simgrad::training {

namespace {

struct Constant : LearningRateSchedule {
  static constexpr base::About about{
      .kind = "constant", .summary = "the learning rate does not change", .cost = "", .source = ""};

  double factor(double) const override { return 1.0; }
};

struct InverseTime : LearningRateSchedule {
  static constexpr base::About about{
      .kind = "inverse_time",
      .summary = "lr / (1 + decay k) in step k",
      .cost = "",
      .source = "L. Bottou, Large-Scale Machine Learning with Stochastic Gradient Descent, 2010"};

  double decay = 0.01;

  void describe(base::Describer& d) override {
    d.number("decay", decay, "how fast the rate falls, per step", base::Bounds::at_least(0));
  }
  double factor(double rounds) const override { return 1.0 / (1.0 + decay * rounds); }
};

struct Step : LearningRateSchedule {
  static constexpr base::About about{
      .kind = "step",
      .summary = "lr is multiplied by factor every every_steps steps: lr factor^floor(k / every_steps)",
      .cost = "",
      .source =
          "A. Krizhevsky, I. Sutskever, G. E. Hinton, ImageNet Classification with Deep Convolutional Neural "
          "Networks, 2012"};

  double drop = 0.1;
  std::int64_t every_steps = 100;

  void describe(base::Describer& d) override {
    d.number("factor", drop, "factor of each drop", {.least = 0.0, .most = 1.0, .positive = true});
    d.integer("every_steps", every_steps, "the number of steps between two drops", base::Bounds::at_least(1));
  }
  double factor(double rounds) const override {
    return std::pow(drop, std::floor(rounds / static_cast<double>(every_steps)));
  }
};

struct Cosine : LearningRateSchedule {
  static constexpr base::About about{
      .kind = "cosine",
      .summary = "from lr to minimum lr along half a cosine over `steps` steps, and minimum lr after them",
      .cost = "",
      .source = "I. Loshchilov, F. Hutter, SGDR: Stochastic Gradient Descent with Warm Restarts, 2017, equation 5"};

  std::int64_t steps = 1000;
  double minimum = 0.0;

  void describe(base::Describer& d) override {
    d.integer("steps", steps, "the number of steps to the minimum", base::Bounds::at_least(1));
    d.number("minimum", minimum, "final rate, as a share of the learning rate", base::Bounds::between(0, 1));
  }
  double factor(double rounds) const override {
    const double done = std::min(rounds / static_cast<double>(steps), 1.0);
    return minimum + (1.0 - minimum) * (1.0 + std::cos(std::numbers::pi * done)) / 2.0;
  }
};

}  // namespace

const base::Registry<LearningRateSchedule>& learning_rate_schedules() {
  static const base::Registry<LearningRateSchedule> table({
      base::entry<LearningRateSchedule, Constant>(),
      base::entry<LearningRateSchedule, InverseTime>(),
      base::entry<LearningRateSchedule, Step>(),
      base::entry<LearningRateSchedule, Cosine>(),
  });
  return table;
}

}  // namespace simgrad::training
