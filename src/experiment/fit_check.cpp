/// Whether model, batch, workers and strategies go together, once the problem is known.
#include <fmt/format.h>

#include "data/limits.h"
#include "experiment/settings.h"
#include "strategies/circumstances.h"

namespace simgrad::experiment {

void check_fit(const Settings& settings, const models::Problem& problem, std::int64_t rows, scenario::Faults& faults) {
  const models::Model& model = *settings.model.model;
  const std::string unsuited =
      problem.nonzeros > 0.0 && !model.takes_sparse_rows()
          ? fmt::format(
                "{} would hold the sparse rows of data source \"{}\" as a dense matrix; use sparse_logistic, "
                "factorization_machine or wide_and_deep",
                settings.model.model.kind(), settings.data.source.kind())
          : model.unfit(problem);
  if (!unsuited.empty()) faults.add(settings.places.model, unsuited);
  if (settings.training.partition->by_class() && problem.classes == 0)
    faults.add(settings.places.partition,
               fmt::format("partition = \"{}\" goes by classes, but the data are a regression's; use a model that "
                           "predicts classes, or the partition quantity or contiguous",
                           settings.training.partition.kind()));
  if (const auto inflow = settings.training.partition->inflow()) {
    if (2 * inflow->window > rows)
      faults.add(
          settings.places.partition,
          fmt::format("a window of {} rows of {} that come in; expected at most half of them", inflow->window, rows));
    if (const std::int64_t batch = settings.batch(rows); batch > inflow->window)
      faults.add(settings.places.batch,
                 fmt::format("a batch of {} samples from the last {} rows that have come in (the window of partition = "
                             "\"stream\"); expected at most as many",
                             batch, inflow->window));
  }
  if (const std::int64_t batch = settings.batch(rows); batch > rows)
    faults.add(
        settings.places.batch,
        fmt::format("a batch of {} samples, but there are {} training rows; expected at most as many", batch, rows));
  if (settings.cluster.workers > rows)
    faults.add(settings.places.workers,
               fmt::format("{} workers for {} training rows; expected at most one worker a row",
                           settings.cluster.workers, rows));
  if (!unsuited.empty()) return;  // the model's parameters cannot be counted
  const std::int64_t parameters = settings.model.model->parameters(problem);
  if (settings.training.numbers && parameters > data::cells_most)
    faults.add(settings.places.model,
               fmt::format("{} has {} parameters here, {:.1f} GiB; expected at most {}; for more, simulate the timing "
                           "only (training.numbers = false)",
                           settings.model.model.kind(), parameters, static_cast<double>(parameters) * 8.0 / 0x1.0p30,
                           data::cells_most));
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const strategies::Strategy& strategy = *settings.strategies[i].strategy;
    const auto why = strategy.refusal({.parameters = parameters,
                                       .workers = strategy.workers(settings.cluster.workers),
                                       .optimizer = *settings.training.optimizer,
                                       .optimizer_kind = settings.training.optimizer.kind(),
                                       .model = *settings.model.model,
                                       .model_kind = settings.model.model.kind(),
                                       .cluster = settings.cluster,
                                       .stop = settings.stop,
                                       .layers = settings.model.model->layers(problem),
                                       .seed = static_cast<std::uint64_t>(settings.seed),
                                       .keys = problem.features,
                                       .numbers = settings.training.numbers,
                                       .shares_by_speed = settings.training.partition->by_speed()});
    const Settings::Places::Strategy& place = settings.places.strategies.at(i);
    if (why) {
      const auto option = place.options.find(why->option);
      faults.add(option == place.options.end() ? place.table : option->second, why->text);
    }
    const std::int64_t P = strategy.workers(settings.cluster.workers);
    if (const std::int64_t batch = settings.batch(rows);
        !strategy.traits(static_cast<int>(P)).lockstep() && batch < P && P <= rows)
      faults.add(
          place.table,
          fmt::format("batch_size = {} for {} workers leaves ranks without rows, whose updates would be empty; give "
                      "at least one row a worker",
                      batch, P));
  }
}

}  // namespace simgrad::experiment
