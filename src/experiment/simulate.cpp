#include "experiment/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/errors.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "training/training.h"

namespace simgrad::experiment {

std::vector<double> speeds(const RunPlan& run, const cluster::Cluster& cluster, const std::vector<int>& places) {
  if (!run.settings->training.partition->by_speed()) return {};
  const std::vector<double>& relative = run.settings->cluster.relative_speeds;
  std::vector<double> all;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(run.workers); ++rank)
    all.push_back(cluster.speed(places[rank]) * (rank < relative.size() ? relative[rank] : 1.0));
  return all;
}

training::Learning::Setup learning_setup(const RunPlan& run, const Data& data) {
  const Settings& settings = *run.settings;
  const std::int64_t rows = data ? data->train.rows : *known_rows(settings);
  return {.data = data,
          .model = settings.model.model.shared(),
          .problem = data ? problem_of(*data) : settings.problem(),
          .rows = rows,
          .batch = settings.batch(rows),
          .partition = settings.training.partition.shared(),
          .evaluate_on = settings.evaluate.on,
          .seed = run.seed};
}

Data load_data(const RunPlan& run) {
  const Settings& settings = *run.settings;
  if (!settings.training.numbers) return nullptr;
  return std::make_shared<const data::Split>(
      data::load(settings.data, {.task = settings.task(),
                                 .seed = run.seed,
                                 .shuffle = settings.training.partition->shuffled(),
                                 .bias = settings.model.model->constant_feature(),
                                 .sparse = settings.model.model->takes_sparse_rows()}));
}

models::Problem problem_of(const data::Split& data) {
  const data::Dataset& train = data.train;
  return {.features = train.columns,
          .classes = train.classes,
          .users = train.users,
          .items = train.items,
          .nonzeros =
              train.sparse.any() ? static_cast<double>(train.sparse.entries()) / static_cast<double>(train.rows) : 0.0,
          .fields = train.fields};
}

record::Record simulate(const RunPlan& run, const Data& data, int threads, double* progress,
                        const std::vector<cluster::TimelineLimits>& tapes) {
  if (!run.jobs.empty()) return simulate_jobs(run, data, threads, progress, tapes);
  const Settings& settings = *run.settings;
  cluster::World* world = nullptr;
  values::Dispatcher dispatcher({.threads = threads, .numbers = data != nullptr, .label = [&world]() -> values::Label {
                                   const int rank = world ? world->current_rank() : -1;
                                   return {rank, rank >= 0 ? world->ranks().step(rank) : -1};
                                 }});
  const auto workers = static_cast<int>(run.workers);
  training::Program program = strategies::program(run.strategy);
  cluster::Cluster cluster(settings.cluster, program.hosts_needed(workers), program.many_to_many, run.seed);
  training::Learning::Setup setup = learning_setup(run, data);
  setup.speeds = speeds(run, cluster, program.places(workers));
  const training::Learning learning(std::move(setup), dispatcher);
  training::Training training(
      cluster, learning, std::move(program),
      {.options = settings.training, .stop = settings.stop, .evaluate = settings.evaluate, .recovery = run.recovery},
      workers);
  world = &training.world();
  training.show_progress_in(progress);
  training.world().recording().start(tapes);
  std::string error;
  try {
    training.start();
    cluster.run();
    if (!training.world().ended()) error = "every rank has ended, but the training has not: a strategy stopped early";
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  training.world().end();
  record::Record record = training.take_record();
  if (!error.empty()) {
    record.status = record::Status::failed;
    record.error = error;
    record.goodput.reset();
  }
  return record;
}

}  // namespace simgrad::experiment
