#include "strategies/hosts/host_gradient.h"

#include <utility>

#include "base/errors.h"
#include "strategies/hosts/around_host.h"
#include "strategies/hosts/host_keys.h"
#include "strategies/hosts/host_tasks.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using training::MicroBatch;
using training::Worker;
using values::Tensor;

namespace {

/// The passes of the first device: parameters go around the host as they come, and a unit is complete with its sum.
class ShownUnits final : public training::UnitVisitor {
 public:
  ShownUnits(training::UnitVisitor& strategy, const Worker& worker, const Communicator& devices, SumsBeside& sums,
             HostOrder order)
      : strategy_(strategy), worker_(worker), devices_(devices), sums_(sums), order_(order) {}

  /// Enters the first unit: the other devices can begin to read their rows before this one has read its own.
  void begin() {
    enter(0);
    begun_ = true;
  }
  void enter(std::size_t unit) override {
    if (std::exchange(begun_, false)) return;
    strategy_.enter(unit);
    if (shown_ != unit) return;
    ++shown_;
    around_host(worker_, devices_, Packet(strategy_.parameters(unit), order_), worker_.learning().units()[unit].count);
  }
  void leave(std::size_t unit) override { strategy_.leave(unit); }
  Tensor parameters(std::size_t unit) const override { return strategy_.parameters(unit); }
  void make_gradient(std::size_t unit) override { strategy_.make_gradient(unit); }
  void complete(std::size_t unit, const Tensor& g) override {
    sums_.add(g, stretch_of(worker_.learning().units()[unit]),
              [this, unit](const Tensor& so_far) { strategy_.complete(unit, so_far); });
  }

 private:
  training::UnitVisitor& strategy_;
  const Worker& worker_;
  const Communicator& devices_;
  SumsBeside& sums_;
  HostOrder order_;
  std::size_t shown_ = 0;  ///< units whose parameters have gone around
  bool begun_ = false;     ///< and the passes have not entered the first one yet
};

}  // namespace

HostGradient::HostGradient(Worker& first, bool deals_rows)
    : first_(first), deals_rows_(deals_rows), devices_(first.devices()), sums_(devices_, first.number_bytes().wire) {}

Tensor HostGradient::gradient(const Tensor& w, std::int64_t step, MicroBatch micro, const training::LayerReady& ready) {
  if (micro.part == 0 && deals_rows_) deal_rows(first_, devices_);
  if (micro.part == 0) around_host(first_, devices_, Packet(w, HostOrder{step, micro.parts}), w.size());
  if (!micro.last())  // the other devices keep theirs until the last one
    return ready ? first_.device_gradient(w, step, ready, micro) : first_.device_gradient(w, step, micro);
  first_.device_gradient(
      w, step,
      [&](const Tensor& g, const models::Layer& layer) {
        SumsBeside::Then then;
        if (ready) then = [&ready, &layer](const Tensor& so_far) { ready(so_far, layer); };
        sums_.add(g, {layer.first, layer.count}, std::move(then));
      },
      micro);
  return sums_.finish();
}

void HostGradient::gradient(training::UnitVisitor& visitor, std::int64_t step, MicroBatch micro) {
  base::check(micro.parts == 1, "strategies that pass unit by unit have one micro-batch on hosts of several devices");
  if (deals_rows_) deal_rows(first_, devices_);
  ShownUnits units(visitor, first_, devices_, sums_, HostOrder{step, 1});
  units.begin();
  training::Passes(first_, step, micro).run(units);
  sums_.finish();
}

Tensor HostGradient::assignments(const Tensor& w, std::int64_t step) {
  around_host(first_, devices_, Packet(w, HostOrder{step, 1}), w.size());
  return sum_on_first(devices_, first_.device_assignments(w, step), first_.number_bytes().wire);
}

Tensor HostGradient::task_gradient(const Tensor& w, const training::TaskTurn& turn) {
  return make_task_gradient(first_, devices_, w, turn);
}

Tensor HostGradient::sparse_gradient(const training::SparseLearning& learning,
                                     const std::shared_ptr<const training::SparseBatch>& batch, const Tensor& at,
                                     const Tensor& replica) {
  return make_sparse_gradient(first_, devices_, learning, batch, at, replica);
}

training::UnitVisits HostGradient::unit_visits() const {
  return training::UnitVisits::there_and_back(first_.learning().units().size());
}

}  // namespace simgrad::strategies
