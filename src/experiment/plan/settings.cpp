#include "experiment/plan/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/mixture.h"

namespace simgrad::experiment {

using base::Bounds;

void ModelSection::describe(base::Describer& d) {
  d.inline_component("kind", model, "the kind of model");
  d.component(
      "timed_as", timed_as,
      "a large model whose layers decide times, messages and bytes of the run, while the losses are those of the "
      "small model that is trained");
}

void StrategyEntry::describe(base::Describer& d) {
  d.inline_component("kind", strategy, "how the training is made parallel");
  d.text("label", label,
         "its name in tables; default: an alias such as \"ddp\" if the scenario names the kind by one, else the kind "
         "with the options that differ from their defaults");
  d.choice("recovery", recovery, {"cluster", "as cluster.failures.recovery says"}, cluster::recovery_choices(),
           "recovery after a failure (cluster.failures)");
  if (!label && !strategy.alias().empty()) label = strategy.alias();
}

cluster::Recovery StrategyEntry::effective(const cluster::Options& cluster) const {
  return recovery.value_or(cluster.failures.recovery);
}

std::int64_t StrategyEntry::hosts(std::int64_t workers) const {
  const auto runs = as_run();
  return std::int64_t{1} + std::ranges::max(runs->hosts(static_cast<int>(runs->workers(workers))));
}

std::string StrategyEntry::name() const {
  if (!known_name.empty()) return known_name;
  if (label) return *label;
  const auto defaults = strategy.example(strategy.kind());
  std::string options;
  for (const auto& [key, value] : scenario::differences(*strategy, *defaults))
    options += fmt::format("{}{}={}", options.empty() ? "" : ", ", key, value);
  if (recovery) options += fmt::format("{}recovery={}", options.empty() ? "" : ", ", cluster::name(*recovery));
  return options.empty() ? std::string(strategy.kind()) : fmt::format("{}({})", strategy.kind(), options);
}

void Settings::describe(base::Describer& d) {
  d.integer("schema", schema, "the version of this format", Bounds::between(1, 1));
  d.text("title", title, "title of the experiment");
  d.integer("seed", seed, "the seed of all random draws", Bounds::at_least(0));
  d.flag(
      "save_model", save_model,
      "whether each run keeps its model, the parameters of its last evaluation, in models/ in the results directory, "
      "in a file whose name ends in the run's id, for `simgrad predict`");
  d.section("cluster", cluster, "hosts, links, the network model, stragglers and failures");
  d.section("data", data, "the samples");
  d.section("model", model, "the model that is fitted to the samples");
  d.section("training", training, "batches, optimizer, partition");
  d.section("parallel", parallel, "how the model is cut among ranks: tensor, context, expert and pipeline parallelism");
  d.section("stop", stop, "the rules that end the training; the first to hold decides");
  d.section("evaluate", evaluate, "times of the loss's evaluation, which takes no virtual time");
  d.section("prices", prices, "the prices of hosts, bytes and energy; they do not change the simulation");
  d.section("plan", goal, "the goal, the limits and the search space of `simgrad plan`");
  d.section("capacity", capacity,
            "a fleet over a long time, for `simgrad capacity`; failures, checkpoints and spares for `simgrad plan`; it "
            "does not change the runs");
  d.section("serving", serving, "requests that a trained transformer answers, in place of a training");
  d.list("strategy", strategies, "the strategies to compare");
  d.list("job", jobs, "trainings that run at the same time, each with one of the strategies");
  d.list("expect", expectations, "the expectations that `simgrad check` tests");
}

scenario::Position Settings::place_of(std::size_t strategy, const std::string& option) const {
  constexpr std::string_view section = "parallel.";
  if (option.starts_with(section)) {
    const auto at = places.parallel.find(option.substr(section.size()));
    return at == places.parallel.end() ? places.parallel_table : at->second;
  }
  const Places::Strategy& place = places.strategies.at(strategy);
  const auto at = place.options.find(option);
  return at == place.options.end() ? place.table : at->second;
}

data::Task Settings::task() const {
  switch (model.model->predicts()) {
    case models::Predicts::classes:
      return data::Task::classification;
    case models::Predicts::rating:
      return data::Task::recommendation;
    case models::Predicts::cluster:
      return data::Task::clustering;
    case models::Predicts::tokens:
      return data::Task::text;
    case models::Predicts::mixture:
      return data::Task::mixture;
    case models::Predicts::number_or_class:
      return data.source->suits(data::Task::regression) ? data::Task::regression : data::Task::classification;
    case models::Predicts::number:
      break;
  }
  return data::Task::regression;
}

std::int64_t Settings::hosts_needed() const {
  std::int64_t most = cluster.workers;
  if (!jobs.empty()) return most;  // the servers of jobs live among them
  for (const StrategyEntry& entry : strategies) most = std::max(most, entry.hosts(cluster.workers));
  return most;
}

std::int64_t Settings::batch(std::int64_t rows) const {
  const auto each = training.batch_size_per_worker;
  if (!each) return training.batch_size.value_or(rows);
  std::int64_t all = 0;
  // A product that overflows is more than there are rows.
  return __builtin_mul_overflow(*each, cluster.workers, &all) ? std::numeric_limits<std::int64_t>::max() : all;
}

namespace {

/// A small data set with the generator's classes, users and items. A file's are not known before it is read.
data::Dataset made(const Settings& settings) {
  const data::Source& source = *settings.data.source;
  if (const data::Mixture* const mixture = source.mixture()) return mixture->outline();
  if (source.generates())
    return source.load(
        {.task = settings.task(),
         .seed = 0,
         .samples = 1,
         .features = source.nonzeros() || settings.task() == data::Task::text ? settings.data.features_made() : 1});
  data::Dataset unknown;
  unknown.classes = settings.task() == data::Task::classification ? 2 : 0;
  return unknown;
}

}  // namespace

std::optional<models::Problem> Settings::own_problem() const {
  return training.numbers ? std::nullopt : model.model->own_problem();
}

models::Problem Settings::problem() const {
  if (const auto own = own_problem()) return *own;
  const data::Dataset shape = made(*this);
  return {.features = data.features_made() + (model.model->constant_feature() ? 1 : 0),
          .classes = shape.classes,
          .users = shape.users,
          .items = shape.items,
          .nonzeros = static_cast<double>(shape.sparse.entries() +
                                          (shape.sparse.any() && model.model->constant_feature() ? 1 : 0)),
          .fields = model.model->constant_feature() ? 0 : shape.fields,
          .vocabulary = shape.vocabulary,
          .sources = sources_of(shape)};
}

std::vector<models::SourceShape> sources_of(const data::Dataset& set) {
  std::vector<models::SourceShape> all;
  for (const data::PartColumns& part : set.parts)
    all.push_back({.name = part.name,
                   .first = part.first,
                   .features = part.features,
                   .rows = part.rows,
                   .classes = part.classes});
  return all;
}

std::optional<std::int64_t> known_rows(const Settings& settings) {
  if (!settings.data.source->generates() && settings.training.numbers) return std::nullopt;
  return settings.data.training_rows();
}

}  // namespace simgrad::experiment
