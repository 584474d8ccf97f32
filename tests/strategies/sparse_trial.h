// A small training of a sparse model: clicks, a parameter server, and everything that came out of it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/fabric/cluster.h"
#include "data/click_log.h"
#include "data/sparse_rows.h"
#include "models/factorization_machine.h"
#include "models/sparse_model.h"
#include "models/wide_and_deep.h"
#include "strategies/programs.h"
#include "strategies/servers/sparse_parameter_server.h"

namespace simgrad::tests {

/// Notes at which parameters it is asked for scores.
class WatchedSparseModel final : public models::SparseModel {
 public:
  explicit WatchedSparseModel(std::unique_ptr<models::Model> model)
      : owner_(std::move(model)), model_(dynamic_cast<models::SparseModel&>(*owner_)) {}

  std::int64_t width() const override { return model_.width(); }
  std::int64_t dense_parameters(const models::Problem& problem) const override {
    return model_.dense_parameters(problem);
  }
  void initial_values(const models::Problem& problem, std::uint64_t seed, std::span<double> w) const override {
    model_.initial_values(problem, seed, w);
  }
  void add_gradient(const models::Problem& problem, const models::Samples& rows, Parameters at, double scale,
                    Gradient gradient) const override {
    model_.add_gradient(problem, rows, at, scale, gradient);
  }
  void compute_scores(const models::Problem& problem, const models::Samples& rows, Parameters at,
                      std::span<double> s) const override {
    const std::lock_guard lock(mutex_);
    evaluated.emplace_back(at.table, at.table + parameters(problem));
    model_.compute_scores(problem, rows, at, s);
  }
  mutable std::vector<std::vector<double>> evaluated;

 protected:
  RowFlops row_flops(const models::Problem& problem) const override {
    // By an entry and by a row: the difference of one row with and without an entry.
    const double with = model_.sparse_flops(problem, 1, 1), without = model_.sparse_flops(problem, 1, 0);
    return {.an_entry_backward = with - without, .a_row_backward = without};
  }

 private:
  std::unique_ptr<models::Model> owner_;
  const models::SparseModel& model_;
  mutable std::mutex mutex_;
};

struct SparseTrial {
  training::Program program;
  std::string_view model = "sparse_logistic";
  int workers = 4;
  std::int64_t rows = 200;
  std::int64_t features = 60;
  std::int64_t fields = 5;
  std::int64_t batch = 40;
  std::uint64_t seed = 1;
  int threads = 0;
  cluster::Options cluster = ideal_star();
  training::Options training = {};
  training::StopOptions stop = {};
  training::EvaluateOptions evaluate = {};
  std::optional<data::Dataset> data = {};  ///< instead of clicks

  SparseTrial(training::Program its_program = {}) : program(std::move(its_program)) {  // NOLINT: a program is a trial
    training.learning_rate = 2.0;
    training.desynchronise = 0.0;
    stop.steps = 12;
    evaluate.every_steps = 1;
  }

  std::shared_ptr<const data::Split> split() const {
    auto made = std::make_shared<data::Split>();
    data::ClickLog clicks;
    clicks.fields = fields;
    made->train = data.value_or(
        clicks.load({.task = data::Task::classification, .seed = seed, .samples = rows, .features = features}));
    return made;
  }
  std::unique_ptr<models::Model> plain_model() const {
    auto made = models::registry().find(model)->make();
    if (auto* machine = dynamic_cast<models::FactorizationMachine*>(made.get())) machine->factors = 2;
    if (auto* deep = dynamic_cast<models::WideAndDeep*>(made.get())) {
      deep->embedding = 2;
      deep->hidden = {4.0};
    }
    return made;
  }
  static models::Problem problem_of(const data::Dataset& set) {
    return {.features = set.columns,
            .classes = set.classes,
            .nonzeros = static_cast<double>(set.sparse.entries()) / static_cast<double>(set.rows),
            .fields = set.fields};
  }

  /// In a child process; checks where its time went.
  Outcome run() const {
    return in_a_child([this] { return run_here(); });
  }

 private:
  Outcome run_here() const {
    const auto watched = std::make_shared<WatchedSparseModel>(plain_model());
    const auto its_data = split();
    values::Dispatcher dispatcher({.threads = threads, .numbers = true, .label = {}});
    const training::Traits traits = program.traits(workers);
    cluster::Cluster hosts(cluster, traits.hosts_needed(workers), traits.many_to_many);
    const training::Learning learning({.data = its_data,
                                       .model = watched,
                                       .problem = problem_of(its_data->train),
                                       .rows = its_data->train.rows,
                                       .batch = batch,
                                       .partition = training.partition.shared(),
                                       .seed = seed},
                                      dispatcher);
    training::Training job(hosts, learning, program, {training, stop, evaluate}, workers);
    Outcome outcome = run_to_the_end(job, hosts);
    outcome.evaluated = watched->evaluated;
    return outcome;
  }
};

/// A sparse parameter server with options of its own.
struct SparseServers {
  Consistency consistency = Consistency::bsp;
  std::int64_t shards = 1;
  strategies::Placement placement = strategies::Placement::dedicated;
  training::Sharding dealt_by = training::Sharding::range;
  std::optional<std::int64_t> staleness_bound = {};
  std::int64_t cache_bound = 0;
  strategies::DenseOn dense = strategies::DenseOn::servers;
  std::int64_t hot_keys = 0;
  values::Format values = values::Format::float64;
  strategies::Part part = strategies::Part::sum;
};

inline std::shared_ptr<const strategies::SparseParameterServer> sparse_strategy(const SparseServers& options) {
  auto strategy = std::make_shared<strategies::SparseParameterServer>();
  strategy->consistency = options.consistency;
  strategy->shards = options.shards;
  strategy->placement = options.placement;
  strategy->dealt_by = options.dealt_by;
  strategy->staleness_bound = options.staleness_bound;
  strategy->cache_bound = options.cache_bound;
  strategy->dense = options.dense;
  strategy->hot_keys = options.hot_keys;
  strategy->values = options.values;
  strategy->part = options.part;
  return strategy;
}

inline training::Program sparse_servers(const SparseServers& options = {}) {
  return strategies::program(sparse_strategy(options));
}

}  // namespace simgrad::tests
