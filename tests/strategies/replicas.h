// Trainings of replicas that differ from the first step on, and then only average.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "strategies/programs.h"
#include "training/learning/learning_rate_schedule.h"

namespace simgrad::tests {

/// The learning rate is there in the first round alone.
struct FirstRound : training::LearningRateSchedule {
  static constexpr base::About about{.kind = "first_round", .summary = "", .cost = "", .source = ""};
  void describe(base::Describer&) override {}
  double factor(double rounds) const override { return rounds < 1.0 ? 1.0 : 0.0; }
};

template <class Strategy, class... Changes>
training::Program made(const Changes&... changes) {
  auto strategy = around_a_ring<Strategy>();
  (changes(*strategy), ...);
  return strategies::program(strategy);
}

/// P replicas that have each taken one step along other rows, then `updates` - 1 steps of length 0.
inline Trial averaging(training::Program program, int P, std::int64_t updates) {
  Trial trial{.program = std::move(program), .workers = P, .rows = 4 * P, .features = 3};
  trial.stop.steps = updates;
  trial.training.schedule =
      base::Slot<training::LearningRateSchedule>(training::learning_rate_schedules(), std::make_unique<FirstRound>());
  return trial;
}

/// Where they all come to: one step of gradient descent on all rows, from zero.
inline std::vector<double> one_step(const Trial& trial) {
  std::vector<double> w =
      gradient_of(trial, trial.data().train, {0, trial.rows, {}},
                  std::vector<double>(static_cast<std::size_t>(trial.features)), 1.0 / static_cast<double>(trial.rows));
  for (double& each : w) each *= -trial.training.learning_rate;
  return w;
}

/// The loss that no parameters fall below.
inline double least_loss(Trial trial) {
  trial.program = single();
  trial.workers = 1;
  trial.stop = {};
  trial.stop.steps = 20000;
  trial.evaluate.every_steps = 20000;
  return *trial.run().record.final_loss;
}

}  // namespace simgrad::tests
