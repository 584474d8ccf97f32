#include "experiment/calibration/calibrate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/errors.h"
#include "experiment/run/simulate.h"
#include "training/learning/learning.h"

namespace simgrad::experiment {

namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

Calibration calibrate(const RunPlan& run, double real_s) {
  if (!run.settings->training.numbers)
    throw base::ScenarioError(
        "training.numbers = false computes no gradient, so that there is nothing to time; leave it out");
  constexpr std::int64_t untimed = 2;  // caches and pages get warm
  constexpr std::int64_t least = 5;
  const Data data = load_data(run);
  values::Dispatcher dispatcher({.threads = 0, .numbers = true});
  const training::Learning learning(learning_setup(run, data), dispatcher);
  const auto P = static_cast<int>(run.workers);
  const values::Tensor w = learning.initial_values();
  Calibration found{.model = std::string(run.settings->model.model.kind()),
                    .rows = learning.batches().count(0, P),
                    .features = learning.problem().features,
                    .flops = learning.gradient_flops(0, P)};
  std::vector<double> speeds;
  double start_s = now_s();
  for (std::int64_t step = 0; step < untimed + least || now_s() - start_s < real_s; ++step) {
    if (step == untimed) start_s = now_s();
    const double before_s = now_s();
    learning.gradient(w, {.step = step, .part = 0, .parts = P}).value();
    const double took_s = now_s() - before_s;
    if (step >= untimed && took_s > 0.0) speeds.push_back(found.flops / took_s);
  }
  std::ranges::sort(speeds);
  found.gradients = static_cast<std::int64_t>(speeds.size());
  found.median_flops_per_s = quantile(speeds, 0.5);
  found.slow_flops_per_s = quantile(speeds, 0.1);
  found.fast_flops_per_s = quantile(speeds, 0.9);
  return found;
}

}  // namespace simgrad::experiment
