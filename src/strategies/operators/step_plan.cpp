#include "strategies/operators/step_plan.h"

#include <algorithm>

namespace simgrad::strategies {

StepPlan::StepPlan(std::vector<models::ModelOperator> units, int micro_batches, PlacedSchedule placement)
    : units_(std::move(units)),
      readers_(readers_of(units_)),
      numbers_(units_.size(), micro_batches),
      placement_(std::move(placement)) {
  for (std::size_t rank = 0; rank < placement_.order.size(); ++rank)
    for (const std::size_t number : placement_.order[rank])
      for (const auto& [to, value] : sent_by(number)) messages_[{static_cast<int>(rank), to}].push_back(value);
}

const std::vector<StepValue>& StepPlan::messages(int from, int to) const {
  static const std::vector<StepValue> none;
  const auto found = messages_.find({from, to});
  return found == messages_.end() ? none : found->second;
}

std::vector<std::pair<int, StepValue>> StepPlan::sent_by(std::size_t number) const {
  const StepOperator op = numbers_.at(number);
  const int own = rank_of(op.unit);
  std::vector<std::pair<int, StepValue>> sent;
  const auto add = [&](int to, std::size_t of) {
    if (to != own) sent.emplace_back(to, StepValue{number, of});
  };
  if (op.backward) {
    for (const std::size_t input : units_[op.unit].inputs) add(rank_of(input), input);
    return sent;
  }
  std::vector<int> ranks;
  for (const std::size_t reader : readers_[op.unit])
    if (const int to = rank_of(reader); std::ranges::find(ranks, to) == ranks.end()) ranks.push_back(to);
  for (const int to : ranks) add(to, op.unit);
  return sent;
}

std::vector<std::vector<models::Chunk>> StepPlan::chunks() const {
  std::vector<std::vector<models::Chunk>> all(placement_.order.size());
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    std::vector<models::Chunk>& rank_chunks = all[static_cast<std::size_t>(rank_of(unit))];
    const auto number = static_cast<std::int64_t>(unit);
    if (!rank_chunks.empty() && rank_chunks.back().end_unit == number)
      rank_chunks.back().end_unit = number + 1;
    else
      rank_chunks.push_back({.first_unit = number, .end_unit = number + 1});
  }
  return all;
}

}  // namespace simgrad::strategies
