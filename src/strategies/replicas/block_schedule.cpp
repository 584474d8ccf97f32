#include "strategies/replicas/block_schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace simgrad::strategies {

using values::Tensor;

namespace {

double sum_of_squares(std::span<const double> numbers) {
  return std::transform_reduce(numbers.begin(), numbers.end(), 0.0, std::plus<>(), [](double x) { return x * x; });
}

std::int64_t clamped(double period, std::int64_t longest) {
  return static_cast<std::int64_t>(std::clamp(std::floor(period), 1.0, static_cast<double>(longest)));
}

}  // namespace

std::vector<Block> blocks_of(const BlockOptions& options, std::span<const models::Layer> layers,
                             std::int64_t parameters) {
  std::vector<Block> all;
  if (!options.blocks) {
    for (const models::Layer& layer : layers)
      if (layer.count > 0) all.push_back({layer.first, layer.count});
    return all;
  }
  for (std::int64_t b = 0; b < *options.blocks; ++b) {
    const std::int64_t first = parameters * b / *options.blocks;
    all.push_back({first, parameters * (b + 1) / *options.blocks - first});
  }
  return all;
}

BlockSchedule::BlockSchedule(const BlockOptions& options, std::vector<Block> blocks, bool optimizer_vectors,
                             const training::State& state)
    : options_(options),
      blocks_(std::move(blocks)),
      optimizer_vectors_(optimizer_vectors),
      step_(state.step),
      last_(blocks_.size(), state.step),
      next_(blocks_.size(), state.step + 1),
      agrees_(blocks_.size(), state.step == 0),  // restored without a schedule, replicas are unlike
      always_(blocks_.size(), state.step == 0),
      movements_(blocks_.size(), 0.0) {
  if (!state.joint.numbers.empty()) restore(state.joint.numbers);
}

bool BlockSchedule::due(std::size_t b) const {
  const auto n = static_cast<std::int64_t>(blocks_.size()), block = static_cast<std::int64_t>(b);
  switch (options_.rule) {
    case BlockRule::round_robin:
      return ((block - step_ * options_.blocks_a_step) % n + n) % n < options_.blocks_a_step;
    case BlockRule::list:
      return (step_ + 1) % std::llround(options_.periods[b]) == 0;
    case BlockRule::movement:
      return step_ + 1 >= next_[b];
  }
  return true;
}

double BlockSchedule::moved(std::size_t b, const Tensor& before, const Tensor& after) const {
  if (before.identity() == after.identity()) return 0.0;
  const std::span<const double> from = before.value(), to = after.value();
  double change = 0.0;
  for (std::size_t i = 0; i < from.size(); ++i) change += (to[i] - from[i]) * (to[i] - from[i]);
  const double size = options_.measure == Measure::number ? static_cast<double>(to.size()) : sum_of_squares(to);
  if (change == 0.0 || size == 0.0) return 0.0;
  return std::sqrt(change / size) / static_cast<double>(step_ + 1 - last_[b]);
}

/// The share of all parameters that a step synchronises on average at that factor.
double BlockSchedule::share_of(double factor) const {
  const double most = *std::ranges::max_element(movements_);
  double all = 0.0, synchronised = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const auto parameters = static_cast<double>(blocks_[b].count);
    all += parameters;
    synchronised += parameters / static_cast<double>(clamped(factor * most / movements_[b], options_.longest));
  }
  return synchronised / all;
}

/// Finds the least power of 1.1 at which the periods keep the budget, or at which all of them are the longest.
void BlockSchedule::find_factor() {
  factor_ = 1.0;
  if (!measures() || !options_.budget || *std::ranges::max_element(movements_) == 0.0) return;
  constexpr double growth = 1.1;
  while (share_of(factor_) > *options_.budget && factor_ < static_cast<double>(options_.longest)) factor_ *= growth;
}

std::int64_t BlockSchedule::period(std::size_t b) const {
  if (movements_[b] == 0.0) return options_.longest;
  return clamped(factor_ * *std::ranges::max_element(movements_) / movements_[b], options_.longest);
}

void BlockSchedule::step(const std::vector<double>& movements) {
  std::vector<bool> were_due(blocks_.size());
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    were_due[b] = due(b);
    if (were_due[b] && measures()) movements_[b] = movements[b];
  }
  find_factor();
  ++step_;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    always_[b] = always_[b] && were_due[b];
    agrees_[b] = were_due[b] && (!optimizer_vectors_ || always_[b]);
    if (!were_due[b]) continue;
    last_[b] = step_;
    if (measures()) next_[b] = step_ + period(b);
  }
}

std::vector<record::BlockUse> BlockSchedule::uses(const std::vector<double>& movements) const {
  std::vector<record::BlockUse> all;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    record::BlockUse use{.first = blocks_[b].first, .parameters = blocks_[b].count};
    use.synchronisations = due(b) ? 1 : 0;
    if (due(b) && measures()) use.movement = movements[b];
    all.push_back(use);
  }
  return all;
}

void BlockSchedule::keep(training::State& state) const {
  state.joint.numbers.clear();
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (const double number : {static_cast<double>(last_[b]), static_cast<double>(next_[b]), agrees_[b] ? 1.0 : 0.0,
                                always_[b] ? 1.0 : 0.0, movements_[b]})
      state.joint.numbers.push_back(number);
}

void BlockSchedule::restore(const std::vector<double>& numbers) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const double* const block_numbers = numbers.data() + 5 * b;
    last_[b] = std::llround(block_numbers[0]);
    next_[b] = std::llround(block_numbers[1]);
    agrees_[b] = block_numbers[2] != 0.0;
    always_[b] = block_numbers[3] != 0.0;
    movements_[b] = block_numbers[4];
  }
}

}  // namespace simgrad::strategies
