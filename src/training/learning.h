/// The learning problem of a run: data, model and batches, turned into tensors. Knows neither ranks nor time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "models/model.h"
#include "training/batches.h"
#include "training/options.h"
#include "values/dispatcher.h"

namespace simgrad::training {

/// What one evaluation finds.
struct Score {
  std::optional<double> loss;    ///< null in a timing-only run
  std::optional<double> metric;
};

class Learning {
 public:
  struct Setup {
    std::shared_ptr<const data::Split> data;  ///< null in a timing-only run
    std::shared_ptr<const models::Model> model;
    models::Problem problem;
    std::int64_t rows = 0;       ///< training rows
    std::int64_t batch = 0;      ///< of a step, over all ranks
    std::shared_ptr<const Partition> partition = base::Slot(partitions(), "iid").shared();
    EvaluationSet evaluate_on = EvaluationSet::train;
    std::uint64_t seed = 1;
  };
  Learning(Setup setup, values::Dispatcher& dispatcher);

  std::int64_t parameters() const { return parameters_; }
  /// The parameters in layers, in forward order.
  const std::vector<models::Layer>& layers() const { return layers_; }
  std::int64_t rows() const { return setup_.rows; }
  std::uint64_t seed() const { return setup_.seed; }
  const Batches& batches() const { return batches_; }
  const models::Model& model() const { return *setup_.model; }
  const models::Problem& problem() const { return setup_.problem; }
  values::Dispatcher& dispatcher() const { return dispatcher_; }

  values::Tensor initial_values() const;
  /// Part `part` of P of the gradient of the mean loss over the step's batch at w, penalty included in proportion to
  /// its rows: the parts of all ranks add up to the gradient.  w: (d).  Returns (d).
  values::Tensor gradient(const values::Tensor& w, std::int64_t step, int part, int parts) const;
  double gradient_flops(int part, int parts) const;

  /// Mean loss (penalty included) and metric over the evaluation set at w. Waits for the numbers.
  Score score(const values::Tensor& w) const;

 private:
  const data::Dataset& evaluation_set() const;
  std::vector<values::Tensor> dispatch_scores(const values::Tensor& w) const;

  Setup setup_;
  values::Dispatcher& dispatcher_;
  std::int64_t parameters_;
  std::vector<models::Layer> layers_;
  Batches batches_;
  double target_deviation_ = 0.0;  ///< sum of squared differences of the evaluation targets from their mean
};

/// sqrt of the mean over replicas of |w_i - mean|^2. Waits for the numbers.
double consensus_distance(std::span<const values::Tensor> replicas, const values::Tensor& mean);
/// The mean of the replicas; the one itself where all are the same.
values::Tensor mean(std::span<const values::Tensor> replicas);

}  // namespace simgrad::training
