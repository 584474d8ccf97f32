#include "training/passes.h"

#include "training/learning/learning.h"
#include "training/learning/rank_work.h"
#include "training/session/session.h"
#include "training/session/tally.h"
#include "training/worker.h"

namespace simgrad::training {

using record::Work;
using values::Tensor;

Passes::Passes(Worker& worker, std::int64_t step, MicroBatch micro)
    : worker_(worker),
      share_(worker.share(step, micro)),
      rows_(micro.count(worker.device_rows())),
      step_work_(worker.step_work(worker.learning().gradient_flops(1), micro.parts)),
      memory_(worker.pass_memory(rows_)) {
  worker.set_step(step);
  worker.read_rows(rows_);
  count_gradient(worker.session(), worker.world_rank(), worker.work(), rows_);
}

void Passes::run(UnitVisitor& visitor) {
  const std::vector<ModelUnit>& units = worker_.learning().units();
  std::vector<Tensor> w;
  for (std::size_t u = 0; u < units.size(); ++u) {
    visitor.enter(u);
    forward(units[u]);
    w.push_back(visitor.parameters(u));
    visitor.leave(u);
  }
  const Tensor g = gradient(values::concatenate(w));
  for (std::size_t u = units.size(); u-- > 0;) {
    visitor.enter(u);
    visitor.make_gradient(u);
    backward(units[u]);
    visitor.leave(u);
    visitor.complete(u, g);
  }
}

void Passes::forward(const ModelUnit& unit) {
  const RankWork rank = worker_.work();
  double work = 0.0, flops = 0.0;
  for (std::size_t i = unit.first_layer; i < unit.first_layer + unit.layers; ++i) {
    work += rank.forward(i, rows_);
    flops += worker_.learning().layers()[i].forward_flops;
    memory_.forward(i);
  }
  worker_.compute_stretched(work, step_work_, flops * static_cast<double>(rows_), share_.step, Work::forward);
}

void Passes::backward(const ModelUnit& unit) {
  const Learning& learning = worker_.learning();
  const RankWork rank = worker_.work();
  double work = 0.0, flops = 0.0;
  for (std::size_t i = unit.first_layer + unit.layers; i-- > unit.first_layer;) {
    work += rank.backward(i, rows_);
    flops += learning.layers()[i].backward_flops + learning.recomputed_flops(i);
  }
  for (std::size_t i = unit.first_layer + unit.layers; i-- > unit.first_layer;) {
    memory_.enter_backward(i);
    memory_.leave_backward(i, false);
  }
  worker_.compute_stretched(work, step_work_, flops * static_cast<double>(rows_), share_.step, Work::backward);
  if (unit.first_layer == 0) worker_.session().tally().add_computed(rows_);
}

Tensor Passes::gradient(const Tensor& w) const {
  const Tensor g = worker_.learning().gradient(w, share_, worker_.loss_exponent());
  return worker_.handed_over(g, share_.step, rows_);
}

}  // namespace simgrad::training
