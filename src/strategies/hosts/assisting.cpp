#include "strategies/hosts/assisting.h"

#include <utility>

#include "strategies/buckets/buckets.h"
#include "strategies/hosts/around_host.h"
#include "strategies/hosts/host_keys.h"
#include "strategies/hosts/host_tasks.h"
#include "strategies/hosts/sums_beside.h"
#include "strategies/micro_batches.h"
#include "training/learning/learning.h"
#include "training/passes.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using record::MemoryPart;
using training::MicroBatch;
using training::Traits;
using training::Worker;
using values::Tensor;

namespace {

/// Its passes, unit by unit.
class FollowedUnits final : public training::UnitVisitor {
 public:
  /// first: the parameters of the first unit.
  FollowedUnits(const Worker& worker, SumsBeside& sums, Tensor first)
      : worker_(worker), sums_(sums), w_{std::move(first)} {
    worker.memory().raise(MemoryPart::parameters,
                          worker.number_bytes().parameter * static_cast<double>(worker.learning().parameters()));
  }

  void enter(std::size_t unit) override {
    if (unit == w_.size())
      w_.push_back(around_host(worker_, worker_.comm(), {}, worker_.learning().units()[unit].count).tensor);
  }
  void leave(std::size_t) override {}
  Tensor parameters(std::size_t unit) const override { return w_[unit]; }
  void make_gradient(std::size_t unit) override { hold_gradient(worker_, unit); }
  void complete(std::size_t unit, const Tensor& g) override {
    sums_.add(g, stretch_of(worker_.learning().units()[unit]), nullptr);
  }

 private:
  const Worker& worker_;
  SumsBeside& sums_;
  std::vector<Tensor> w_;  ///< by unit
};

/// Its passes through all layers, micro-batch by micro-batch, whose gradients it adds up.
void pass_by_layers(Worker& device, SumsBeside& sums, const Tensor& w, const HostOrder& order) {
  Tensor before, all;  // the gradients over the micro-batches before, and over the last one besides
  for (const MicroBatch micro : micro_batches_of(order.micro_batches)) {
    if (!micro.last()) {
      accumulate_own(device, before, device.device_gradient(w, order.step, micro));
      continue;
    }
    device.device_gradient(
        w, order.step,
        [&](const Tensor& g, const models::Layer& layer) {
          if (before && !device.passes_add_up()) device.charge(static_cast<double>(layer.count));
          if (!all) all = before ? before + g : g;
          sums.add(all, {layer.first, layer.count}, nullptr);
        },
        micro);
  }
}

/// A step's gradient of all parameters, which come at once or unit by unit.
void assist_with_gradient(Worker& device, SumsBeside& sums, bool by_units) {
  const training::Learning& learning = device.learning();
  const Packet packet =
      around_host(device, device.comm(), {}, by_units ? learning.units().front().count : learning.parameters());
  const HostOrder order = packet.note<HostOrder>();
  if (by_units) {
    FollowedUnits units(device, sums, packet.tensor);
    training::Passes(device, order.step, MicroBatch()).run(units);
  } else {
    pass_by_layers(device, sums, packet.tensor, order);
  }
  sums.finish();
  device.memory().set(MemoryPart::gradients, 0.0);
}

void assist_with_assignments(Worker& device) {
  const Communicator& devices = device.comm();
  for (;;) {
    const Packet packet = around_host(device, devices, {}, device.learning().parameters());
    const Tensor sums = device.device_assignments(packet.tensor, packet.note<HostOrder>().step);
    sum_on_first(devices, sums, device.number_bytes().wire);
  }
}

}  // namespace

void assist_first_device(Worker& device, const Traits& traits) {
  const Traits::Passes passes = traits.passes_of(device.place());
  if (passes == Traits::Passes::assignments) return assist_with_assignments(device);
  if (passes == Traits::Passes::keys) return assist_with_keys(device);
  if (passes == Traits::Passes::tasks)
    return assist_with_tasks(device, traits.turns(device.learning(), device.place(), device.workers()));
  SumsBeside sums(device.comm(), device.number_bytes().wire);
  for (;;) {
    if (traits.deals_rows) take_rows(device.comm());
    assist_with_gradient(device, sums, passes == Traits::Passes::units);
  }
}

}  // namespace simgrad::strategies
