#include "strategies/hosts/host_keys.h"

#include <array>

#include "strategies/hosts/around_host.h"

namespace simgrad::strategies {

using cluster::Communicator;
using cluster::Packet;
using training::SparseBatch;
using training::SparseLearning;
using training::Worker;
using values::Tensor;

namespace {

/// The keys as they go around a host.
struct KeysOrder {
  const SparseLearning& learning;
  std::shared_ptr<const SparseBatch> batch;
  std::int64_t at, replica;  ///< the lengths of these arguments
};

}  // namespace

Tensor make_sparse_gradient(Worker& first, const Communicator& devices, const SparseLearning& learning,
                            const std::shared_ptr<const SparseBatch>& batch, const Tensor& at, const Tensor& replica) {
  const auto order = std::make_shared<const KeysOrder>(
      KeysOrder{.learning = learning, .batch = batch, .at = at.size(), .replica = replica ? replica.size() : 0});
  Packet keys(Tensor(), order);
  keys.extra_bytes = training::key_bytes * batch->distinct();
  pass_on(devices, std::move(keys));
  const Tensor numbers = replica ? values::concatenate(std::array{at, replica}) : at;
  around_host(first, devices, numbers, numbers.size());
  const Tensor g = first.device_sparse_gradient(learning, training::rows_of_share(*batch, 0), at, replica);
  return sum_on_first(devices, g, first.number_bytes().wire);
}

void assist_with_keys(Worker& device) {
  const Communicator& devices = device.comm();
  for (;;) {
    const Packet keys = pass_on(devices, {});
    const auto& order = keys.note<KeysOrder>();
    const Tensor numbers = around_host(device, devices, {}, order.at + order.replica).tensor;
    const Tensor at = values::slice(numbers, 0, order.at),
                 replica = order.replica > 0 ? values::slice(numbers, order.at, order.replica) : Tensor();
    const Tensor g = device.device_sparse_gradient(order.learning,
                                                   training::rows_of_share(*order.batch, device.device()), at, replica);
    sum_on_first(devices, g, device.number_bytes().wire);
  }
}

}  // namespace simgrad::strategies
