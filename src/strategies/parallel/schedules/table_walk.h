/// The order in which the tasks of a table can be done: each behind the one before it on its stage, and behind the task
/// of another stage that makes its input.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "strategies/parallel/schedules/table.h"

namespace simgrad::strategies {

/// The outcome of a task: the activations or gradients that a piece of the model passes on.
enum class Outcome { activations, input_gradient, weight_gradient };

struct Result {
  Outcome outcome = Outcome::activations;
  int micro = 0;
  int piece = 0;  ///< of the model
};

/// A task's result; a `backward` has both gradients, and counts as that of the inputs.
Result result(const PipelineTask& task, int stage, const PipelineShape& shape);
/// The result that a task waits for, which another stage may have to make; none for the first piece's forward.
std::optional<Result> input(const PipelineTask& task, int stage, const PipelineShape& shape);

/// One value for every result of a table.
template <class Value>
class ByResult {
 public:
  explicit ByResult(const PipelineShape& shape, Value value = {})
      : shape_(shape),
        values_(3 * static_cast<std::size_t>(shape.micro_batches) * static_cast<std::size_t>(shape.pieces()), value) {}
  Value& operator[](const Result& r) {
    const auto outcome = static_cast<std::size_t>(r.outcome), micro = static_cast<std::size_t>(r.micro);
    const auto micro_batches = static_cast<std::size_t>(shape_.micro_batches);
    const auto pieces = static_cast<std::size_t>(shape_.pieces());
    return values_[(outcome * micro_batches + micro) * pieces + static_cast<std::size_t>(r.piece)];
  }

 private:
  PipelineShape shape_;
  std::vector<Value> values_;
};

/// Calls visit(stage, index of the task) for each task that can be done, its input before it. Returns the number of
/// tasks done by stage: less than there are where stages wait for each other.
template <class Visit>
std::vector<std::size_t> walk(const PipelineTable& table, const PipelineShape& shape, Visit visit) {
  const auto stages = static_cast<int>(table.size());
  ByResult<char> done(shape, 0);
  std::vector<std::size_t> next(table.size(), 0);
  std::deque<int> ready;
  for (int stage = 0; stage < stages; ++stage) ready.push_back(stage);
  while (!ready.empty()) {
    const int stage = ready.front();
    ready.pop_front();
    const std::vector<PipelineTask>& tasks = table[static_cast<std::size_t>(stage)];
    std::size_t& index = next[static_cast<std::size_t>(stage)];
    const std::size_t before = index;
    for (; index < tasks.size(); ++index) {
      const std::optional<Result> needed = input(tasks[index], stage, shape);
      if (needed && !done[*needed]) break;
      visit(stage, index);
      done[result(tasks[index], stage, shape)] = 1;
    }
    if (index == before) continue;
    ready.push_back((stage + 1) % stages);
    ready.push_back((stage + stages - 1) % stages);
  }
  return next;
}

}  // namespace simgrad::strategies
