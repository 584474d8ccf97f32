#include "strategies/replicas/hogwild.h"

#include "strategies/sparse_single.h"
#include "training/learning/learning.h"
#include "training/sparse/sparse_learning.h"
#include "training/sparse/sparse_table.h"
#include "training/worker.h"

namespace simgrad::strategies {

Traits Hogwild::traits(int P) const {
  using cluster::Recovery;
  return {.pace = Pace::server_updates,
          .asynchronous = true,
          .holder = Holder::memory,
          .hosts = std::vector<int>(static_cast<std::size_t>(P), 0),
          .recoveries = {Recovery::restart, Recovery::wait},  // a crash of the host leaves no memory
          .step_is = training::step_of_gradients(1, P)};
}

void Hogwild::operator()(Worker& core) const {
  if (updates_rows(core)) return update_rows(core);
  if (core.rank() == 0 && core.learning().data() && core.learning().model().takes_sparse_rows() &&
      core.begins_the_run())
    core.note(
        "hogwild: every update moves all parameters, because of the optimizer or of l2; with sgd or adagrad, and "
        "without l2, it moves those of a batch's keys alone");
  State& memory = core.shared_memory();
  if (core.rank() == 0 && !core.continues(memory)) return;
  do {
    const std::int64_t read_at = memory.step;
    const Tensor g = core.gradient(memory.w);
    core.update(memory, g);
    core.count(memory.step - 1 - read_at);
  } while (core.continues(memory));
}

/// Updates a table, of which a core reads and changes its batch's rows.
void Hogwild::update_rows(Worker& core) const {
  training::SparseLearning& learning = core.sparse({});
  training::SharedTable& memory = core.shared_table();
  const double dense = static_cast<double>(learning.dense_of(0)), width = static_cast<double>(learning.width());
  if (core.rank() == 0 && !core.continues(memory.table, memory.step)) return;
  do {
    const std::int64_t read_at = memory.step;
    const auto batch = core.sparse_batch(learning);
    const training::TableRows& rows = batch->rows.front();
    const Tensor g = core.sparse_gradient(learning, batch, memory.table->read(rows), {});
    core.charge(core.optimizer().flops() * (static_cast<double>(rows->size()) * width + dense), record::Work::update);
    memory.table->update({{rows, g}}, core.learning_rate(memory.step));
    ++memory.step;
    core.count(memory.step - 1 - read_at);
  } while (core.continues(memory.table, memory.step));
}

}  // namespace simgrad::strategies
