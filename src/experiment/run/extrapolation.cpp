#include "experiment/run/extrapolation.h"

#include <algorithm>

namespace simgrad::experiment {

namespace {

/// The share of the run's time that went into numbers. Both times are stretched by other processes alike.
double share_of_numbers(const Moment& last, int threads) {
  const double numbers_s = (last.pulse.gradients_s + last.pulse.evaluations_s) / std::max(threads, 1);
  return last.elapsed_s > 0.0 ? std::min(1.0, numbers_s / last.elapsed_s) : 0.0;
}

}  // namespace

double Moment::since(const Moment& earlier) const {
  return std::min(elapsed_s - earlier.elapsed_s, pulse.processor_s - earlier.pulse.processor_s);
}

TimedTrial complete(const Moment& last, int threads) {
  const double real_s = last.since({});
  return {.real_s = real_s,
          .numbers_s = share_of_numbers(last, threads) * real_s,
          .evaluations = static_cast<double>(last.pulse.evaluations),
          .taken_s = real_s,
          .ended = true};
}

TimedTrial whole(const Moment& first, const Moment& last, int threads) {
  const double share = last.pulse.share - first.pulse.share;
  const auto evaluations = static_cast<double>(last.pulse.evaluations - first.pulse.evaluations);
  const double left = (1.0 - first.pulse.share) / share;
  const double real_s = first.since({}) + left * last.since(first);
  return {.real_s = real_s,
          .numbers_s = share_of_numbers(last, threads) * real_s,
          .evaluations = static_cast<double>(first.pulse.evaluations) + left * evaluations,
          .taken_s = last.since({})};
}

TimedTrial mean_of(const std::map<std::string, TimedTrial>& trials) {
  TimedTrial mean;
  for (const auto& [kind, each] : trials) {
    const double part = 1.0 / static_cast<double>(trials.size());
    mean.real_s += part * each.real_s;
    mean.numbers_s += part * each.numbers_s;
    mean.evaluations += part * each.evaluations;
  }
  return mean;
}

}  // namespace simgrad::experiment
