#include "strategies/sparse_single.h"

#include "training/learning/learning.h"
#include "training/sparse/sparse_learning.h"
#include "training/sparse/sparse_table.h"
#include "training/worker.h"

namespace simgrad::strategies {

using training::SparseTable;

bool updates_rows(const Worker& worker) {
  const training::Learning& learning = worker.learning();
  return !worker.clips() && learning.data() && learning.model().takes_sparse_rows() && learning.model().l2 == 0.0 &&
         SparseTable::refusal(worker.optimizer()) == nullptr;
}

void train_by_rows(Worker& worker) {
  training::SparseLearning& learning = worker.sparse({});
  State start = worker.start();
  std::int64_t step = start.step;
  const auto table = std::make_shared<SparseTable>(worker.learning().dispatcher(), worker.optimizer(), learning.width(),
                                                   learning.dense_of(0), std::move(start));
  while (worker.continues(table, step)) {
    const auto batch = worker.sparse_batch(learning);
    const Tensor at = table->read(batch->rows.front());
    const Tensor g = worker.sparse_gradient(learning, batch, at, {});
    const std::int64_t changed = table->update({{batch->rows.front(), g}}, worker.learning_rate(step));
    worker.charge(worker.optimizer().flops() * static_cast<double>(changed), record::Work::update);
    ++step;
  }
}

}  // namespace simgrad::strategies
