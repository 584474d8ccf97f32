// A model whose every gradient and score can be looked up afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "training/outcome.h"

namespace simgrad::tests {

/// A model that notes at which parameters it is asked for scores and gradients.
class WatchedModel final : public models::Model {
 public:
  explicit WatchedModel(std::string_view kind) : model_(models::registry().find(kind)->make()) {}

  std::optional<double> flops_a_row;  ///< instead of the model's own
  int layers_made = 1;                ///< equally long ones, with equal flops, each a unit

  double kept = 0.0;  ///< numbers of a row that each of several layers keeps

  models::Predicts predicts() const override { return model_->predicts(); }
  std::int64_t parameters(const models::Problem& problem) const override { return model_->parameters(problem); }
  std::vector<models::Layer> layers(const models::Problem& problem) const override {
    std::vector<models::Layer> layers = model_->layers(problem);
    if (flops_a_row) layers.front().forward_flops = layers.front().backward_flops = *flops_a_row / 2.0;
    if (layers_made == 1) return layers;
    const models::Layer whole = layers.front();
    layers.clear();
    for (int i = 0; i < layers_made; ++i)
      layers.push_back({.first = whole.count * i / layers_made,
                        .count = whole.count * (i + 1) / layers_made - whole.count * i / layers_made,
                        .forward_flops = whole.forward_flops / layers_made,
                        .backward_flops = whole.backward_flops / layers_made,
                        .unit = i,
                        .kept = {.numbers = kept, .bytes = kept},
                        .selective = {.numbers = kept / 2.0, .bytes = kept},
                        .selective_flops = whole.forward_flops / (8.0 * layers_made),
                        .entrance = kept / 4.0});
    return layers;
  }
  void gradient(const models::Problem& problem, const models::Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> g) const override {
    model_->gradient(problem, rows, w, scale, penalty_scale, g);
    const std::lock_guard lock(mutex_);
    gradients_at.push_back({rows.first, {w.begin(), w.end()}});
  }
  models::Score score(const models::Problem& problem, const models::Samples& rows,
                      std::span<const double> w) const override {
    {
      const std::lock_guard lock(mutex_);
      evaluated.emplace_back(w.begin(), w.end());
    }
    return model_->score(problem, rows, w);
  }

  mutable std::vector<std::vector<double>> evaluated;
  mutable std::vector<Seen> gradients_at;

 private:
  std::unique_ptr<models::Model> model_;
  mutable std::mutex mutex_;  // kernels run on the dispatcher's threads
};

}  // namespace simgrad::tests
