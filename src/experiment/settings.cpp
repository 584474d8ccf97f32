#include "experiment/settings.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace simgrad::experiment {

using base::Bounds;
using scenario::Document;
using scenario::Faults;

void ModelSection::describe(base::Describer& d) { d.inline_component("kind", model, "the hypothesis"); }

void StrategyEntry::describe(base::Describer& d) {
  d.inline_component("kind", strategy, "how the training is made parallel");
  d.text("label", label, "its name in tables; default: the kind, then the options that differ from their defaults");
}

std::string StrategyEntry::name() const {
  if (label) return *label;
  // describe() is not const because it may assign; describing to an echo assigns nothing.
  auto& chosen = const_cast<base::Described&>(static_cast<const base::Described&>(*strategy));
  const auto defaults = strategy.example(strategy.kind());
  std::string options;
  for (const auto& [key, value] : scenario::differences(chosen, *defaults))
    options += fmt::format("{}{}={}", options.empty() ? "" : ", ", key, value);
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
  d.list("strategy", strategies, "the strategies to compare");
}

data::Task Settings::task() const {
  return model.model->classifies() ? data::Task::classification : data::Task::regression;
}

std::int64_t Settings::batch(std::int64_t rows) const {
  if (training.batch_size_per_worker) return *training.batch_size_per_worker * cluster.workers;
  return training.batch_size.value_or(rows);
}

std::optional<std::int64_t> known_rows(const Settings& settings) {
  if (!settings.data.source->generates() && settings.training.numbers) return std::nullopt;
  const std::int64_t all = settings.data.samples.value_or(1000);
  return all - static_cast<std::int64_t>(std::llround(settings.data.test_fraction * static_cast<double>(all)));
}

namespace {

void check_strategies(const Settings& settings, const Document& document, Faults& faults) {
  if (settings.strategies.empty())
    faults.add(document.position("strategy"), "a scenario needs at least one [[strategy]]");
  std::set<std::string> labels;
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const StrategyEntry& entry = settings.strategies[i];
    if (entry.strategy && !labels.insert(entry.name()).second)
      faults.add(document.position(fmt::format("strategy.{}", i)),
                 fmt::format("two strategies are labelled \"{}\"; give one of them a label of its own", entry.name()));
  }
}

void check_rows(const Settings& settings, const Document& document, Faults& faults) {
  const auto rows = known_rows(settings);
  if (!rows) return;
  const bool per_worker = settings.training.batch_size_per_worker.has_value();
  if (settings.batch(*rows) > *rows)
    faults.add(document.position(per_worker ? "training.batch_size_per_worker" : "training.batch_size"),
               fmt::format("a batch of {} samples, but there are {} training rows; expected at most as many",
                           settings.batch(*rows), *rows));
  if (settings.cluster.workers > *rows)
    faults.add(document.position("cluster.workers"),
               fmt::format("{} workers for {} training rows; expected at most one worker a row",
                           settings.cluster.workers, *rows));
}

void check_numbers(const Settings& settings, const Document& document, Faults& faults) {
  if (!settings.training.numbers && settings.stop.loss)
    faults.add(document.position("stop.loss"),
               "a loss target, but training.numbers = false computes no losses; leave one of them out");
  if (!settings.training.numbers && settings.data.source && !settings.data.source->generates() &&
      !(settings.data.samples && settings.data.features))
    faults.add(document.position("data.source"),
               "training.numbers = false reads no data; say how much there would be with samples and features");
  if (settings.evaluate.on == training::EvaluationSet::test && settings.data.test_fraction == 0.0)
    faults.add(document.position("evaluate.on"),
               "on = \"test\", but there is no test set; give [data] a test_fraction above 0");
}

/// Parts of the contract that a later release brings: refused, not ignored.
void refuse_what_is_to_come(const Document& document, Faults& faults) {
  for (const char* key : {"expect", "job", "prices", "extends"})
    if (document.contains(key))
      faults.add(document.position(key), fmt::format("\"{}\" is not there yet; it comes with a later release", key));
}

}  // namespace

Settings read_settings(const Document& document, Faults& faults) {
  Settings settings;
  refuse_what_is_to_come(document, faults);
  if (!faults.empty()) return settings;
  document.read_into(settings, faults);
  if (!settings.model.model) return settings;
  check_strategies(settings, document, faults);
  check_numbers(settings, document, faults);
  if (faults.empty()) {
    check_rows(settings, document, faults);
    if (const std::string text = data::size_conflict(settings.data, settings.training.numbers); !text.empty())
      faults.add(document.position("data.source"), text);
  }
  return settings;
}

}  // namespace simgrad::experiment
