#include "strategies/hosts/host_gradient.h"

#include "collectives/chain.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using collectives::Stretch;
using record::MemoryPart;
using training::MicroBatch;
using training::ModelUnit;
using training::Worker;
using values::Tensor;

namespace {

/// Written beside the parameters that go around a host.
struct HostOrder {
  std::int64_t step = 0;
  std::int16_t micro = 0, micros = 1;
  bool by_layer = false;  ///< the layers' gradients are summed beside the backward pass

  HostOrder(std::int64_t its_step, MicroBatch its_micro, bool layers)
      : step(its_step),
        micro(static_cast<std::int16_t>(its_micro.part)),
        micros(static_cast<std::int16_t>(its_micro.parts)),
        by_layer(layers) {}
  MicroBatch micro_batch() const { return {micro, micros}; }
};

/// Parameters from the first device to all; on the others packet is ignored.
Packet around_host(const Worker& worker, const Communicator& devices, Packet packet, std::int64_t numbers) {
  collectives::ChainBroadcast chain;
  chain.chunks = pieces_around_host(numbers, worker.number_bytes().wire);
  if (packet.tensor) packet.tensor = devices.on_wire(packet.tensor);
  return chain(devices, 0, std::move(packet), numbers);
}

Stretch stretch_of(const ModelUnit& unit) { return {unit.first, unit.count}; }

/// The passes of the first device: parameters go around the host as they come, and a unit is complete with its sum.
class ShownUnits final : public training::UnitVisitor {
 public:
  ShownUnits(training::UnitVisitor& strategy, const Worker& worker, const Communicator& devices, SumsBeside& sums,
             HostOrder order)
      : strategy_(strategy), worker_(worker), devices_(devices), sums_(sums), order_(order) {}

  void enter(std::size_t unit) override {
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
};

/// The passes of another device.
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
  void make_gradient(std::size_t unit) override {
    worker_.memory().hold(MemoryPart::gradients, worker_.number_bytes().gradient *
                                                     static_cast<double>(worker_.learning().units()[unit].count));
  }
  void complete(std::size_t unit, const Tensor& g) override {
    sums_.add(g, stretch_of(worker_.learning().units()[unit]), nullptr);
  }

 private:
  const Worker& worker_;
  SumsBeside& sums_;
  std::vector<Tensor> w_;  ///< by unit
};

}  // namespace

HostGradient::HostGradient(Worker& first)
    : first_(first), devices_(first.devices()), sums_(devices_, first.number_bytes().wire) {}

Tensor HostGradient::gradient(const Tensor& w, std::int64_t step, MicroBatch micro, const Worker::LayerReady& ready) {
  around_host(first_, devices_, Packet(w, HostOrder(step, micro, ready != nullptr)), w.size());
  if (!ready) return sum_on_first(devices_, first_.device_gradient(w, step, micro), first_.number_bytes().wire);
  first_.device_gradient(
      w, step,
      [&](const Tensor& g, const models::Layer& layer) {
        sums_.add(g, {layer.first, layer.count}, [&ready, &layer](const Tensor& so_far) { ready(so_far, layer); });
      },
      micro);
  return sums_.finish();
}

void HostGradient::gradient(training::UnitVisitor& visitor, std::int64_t step, MicroBatch micro) {
  ShownUnits units(visitor, first_, devices_, sums_, HostOrder(step, micro, true));
  training::Passes(first_, step, micro).run(units);
  sums_.finish();
}

training::UnitVisits HostGradient::unit_visits() const {
  return training::UnitVisits::there_and_back(first_.learning().units().size());
}

void assist_first_device(Worker& device, bool by_units) {
  const Communicator& devices = device.comm();
  SumsBeside sums(devices, device.number_bytes().wire);
  const training::Learning& learning = device.learning();
  for (;;) {
    const Packet packet =
        around_host(device, devices, {}, by_units ? learning.units().front().count : learning.parameters());
    const auto order = packet.note<HostOrder>();
    const MicroBatch micro = order.micro_batch();
    if (by_units) {
      FollowedUnits units(device, sums, packet.tensor);
      training::Passes(device, order.step, micro).run(units);
    } else if (order.by_layer) {
      device.device_gradient(
          packet.tensor, order.step,
          [&](const Tensor& g, const models::Layer& layer) {
            sums.add(g, {layer.first, layer.count}, nullptr);
          },
          micro);
    } else {
      sum_on_first(devices, device.device_gradient(packet.tensor, order.step, micro), device.number_bytes().wire);
    }
    sums.finish();
    device.memory().set(MemoryPart::gradients, 0.0);
  }
}

}  // namespace simgrad::strategies
