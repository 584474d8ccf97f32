#include "experiment/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <vector>

#include "base/errors.h"
#include "data/limits.h"
#include "experiment/hosts_check.h"
#include "experiment/job_training.h"
#include "experiment/names_check.h"
#include "experiment/prices_check.h"
#include "experiment/recoveries.h"

namespace simgrad::experiment {

using base::Bounds;
using scenario::Document;
using scenario::Faults;

void ModelSection::describe(base::Describer& d) { d.inline_component("kind", model, "the hypothesis"); }

namespace {

/// The cluster's, or one of those that it can have.
std::span<const base::Choice> own_recoveries() {
  static const std::vector<base::Choice> all = [] {
    std::vector<base::Choice> choices{{"cluster", "as cluster.failures.recovery says"}};
    const auto each = cluster::recovery_choices();
    choices.insert(choices.end(), each.begin(), each.end());
    return choices;
  }();
  return all;
}

}  // namespace

void StrategyEntry::describe(base::Describer& d) {
  d.inline_component("kind", strategy, "how the training is made parallel");
  d.text("label", label, "its name in tables; default: the kind, then the options that differ from their defaults");
  d.choice("recovery", recovery, own_recoveries(), "what it does after a failure (cluster.failures)");
}

cluster::Recovery StrategyEntry::effective(const cluster::Options& cluster) const {
  if (recovery == OwnRecovery::cluster) return cluster.failures.recovery;
  return static_cast<cluster::Recovery>(static_cast<int>(recovery) - 1);
}

std::int64_t StrategyEntry::hosts(std::int64_t workers) const {
  return std::int64_t{1} + std::ranges::max(strategy->hosts(static_cast<int>(strategy->workers(workers))));
}

std::string StrategyEntry::name() const {
  if (label) return *label;
  const auto defaults = strategy.example(strategy.kind());
  std::string options;
  for (const auto& [key, value] : scenario::differences(*strategy, *defaults))
    options += fmt::format("{}{}={}", options.empty() ? "" : ", ", key, value);
  if (recovery != OwnRecovery::cluster)
    options += fmt::format("{}recovery={}", options.empty() ? "" : ", ",
                           own_recoveries()[static_cast<std::size_t>(recovery)].name);
  return options.empty() ? std::string(strategy.kind()) : fmt::format("{}({})", strategy.kind(), options);
}

void Settings::describe(base::Describer& d) {
  d.integer("schema", schema, "the version of this format", Bounds::between(1, 1));
  d.text("title", title, "what the experiment is about");
  d.integer("seed", seed, "of all random draws", Bounds::at_least(0));
  d.section("cluster", cluster, "hosts, links and what goes wrong");
  d.section("data", data, "the samples");
  d.section("model", model, "what is fitted to them");
  d.section("training", training, "batches, optimizer, partition");
  d.section("stop", stop, "when it ends, whichever comes first");
  d.section("evaluate", evaluate, "when the loss is looked at; observing costs no virtual time");
  d.section("prices", prices, "what hosts, bytes and watts cost; they change nothing of what is simulated");
  d.list("strategy", strategies, "the strategies to compare");
  d.list("job", jobs, "trainings that run at the same time, each with one of the strategies");
  d.list("expect", expectations, "what `check` tests the results for");
}

data::Task Settings::task() const {
  switch (model.model->predicts()) {
    case models::Predicts::classes:
      return data::Task::classification;
    case models::Predicts::rating:
      return data::Task::recommendation;
    case models::Predicts::cluster:
      return data::Task::clustering;
    case models::Predicts::number_or_class:
      return data.source->suits(data::Task::regression) ? data::Task::regression : data::Task::classification;
    case models::Predicts::number:
      break;
  }
  return data::Task::regression;
}

std::int64_t Settings::hosts_needed() const {
  std::int64_t most = cluster.workers;
  for (const StrategyEntry& entry : strategies) most = std::max(most, entry.hosts(cluster.workers));
  return most;
}

std::int64_t Settings::batch(std::int64_t rows) const {
  const auto each = training.batch_size_per_worker;
  if (!each) return training.batch_size.value_or(rows);
  std::int64_t all = 0;
  // What no integer holds is more than there are rows.
  return __builtin_mul_overflow(*each, cluster.workers, &all) ? std::numeric_limits<std::int64_t>::max() : all;
}

namespace {

/// A generator's classes, users and items do not depend on how much it makes; what a file has is not known here.
data::Dataset made(const Settings& settings) {
  const data::Source& source = *settings.data.source;
  if (source.generates())
    return source.load({.task = settings.task(),
                        .seed = 0,
                        .samples = 1,
                        .features = source.nonzeros() ? settings.data.features_made() : 1});
  data::Dataset unknown;
  unknown.classes = settings.task() == data::Task::classification ? 2 : 0;
  return unknown;
}

}  // namespace

models::Problem Settings::problem() const {
  const data::Dataset shape = made(*this);
  return {.features = data.features_made() + (model.model->constant_feature() ? 1 : 0),
          .classes = shape.classes,
          .users = shape.users,
          .items = shape.items,
          .nonzeros = static_cast<double>(shape.sparse.entries() +
                                          (shape.sparse.any() && model.model->constant_feature() ? 1 : 0)),
          .fields = model.model->constant_feature() ? 0 : shape.fields};
}

std::optional<std::int64_t> known_rows(const Settings& settings) {
  if (!settings.data.source->generates() && settings.training.numbers) return std::nullopt;
  const std::int64_t all = settings.data.samples_made();
  return all - std::llround(settings.data.test_fraction * static_cast<double>(all));
}

namespace {

Settings::Places places_of(const Document& document) {
  // The first that is written; each is looked for in vain where a default is at fault.
  const auto first = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (document.contains(key)) return document.position(key);
    return document.position("");
  };
  return {.data = first({"data.source", "data"}),
          .size = first({"data.samples", "data.features", "data.source", "data"}),
          .test_fraction = first({"data.test_fraction", "data"}),
          .model = first({"model.kind", "model"}),
          .batch = first({"training.batch_size_per_worker", "training.batch_size", "training"}),
          .workers = first({"cluster.workers", "cluster"}),
          .partition = first({"training.partition", "training"}),
          .recovery = first({"cluster.failures.recovery", "cluster.failures", "cluster"}),
          .crashes = first({"cluster.failures.crash", "cluster.failures", "cluster"}),
          .checkpoint = first({"training.checkpoint_every", "training"}),
          .strategies = {}};
}

Settings::Places::Strategy place_of(const StrategyEntry& entry, const std::string& table, const Document& document) {
  Settings::Places::Strategy place{.table = document.position(table), .options = {}};
  if (!entry.strategy) return place;
  base::Slot<strategies::Strategy> slot = entry.strategy;
  for (const scenario::OptionText& option : scenario::options(*slot.object()))
    if (const std::string key = table + "." + option.key; document.contains(key))
      place.options[option.key] = document.position(key);
  if (const std::string key = table + ".recovery"; document.contains(key))
    place.options["recovery"] = document.position(key);
  return place;
}

void check_strategies(Settings& settings, const Document& document, Faults& faults) {
  // A strategy that could not be read has a fault already, and goes by its defaults here.
  const bool sound = faults.empty();
  if (settings.strategies.empty() && (sound || !document.contains("strategy")))
    faults.add(document.position("strategy"), "a scenario needs at least one [[strategy]]");
  std::set<std::string> labels;
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const StrategyEntry& entry = settings.strategies[i];
    settings.places.strategies.push_back(place_of(entry, fmt::format("strategy.{}", i), document));
    if (entry.strategy && (sound || entry.label) && !labels.insert(entry.name()).second)
      faults.add(document.position(fmt::format("strategy.{}", i)),
                 fmt::format("two strategies are labelled \"{}\"; give one of them a label of its own", entry.name()));
  }
}

/// Options of the optimizer where no strategy uses it.
void check_optimizer(const Settings& settings, const Document& document, Faults& faults) {
  for (const StrategyEntry& entry : settings.strategies)
    if (!entry.strategy || entry.strategy->traits(static_cast<int>(settings.cluster.workers)).optimizes) return;
  const training::Options& training = settings.training;
  const auto refuse = [&](bool given, const char* key) {
    if (given)
      faults.add(document.position(fmt::format("training.{}", key)),
                 fmt::format("{} is the optimizer's, but all strategies have job = \"k_means\", which moves centres to "
                             "means; leave {} out, or set job = \"gradient\"",
                             key, key));
  };
  refuse(training.optimizer.kind() != "sgd", "optimizer");
  refuse(training.schedule.kind() != "constant", "schedule");
  refuse(training.warmup_steps > 0, "warmup_steps");
  refuse(training.learning_rate_scaling != training::RateScaling::none, "learning_rate_scaling");
}

/// Whether w is longer for more classes.
bool needs_classes(const Settings& settings) {
  const models::Model& model = *settings.model.model;
  return settings.task() == data::Task::classification &&
         model.parameters({.features = 1, .classes = 2}) != model.parameters({.features = 1, .classes = 3});
}

void check_numbers(const Settings& settings, const Document& document, Faults& faults) {
  const bool blind = !settings.training.numbers && settings.data.source && !settings.data.source->generates();
  if (!settings.training.numbers && settings.stop.loss)
    faults.add(document.position("stop.loss"),
               "a loss target, but training.numbers = false computes no losses; leave one of them out");
  if (blind && !(settings.data.samples && settings.data.features))
    faults.add(settings.places.data,
               "training.numbers = false reads no data; say how much there would be with samples and features");
  if (blind && settings.task() == data::Task::recommendation)
    faults.add(settings.places.data,
               fmt::format("training.numbers = false reads no data, so that {} cannot know how many users and items "
                           "there are; use source = \"ratings\" with that many",
                           settings.model.model.kind()));
  if (blind && needs_classes(settings))
    faults.add(settings.places.data,
               fmt::format("training.numbers = false reads no data, so that {} cannot know how "
                           "many classes there are; use source = \"blobs\" with that many classes",
                           settings.model.model.kind()));
  if (!settings.training.numbers && settings.training.partition->sizes_by_class())
    faults.add(settings.places.partition,
               fmt::format("partition = \"{}\" cuts the rows of each class, but training.numbers = false reads none; "
                           "use by_label, whose sizes are known, or quantity",
                           settings.training.partition.kind()));
  if (settings.evaluate.on == training::EvaluationSet::test && settings.data.test_fraction == 0.0)
    faults.add(document.position("evaluate.on"),
               "on = \"test\", but there is no test set; give [data] a test_fraction above 0");
  if (settings.evaluate.on == training::EvaluationSet::next && !settings.training.partition->inflow())
    faults.add(document.position("evaluate.on"),
               "on = \"next\", but all rows are there from the beginning; set training.partition = \"stream\"");
}

/// A file may hold numbers or classes; which of them are wanted has to be said.
bool task_is_open(const Settings& settings) {
  return settings.model.model->predicts() == models::Predicts::number_or_class &&
         settings.data.source->suits(data::Task::regression) && settings.data.source->suits(data::Task::classification);
}

/// What can be said of the data before they are made or read.
void check_data(const Settings& settings, Faults& faults) {
  if (task_is_open(settings))
    return faults.add(settings.places.model,
                      fmt::format("the data source \"{}\" may hold numbers or classes; say which of them {} is to "
                                  "predict: task = \"regression\" or task = \"classification\"",
                                  settings.data.source.kind(), settings.model.model.kind()));
  if (const std::string text = data::task_conflict(settings.data, settings.task()); !text.empty())
    return faults.add(settings.places.data, text);
  if (const std::string text = data::size_conflict(settings.data, settings.training.numbers); !text.empty())
    return faults.add(settings.places.size, text);
  const auto rows = known_rows(settings);
  if (!rows) return;
  const std::int64_t all = settings.data.samples_made();
  if (*rows == 0 || (*rows == all && settings.data.test_fraction > 0.0))
    return faults.add(settings.places.test_fraction,
                      fmt::format("test_fraction = {} of {} rows leaves no row to {} on", settings.data.test_fraction,
                                  all, *rows == 0 ? "train" : "test"));
  try {
    check_fit(settings, settings.problem(), *rows, faults);
  } catch (const base::ScenarioError& error) {  // a generator that makes something else than the model wants
    faults.add(settings.places.data, error.what());
  }
}

/// Defaults that depend on other options, so that the echo and the identity have them.
void fill_in(Settings& settings, const Document& document, Faults& faults) {
  if (settings.model.model->takes_sparse_rows() && settings.data.source->keeps_sparse() && settings.data.standardize) {
    if (document.contains("data.standardize"))
      faults.add(document.position("data.standardize"),
                 fmt::format(
                     "standardize = true would make numbers of the zeros that sparse rows leave out, and {} takes such "
                     "rows; leave standardize out",
                     settings.model.model.kind()));
    settings.data.standardize = false;
  }
  if (settings.data.source->generates()) {
    settings.data.samples = settings.data.samples_made();
    settings.data.features = settings.data.features.value_or(settings.data.features_made());
  }
  if (!settings.evaluate.every_steps && !settings.evaluate.every_s) settings.evaluate.every_steps = 1;
}

/// Whether the parts of one sound training suit each other.
void check_fitness(const Settings& settings, const Document& document, Faults& faults) {
  check_optimizer(settings, document, faults);
  check_shares(settings, faults);
  check_data(settings, faults);
}

/// Parts of the contract that a later release brings: refused, not ignored. Returns the document without them.
Document without_what_is_to_come(Document document, Faults& faults) {
  if (document.contains("extends")) {
    faults.add(document.position("extends"), "\"extends\" is not there yet; it comes with a later release");
    document.erase("extends");
  }
  return document;
}

/// Hosts that fail by themselves are repaired, unless the scenario says that they are not.
void repair_by_default(cluster::FailureOptions& failures, const Document& document) {
  if (failures.hosts && failures.hosts->happens() && !failures.hosts->repairs() &&
      !document.contains("cluster.failures.repair"))
    failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), "constant");
}

}  // namespace

Settings read_sections(const Document& document, Faults& faults) {
  Settings settings;
  document.read_into(settings, faults);
  repair_by_default(settings.cluster.failures, document);
  settings.places = places_of(document);
  check_strategies(settings, document, faults);
  return settings;
}

void check_training(Settings& settings, const Document& document, Faults& faults) {
  check_numbers(settings, document, faults);
  if (!faults.empty()) return;
  fill_in(settings, document, faults);
  check_fitness(settings, document, faults);
}

Settings read_settings(const Document& document, Faults& faults, const std::vector<std::string>& names) {
  const Document known = without_what_is_to_come(document, faults);
  Settings settings = read_sections(known, faults);
  const bool one_training = settings.jobs.empty();  // else every job is checked as one, and the scenario is none
  Faults of_jobs;
  if (!one_training) settings.trainings = read_trainings(settings, known, of_jobs);
  if (one_training && settings.model.model) check_numbers(settings, document, faults);
  if (faults.empty()) {
    check_recoveries(settings, names, faults);
    check_crashes(settings, faults);
    check_hosts(settings, document, faults);
    KnownNames known_names(settings);
    check_names(settings, known_names, names, document, faults);
    check_prices(settings, known_names, document, faults);
    check_jobs(settings, document, faults);
    fill_in(settings, document, faults);
    if (one_training) check_fitness(settings, document, faults);
  }
  faults.add(of_jobs);
  return settings;
}

}  // namespace simgrad::experiment
