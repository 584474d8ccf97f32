#include "training/session/stop_rules.h"

#include <algorithm>
#include <cmath>

namespace simgrad::training {

namespace {

std::optional<std::int64_t> smaller(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::optional<std::int64_t> sample_limit(const StopOptions& stop, std::int64_t rows) {
  std::optional<std::int64_t> by_epochs;
  // No run reaches 4e18 samples; integers end not far beyond.
  if (stop.epochs)
    by_epochs = static_cast<std::int64_t>(std::min(std::ceil(*stop.epochs * static_cast<double>(rows)), 4e18));
  return smaller(stop.samples, by_epochs);
}

}  // namespace

StopRules::StopRules(const StopOptions& options, std::int64_t rows, std::optional<std::int64_t> lockstep_batch)
    : options_(options), step_limit_(options.steps), sample_limit_(sample_limit(options, rows)) {
  if (!lockstep_batch || !sample_limit_) return;
  step_limit_ = smaller(step_limit_, (*sample_limit_ + *lockstep_batch - 1) / *lockstep_batch);
  sample_limit_.reset();
}

void StopRules::count(std::int64_t step, std::int64_t samples) {
  if (sample_limit_ && samples >= *sample_limit_ && !last_by_samples_) last_by_samples_ = step;
}

bool StopRules::last_step(std::int64_t step) const {
  return (step_limit_ && step >= *step_limit_) || (last_by_samples_ && step >= *last_by_samples_);
}

double StopRules::share_done(std::int64_t step, std::int64_t samples, double elapsed_s) const {
  double done = 0.0;
  if (step_limit_) done = std::max(done, static_cast<double>(step) / static_cast<double>(*step_limit_));
  if (sample_limit_) done = std::max(done, static_cast<double>(samples) / static_cast<double>(*sample_limit_));
  if (options_.time_s) done = std::max(done, elapsed_s / *options_.time_s);
  return std::min(done, 1.0);
}

}  // namespace simgrad::training
