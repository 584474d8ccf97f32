/// The learning problem of a run: data, model and batches, turned into tensors. Knows neither ranks nor time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "data/dataset.h"
#include "models/k_means.h"
#include "models/model.h"
#include "models/task_model.h"
#include "training/compressors/compressor.h"
#include "training/learning/batches.h"
#include "training/learning/effort.h"
#include "training/learning/trajectory.h"
#include "training/learning/units.h"
#include "training/options.h"
#include "values/dispatcher.h"

namespace simgrad::models {
class ModelPart;
}

namespace simgrad::training {

class Compressor;
struct State;

/// A step of a pass through a segment of a part of a model: models::Step.
struct CutStep {
  std::size_t chunk = 0;  ///< of models::ModelPart
  std::size_t segment = 0;
  bool backward = false;
  std::size_t step = 0;
};
/// The tensors that it reads.
struct CutInputs {
  values::Tensor w;      ///< as models::StepInputs has it
  values::Tensor in;     ///< empty where samples come in
  values::Tensor d_out;  ///< empty in a forward pass, and where the loss is
  std::span<const values::Tensor> made = {};
  std::span<const values::Tensor> kept = {};
};

class Learning {
 public:
  struct Setup {
    std::shared_ptr<const data::Split> data;  ///< null in a timing-only run
    std::shared_ptr<const models::Model> model;
    models::Problem problem;
    std::int64_t rows = 0;   ///< training rows
    std::int64_t batch = 0;  ///< a step's samples, over all ranks
    std::shared_ptr<const Partition> partition = base::Slot(partitions(), "iid").shared();
    EvaluationSet evaluate_on = EvaluationSet::train;
    std::uint64_t seed = 1;
    std::vector<double> speeds = {};           ///< by rank, of its host, for shares by speed; of a cut model by replica
    std::vector<std::int64_t> most_rows = {};  ///< likewise: rows of a step that fit into memory; empty: any number
    std::int64_t rows_unit = 1;                ///< shares by speed are multiples of it
    /// Scores that are known, and those that are computed; null: none are kept. With a dispatcher that has no numbers
    /// all of them must be known.
    Trajectory* trajectory = nullptr;
    Recompute recompute = Recompute::none;
    Precision precision = Precision::float64;
    Wire wire = Wire::as_precision;
  };
  Learning(Setup setup, values::Dispatcher& dispatcher);
  /// Learning of a part of the model, with the same data, batches and formats.
  std::unique_ptr<const Learning> of_part(std::shared_ptr<const models::ModelPart> part) const;

  std::int64_t parameters() const { return parameters_; }
  /// The parameters in layers, in forward order.
  const std::vector<models::Layer>& layers() const { return layers_; }
  /// The layers in units, in forward order.
  const std::vector<ModelUnit>& units() const { return units_; }
  Recompute recompute() const { return setup_.recompute; }
  /// A sample's flops that the backward pass through a layer takes beside Layer::backward_flops, to compute activations
  /// again.
  double recomputed_flops(std::size_t layer) const {
    return training::recomputed_flops(layers_, layer, setup_.recompute, passes_on_);
  }
  /// Whether this is a part of a model without the loss: other ranks have the layers behind.
  bool passes_on() const { return passes_on_; }
  std::int64_t rows() const { return setup_.rows; }
  std::uint64_t seed() const { return setup_.seed; }
  const Batches& batches() const { return batches_; }
  const models::Model& model() const { return *setup_.model; }
  std::shared_ptr<const models::Model> shared_model() const { return setup_.model; }
  /// Null in a timing-only run.
  const data::Split* data() const { return setup_.data.get(); }
  const models::Problem& problem() const { return setup_.problem; }
  /// Bytes of a row on a disk.
  std::int64_t row_bytes() const { return setup_.model->sample_bytes(setup_.problem); }
  /// Bytes of a row with its target, as a message.
  std::int64_t sent_row_bytes() const { return row_bytes() + 8; }
  Precision precision() const { return setup_.precision; }
  NumberBytes number_bytes() const { return training::number_bytes(setup_.precision, setup_.wire); }
  /// Bytes of a checkpoint: the parameters and the optimizer's vectors.
  std::int64_t state_bytes(const Optimizer& optimizer) const;
  values::Dispatcher& dispatcher() const { return dispatcher_; }
  /// The real time of the kernels so far.
  const Effort& effort() const { return *effort_; }

  values::Tensor initial_values() const;
  /// This share of the gradient of the mean loss over the step's batch at w, penalty included in proportion to its
  /// rows: the shares of all ranks add up to the gradient.  w: (d).  Returns (d), computed and rounded as the precision
  /// says.  loss_exponent: of the scale with which float16 gradients are computed; they are returned unscaled.
  values::Tensor gradient(const values::Tensor& w, const Share& share, int loss_exponent = 0) const;
  /// The step's numbers (rows x numbers), then its gradient where it has one, of the share's rows; scaled as gradient()
  /// is.  Only of a part (of_part).
  values::Tensor run(const CutStep& step, const Share& share, const CutInputs& inputs) const;
  /// Rounds parameters and optimizer's vectors to the format that the optimizer keeps: float32, or float64 as they are.
  void round(State& state) const;
  /// Flops of that part, and of so many rows, recomputation included.
  double gradient_flops(int part, int parts) const;
  double gradient_flops(std::int64_t rows) const;

  /// Whether the model is k-means: its rows can be assigned to centres.
  bool clusters() const { return k_means_ != nullptr; }
  /// This share of the map of Lloyd's algorithm over the step's batch: for each centre in w the sum of its rows, then
  /// their number. The shares of all ranks add up.  w: (k x d).  Returns (k x (d + 1)).  Only where clusters().
  values::Tensor assignments(const values::Tensor& w, const Share& share) const;
  double assignment_flops(int part, int parts) const;
  /// The reduce of Lloyd's algorithm: each centre moves to the mean of its rows, or stays where it has none.
  /// sums: the assignments of all ranks, added.
  values::Tensor centres(const values::Tensor& w, const values::Tensor& sums) const;

  /// The model where it has several tasks that share parameters, else null.
  const models::TaskModel* task_model() const { return task_model_; }
  /// This share of the gradient of those tasks' mean loss over the step's batch at w.  w: (d).  Returns (d), zero for
  /// what other tasks alone have. Only where task_model().
  values::Tensor task_gradient(const values::Tensor& w, const models::Tasks& tasks, const Share& share,
                               int loss_exponent = 0) const;
  double task_gradient_flops(const models::Tasks& tasks, int part, int parts) const;

  /// The codes of a vector in pieces of which the shape alone is known: the same on all ranks and in all steps.
  struct CodedShape {
    std::int64_t bytes = 0;
    CodingWork work;
  };
  /// Found once.  first, length: the vector's place among the parameters.  find: finds it.
  const CodedShape& coded_shape(const Compressor& compressor, std::int64_t first, std::int64_t length,
                                std::size_t pieces, const std::function<CodedShape()>& find) const;

  /// Mean loss (penalty included) and metric over the evaluation set at w. Waits for the numbers.
  /// elapsed_s: since the training began, for an evaluation on the rows that come in next.
  Score score(const values::Tensor& w, double elapsed_s = 0.0) const;
  /// Whether numbers of states are computed, or known.
  bool scores() const { return dispatcher_.numbers() || setup_.trajectory != nullptr; }
  /// sqrt of the mean over replicas of |w_i - mean|^2. Waits for the numbers.  mean: that of the replicas.
  double consensus_distance(std::span<const values::Tensor> replicas, const values::Tensor& mean) const;

 private:
  void count_choices(const values::Tensor& w, RowSet rows, Score& score) const;
  std::vector<double> means_of_sources(std::vector<double> sums, std::int64_t samples) const;
  Score computed_score(const values::Tensor& w, double elapsed_s) const;
  /// Whether a score from a file has the numbers that this training's have, each in its range.
  bool is_of_this_training(const Score& score) const;
  const data::Dataset& evaluation_set() const;
  /// A function of w and of the share's rows, as models::Samples.  work(w, samples, result).  variant: tells apart
  /// works of one name.
  template <class Work>
  values::Tensor dispatch_on_rows(std::string_view name, double flops, std::int64_t size, const values::Tensor& w,
                                  const Share& share, Work work, std::uint64_t variant = 0,
                                  const values::WireFormat& wire_format = {}) const;
  /// Dispatches work on several inputs.  work(inputs, samples, result).
  template <class Work>
  values::Tensor dispatch_of_inputs(std::string_view name, double flops, std::int64_t size,
                                    std::span<const values::Tensor> inputs, const Share& share, Work work,
                                    std::uint64_t variant, const values::WireFormat& wire_format) const;
  std::vector<values::Tensor> dispatch_scores(const values::Tensor& w, RowSet rows) const;
  values::Tensor gradient_in_format(const values::Tensor& w, const Share& share, int loss_exponent) const;
  RowSet evaluation_rows(double elapsed_s) const;

  Setup setup_;
  const models::KMeans* k_means_;                  ///< the model, or null
  const models::TaskModel* task_model_;            ///< likewise
  std::shared_ptr<const models::ModelPart> part_;  ///< the model, where it is a part of another
  values::Dispatcher& dispatcher_;
  std::int64_t parameters_;
  std::vector<models::Layer> layers_;
  std::vector<ModelUnit> units_;
  bool passes_on_ = false;
  double recomputed_flops_ = 0.0;  ///< of all layers, a sample's
  Batches batches_;
  std::shared_ptr<Effort> effort_ = std::make_shared<Effort>();  ///< kernels may outlive this object
  double target_deviation_ = 0.0;          ///< sum of squared differences of the evaluation targets from their mean
  std::vector<double> source_deviations_;  ///< likewise, by source of a mixture
  mutable std::map<std::tuple<const Compressor*, std::int64_t, std::int64_t, std::size_t>, CodedShape> coded_shapes_;
};

/// The mean of the replicas. Replicas that are all equal are their own mean, bit for bit.
values::Tensor mean(std::span<const values::Tensor> replicas);

}  // namespace simgrad::training
