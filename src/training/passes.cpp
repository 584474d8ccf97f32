#include "training/passes.h"

#include "training/learning/learning.h"
#include "training/session/session.h"
#include "training/session/tally.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

Passes::Passes(Worker& worker, MicroBatch micro)
    : worker_(worker),
      share_(worker.share(worker.begin_micro_batch(micro), micro)),
      rows_(micro.count(worker.rows())),
      whole_flops_(worker.learning().gradient_flops(worker.rank(), worker.workers())),
      memory_(worker.pass_memory(rows_)) {
  worker.read_rows(rows_);
}

void Passes::charge(double flops_a_row, Work work) const {
  worker_.compute_stretched(flops_a_row * static_cast<double>(rows_), whole_flops_, share_.step, work);
}

void Passes::forward(const ModelUnit& unit) {
  const std::vector<models::Layer>& layers = worker_.learning().layers();
  double flops = 0.0;
  for (std::size_t i = unit.first_layer; i < unit.first_layer + unit.layers; ++i) {
    flops += layers[i].forward_flops;
    memory_.forward(i);
  }
  charge(flops, Work::forward);
}

void Passes::backward(const ModelUnit& unit) {
  const Learning& learning = worker_.learning();
  double flops = 0.0;
  for (std::size_t i = unit.first_layer + unit.layers; i-- > unit.first_layer;)
    flops += learning.layers()[i].backward_flops + learning.recomputed_flops(i);
  for (std::size_t i = unit.first_layer + unit.layers; i-- > unit.first_layer;) {
    memory_.enter_backward(i);
    memory_.leave_backward(i, false);
  }
  charge(flops, Work::backward);
  if (unit.first_layer == 0) worker_.session().tally().add_computed(rows_);
}

Tensor Passes::gradient(const Tensor& w) const { return worker_.learning().gradient(w, share_); }

}  // namespace simgrad::training
