#include "training/memory/pass_memory.h"

namespace simgrad::training {

namespace {

bool begins_unit(std::span<const models::Layer> layers, std::size_t layer) {
  return layer == 0 || layers[layer - 1].unit != layers[layer].unit;
}

bool ends_unit(std::span<const models::Layer> layers, std::size_t layer) {
  return layer + 1 == layers.size() || begins_unit(layers, layer + 1);
}

}  // namespace

double kept_bytes(std::span<const models::Layer> layers, std::size_t layer, Recompute recompute,
                  const NumberBytes& bytes) {
  const models::Layer& model_layer = layers[layer];
  const auto of = [&](const models::Kept& kept) { return kept.numbers * bytes.activation + kept.bytes; };
  switch (recompute) {
    case Recompute::none:
      return of(model_layer.kept);
    case Recompute::selective:
      return of(model_layer.kept) - of(model_layer.selective);
    case Recompute::full:
      return begins_unit(layers, layer) ? model_layer.entrance * bytes.activation : 0.0;
  }
  return 0.0;
}

PassMemory::PassMemory(Ledger& ledger, std::span<const models::Layer> layers, Recompute recompute,
                       const NumberBytes& bytes, std::int64_t rows, std::int64_t others)
    : ledger_(ledger),
      layers_(layers),
      recompute_(recompute),
      bytes_(bytes),
      rows_(static_cast<double>(rows)),
      others_(static_cast<double>(others)) {}

double PassMemory::kept(std::size_t layer, Recompute recompute) const {
  return rows_ * kept_bytes(layers_, layer, recompute, bytes_);
}

void PassMemory::forward(std::size_t layer) { ledger_.hold(MemoryPart::activations, kept(layer, recompute_)); }

void PassMemory::enter_backward(std::size_t layer) {
  const auto again = [&](std::size_t i) { return kept(i, Recompute::none) - kept(i, recompute_); };
  ledger_.hold(MemoryPart::activations, rows_ * layers_[layer].backward_bytes);
  if (recompute_ == Recompute::selective) ledger_.hold(MemoryPart::activations, again(layer));
  if (recompute_ != Recompute::full || !ends_unit(layers_, layer)) return;
  double unit = 0.0;
  for (std::size_t i = layer + 1; i-- > 0 && layers_[i].unit == layers_[layer].unit;) unit += again(i);
  ledger_.hold(MemoryPart::activations, unit);
}

void PassMemory::leave_backward(std::size_t layer, bool keeps) {
  const auto begun = [&](std::size_t i) {
    return bytes_.kept_gradient * static_cast<double>(gradients_begun(layers_, i));
  };
  if (!left_any_) gradients_ = bytes_.kept_gradient * others_;
  if (!left_any_)
    for (std::size_t i = layer + 1; i < layers_.size(); ++i) gradients_ += begun(i);
  left_any_ = true;
  gradients_ += begun(layer);
  if (keeps) ledger_.raise(MemoryPart::gradients, gradients_);
  ledger_.release(MemoryPart::activations, kept(layer, Recompute::none) + rows_ * layers_[layer].backward_bytes);
}

void PassMemory::go_there_and_back() {
  for (std::size_t i = 0; i < layers_.size(); ++i) forward(i);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    enter_backward(i);
    leave_backward(i, true);
  }
}

}  // namespace simgrad::training
