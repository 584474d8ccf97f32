// A training of a model that is cut among the ranks of a mesh, and of the same model on one rank a replica.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/perceptron.h"
#include "models/transformer.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/programs.h"

namespace simgrad::tests {

/// A model that notes at which parameters it is scored. It can be cut if the model in it can.
class ScoredModel final : public models::Model {
 public:
  using Change = std::function<void(std::span<double> w)>;

  /// change: of the initial values; empty: none.
  explicit ScoredModel(std::shared_ptr<const models::Model> model, Change change = {})
      : model_(std::move(model)), change_(std::move(change)) {
    l2 = model_->l2;
  }

  models::Predicts predicts() const override { return model_->predicts(); }
  const models::CutModel* cut() const override { return model_->cut(); }
  const models::MultitaskPerceptron* multitask() const override { return model_->multitask(); }
  const models::SparseModel* sparse() const override { return model_->sparse(); }
  std::vector<models::ExpertLoad> expert_loads(const models::Problem& problem, const models::Samples& rows,
                                               std::span<const double> w, values::Format format) const override {
    return model_->expert_loads(problem, rows, w, format);
  }
  std::int64_t sequence() const override { return model_->sequence(); }
  std::int64_t parameters(const models::Problem& problem) const override { return model_->parameters(problem); }
  std::vector<models::Layer> layers(const models::Problem& problem) const override { return model_->layers(problem); }
  void initial_values(const models::Problem& problem, std::uint64_t seed, std::span<double> w) const override {
    model_->initial_values(problem, seed, w);
    if (change_) change_(w);
  }
  void gradient(const models::Problem& problem, const models::Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> into) const override {
    model_->gradient(problem, rows, w, scale, penalty_scale, into);
  }
  void gradient_in(values::Format format, const models::Problem& problem, const models::Samples& rows,
                   std::span<const double> w, double scale, double penalty_scale,
                   std::span<double> into) const override {
    model_->gradient_in(format, problem, rows, w, scale, penalty_scale, into);
  }
  models::Score score(const models::Problem& problem, const models::Samples& rows,
                      std::span<const double> w) const override {
    evaluated.emplace_back(w.begin(), w.end());
    return model_->score(problem, rows, w);
  }

  mutable std::vector<std::vector<double>> evaluated;

 private:
  std::shared_ptr<const models::Model> model_;
  Change change_;
};

struct MeshTrial {
  std::shared_ptr<const models::Model> model;
  models::Problem problem;
  data::Dataset data = {};  ///< empty in a run of times alone
  std::int64_t rows = 0;
  std::int64_t batch = 0;
  std::shared_ptr<const strategies::Strategy> strategy;
  strategies::Parallel parallel = {};
  int workers = 1;
  std::int64_t steps = 3;
  cluster::Options cluster = ideal_star();
  training::Options training = {};
  int threads = 0;
  ScoredModel::Change change = {};  ///< of the model's initial values

  Outcome run() const {
    return by_messages_where_they_meet(*this, [](const MeshTrial& trial) { return trial.run_here(); });
  }

 private:
  Outcome run_here() const {
    const auto scored = std::make_shared<ScoredModel>(model, change);
    values::Dispatcher dispatcher({.threads = threads, .numbers = training.numbers, .label = {}});
    const auto on_mesh = strategies::on_mesh(strategy, parallel);
    const training::Traits traits = on_mesh->traits(workers);
    cluster::Cluster hosts(cluster, traits.hosts_needed(workers), traits.many_to_many, 1, traits.few_neighbours);
    const training::Learning learning(
        {.data = training.numbers ? std::make_shared<const data::Split>(data::Split{data, {}}) : nullptr,
         .model = scored,
         .problem = problem,
         .rows = rows,
         .batch = batch,
         .recompute = training.recompute,
         .precision = training.precision},
        dispatcher);
    training::StopOptions stop;
    stop.steps = steps;
    training::EvaluateOptions evaluate;
    evaluate.every_steps = 1;
    training::Training job(hosts, learning, strategies::program(on_mesh), {training, stop, evaluate}, workers);
    Outcome outcome = run_to_the_end(job, hosts);
    outcome.evaluated = scored->evaluated;
    return outcome;
  }
};

/// The facts on which the memory of its ranks depends.
inline training::MemoryTerms memory_terms(const MeshTrial& trial) {
  return {.layers = trial.model->layers(trial.problem),
          .bytes = trial.training.number_bytes(),
          .recompute = trial.training.recompute,
          .workers = trial.workers,
          .rows = trial.batch / trial.workers,
          .batch = trial.batch,
          .optimizer_vectors = trial.training.optimizer->vectors(),
          .model = trial.model.get(),
          .problem = &trial.problem};
}

/// The peak memory of the fullest rank.
inline double peak_memory(const record::Record& record) {
  REQUIRE(record.error.empty());
  double most = 0.0;
  for (const record::RankUse& use : record.ranks) most = std::max(most, use.memory_bytes.value_or(0.0));
  return most;
}

/// x_it = (7 i + 5 t + (i t mod 3) + t^2) mod V, with the row's next token as its target.
inline data::Dataset text_data(std::int64_t rows, std::int64_t sequence, std::int64_t vocabulary) {
  data::Dataset set;
  set.rows = rows;
  set.columns = sequence;
  set.vocabulary = vocabulary;
  const auto token = [&](std::int64_t i, std::int64_t t) {
    return static_cast<double>((7 * i + 5 * t + i * t % 3 + t * t) % vocabulary);
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t t = 0; t < sequence; ++t) set.features.push_back(token(i, t));
    set.targets.push_back(token(i, sequence));
  }
  return set;
}

/// A transformer of so many blocks, on text.
inline MeshTrial transformer_trial(std::int64_t blocks, bool tied) {
  auto model = std::make_shared<models::Transformer>();
  model->options.layers = blocks;
  model->options.hidden = 16;
  model->options.heads = 4;
  model->options.feed_forward = 24;
  model->options.sequence = 8;
  model->options.tied = tied;
  model->l2 = 0.01;
  MeshTrial trial{.model = model, .problem = {.features = 8, .vocabulary = 12}, .strategy = {}};
  trial.rows = 96;
  trial.batch = 48;
  trial.data = text_data(trial.rows, 8, 12);
  return trial;
}

/// A transformer in each second block of which four experts take few tokens.
inline MeshTrial experts_trial(std::int64_t blocks, bool tied) {
  MeshTrial trial = transformer_trial(blocks, tied);
  auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
  model->options.experts = 4;
  model->options.top_k = 2;
  model->options.capacity_factor = 0.75;
  model->options.auxiliary_loss = 0.1;
  model->options.expert_every = 2;
  trial.model = model;
  return trial;
}

/// A perceptron of five layers, on a regression.
inline MeshTrial perceptron_trial() {
  auto model = std::make_shared<models::Perceptron>();
  model->hidden = {16, 12, 8, 8};
  model->bias = true;
  model->l2 = 0.01;
  MeshTrial trial{.model = model, .problem = {.features = 6}, .strategy = {}};
  trial.rows = 96;
  trial.batch = 48;
  trial.data = linear_data(trial.rows, 6, 1);
  return trial;
}

}  // namespace simgrad::tests
