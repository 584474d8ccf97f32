#include "training/learning/rank_work.h"

namespace simgrad::training {

RankWork::RankWork(std::span<const models::Layer> layers, const cluster::Device* device, Precision precision,
                   double speed, Recompute recompute, bool passes_on, const ParameterPasses& passes)
    : layers_(layers),
      times_(device ? std::optional(LayerTimes(*device, precision, passes)) : std::nullopt),
      again_(device ? std::optional(LayerTimes(*device, precision, {.casts = passes.casts_again})) : std::nullopt),
      by_layer_(device != nullptr || any_measured(layers)),
      speed_(speed),
      recompute_(recompute),
      passes_on_(passes_on),
      passes_(passes) {}

double RankWork::gradient(double flops, std::int64_t rows) const {
  return by_layer_ ? forward(rows) + backward(rows) : flops;
}

double RankWork::forward(std::int64_t rows) const {
  double work = 0.0;
  for (std::size_t i = 0; i < layers_.size(); ++i) work += by_layer_ ? forward(i, rows) : layers_[i].forward_flops;
  return by_layer_ ? work : work * static_cast<double>(rows);
}

double RankWork::backward(std::int64_t rows) const {
  double work = 0.0;
  for (std::size_t i = 0; i < layers_.size(); ++i) work += backward(i, rows);
  return work;
}

double RankWork::forward(std::size_t layer, std::int64_t rows) const { return forward(layers_[layer], rows); }

double RankWork::forward(const models::Layer& layer, std::int64_t rows, const std::optional<LayerTimes>& times) const {
  const auto count = static_cast<double>(rows);
  if (times) return times->forward_s(layer, count) * speed_;
  return layer.forward_s > 0.0 ? layer.forward_s * count * speed_ : layer.forward_flops * count;
}

double RankWork::backward(std::size_t layer, std::int64_t rows) const {
  return backward(layers_[layer], rows) + recomputed(layer, rows);
}

double RankWork::backward(const models::Layer& layer, std::int64_t rows) const {
  const auto count = static_cast<double>(rows);
  if (times_) return times_->backward_s(layer, count) * speed_;
  return layer.backward_s > 0.0 ? layer.backward_s * count * speed_ : layer.backward_flops * count;
}

KindTimes RankWork::by_kind(std::int64_t rows) const {
  if (!times_) return {};
  const auto count = static_cast<double>(rows);
  KindTimes all;
  for (const models::Layer& layer : layers_) {
    all += times_->forward_by_kind(layer, count);
    all += times_->backward_by_kind(layer, count);
    if (recompute_ == Recompute::full && (passes_on_ || layer.unit != layers_.back().unit))
      all += again_->forward_by_kind(layer, count);
    if (recompute_ == Recompute::selective && layer.selective_flops > 0.0)
      all += times_->selective_by_kind(layer, count);
  }
  return all;
}

double RankWork::weights(std::size_t layer, std::int64_t rows) const { return weights(layers_[layer], rows); }

double RankWork::weights(const models::Layer& layer, std::int64_t rows) const {
  const auto count = static_cast<double>(rows);
  if (times_) return times_->weights_s(layer, count) * speed_;
  return layer.backward_s > 0.0 ? measured_weights_s(layer) * count * speed_ : weight_flops(layer) * count;
}

double RankWork::recomputed(std::size_t layer, std::int64_t rows) const {
  if (recompute_ == Recompute::none) return 0.0;
  if (!by_layer_) return recomputed_flops(layers_, layer, recompute_, passes_on_) * static_cast<double>(rows);
  if (recompute_ == Recompute::selective) {
    const models::Layer& model_layer = layers_[layer];
    if (!(model_layer.selective_flops > 0.0)) return 0.0;
    if (times_) return times_->selective_by_kind(model_layer, static_cast<double>(rows)).sum() * speed_;
    return of_flops(model_layer.selective_flops * static_cast<double>(rows));
  }
  if (!recomputed_as_a_whole(layers_, layer, passes_on_)) return 0.0;
  const std::int64_t unit = layers_[layer].unit;
  double work = 0.0;
  for (std::size_t i = layer + 1; i-- > 0 && layers_[i].unit == unit;) work += again(i, rows);
  return work;
}

}  // namespace simgrad::training
