#include "training/learning/rank_work.h"

namespace simgrad::training {

RankWork::RankWork(std::span<const models::Layer> layers, const cluster::Device* device, Precision precision,
                   double speed)
    : layers_(layers),
      times_(device ? std::optional(LayerTimes(*device, precision)) : std::nullopt),
      by_layer_(device != nullptr || any_measured(layers)),
      speed_(speed) {}

double RankWork::gradient(double flops, std::int64_t rows) const {
  return by_layer_ ? forward(rows) + backward(rows) : flops;
}

double RankWork::forward(std::int64_t rows) const {
  double work = 0.0;
  for (const models::Layer& layer : layers_) work += by_layer_ ? forward(layer, rows) : layer.forward_flops;
  return by_layer_ ? work : work * static_cast<double>(rows);
}

double RankWork::backward(std::int64_t rows) const {
  double work = 0.0;
  for (const models::Layer& layer : layers_) work += backward(layer, rows);
  return work;
}

double RankWork::forward(const models::Layer& layer, std::int64_t rows) const {
  const auto count = static_cast<double>(rows);
  if (times_) return times_->forward_s(layer, count) * speed_;
  return layer.forward_s > 0.0 ? layer.forward_s * count * speed_ : layer.forward_flops * count;
}

double RankWork::backward(const models::Layer& layer, std::int64_t rows) const {
  const auto count = static_cast<double>(rows);
  if (times_) return times_->backward_s(layer, count) * speed_;
  return layer.backward_s > 0.0 ? layer.backward_s * count * speed_ : layer.backward_flops * count;
}

}  // namespace simgrad::training
