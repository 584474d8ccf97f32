#include "experiment/checks/training_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "data/mixture.h"
#include "experiment/checks/fit_check.h"
#include "experiment/checks/hosts_check.h"
#include "experiment/plan/places.h"
#include "experiment/plan/proxy.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

/// Refuses options of the optimizer if no strategy uses the optimizer.
void check_optimizer(const Settings& settings, const Document& document, Faults& faults) {
  for (const StrategyEntry& entry : settings.strategies)
    if (!entry.strategy || entry.as_run()->traits(static_cast<int>(settings.cluster.workers)).optimizes) return;
  const training::Options& training = settings.training;
  const auto refuse = [&](bool given, const char* key) {
    if (given)
      faults.add(place(document, fmt::format("training.{}", key)),
                 fmt::format("{} is the optimizer's, but all strategies have job = \"k_means\", which moves centres to "
                             "means; leave {} out, or set job = \"gradient\"",
                             key, key));
  };
  refuse(training.optimizer.kind() != "sgd", "optimizer");
  refuse(training.schedule.kind() != "constant", "schedule");
  refuse(training.warmup_steps > 0, "warmup_steps");
  refuse(training.learning_rate_scaling != training::RateScaling::none, "learning_rate_scaling");
}

/// Refuses a spread of asynchronous gradients if no strategy is asynchronous.
void check_desynchronise(const Settings& settings, const Document& document, Faults& faults) {
  const double spread = settings.training.desynchronise;
  if (spread == 0.0 || spread == training::Options().desynchronise) return;
  for (const StrategyEntry& entry : settings.strategies)
    if (!entry.strategy || entry.as_run()->traits(static_cast<int>(settings.cluster.workers)).asynchronous) return;
  faults.add(place(document, "training.desynchronise"),
             "desynchronise spreads the gradients of asynchronous strategies, but every strategy here is synchronous; "
             "leave it out (cluster.stragglers slow down the ranks of any strategy)");
}

/// Refuses rows that are read once where new ones come in.
void check_cache(const Settings& settings, const Document& document, Faults& faults) {
  if (!settings.training.input.cache || !settings.training.partition->inflow()) return;
  faults.add(
      place(document, "training.input.cache"),
      fmt::format("cache = true reads a worker's rows once, but with partition = \"{}\" new rows come in during the "
                  "training; leave cache out, so that each batch is read",
                  settings.training.partition.kind()));
}

/// Refuses faulty workers where no worker hands over a gradient of the whole model.
void check_faulty(const Settings& settings, const Document& document, Faults& faults) {
  if (!settings.cluster.faulty->there()) return;
  const auto refuse = [&](const std::string& what) {
    faults.add(place(document, "cluster.faulty"),
               fmt::format("faulty workers hand over other gradients than they have computed, but {}; leave one of "
                           "them out",
                           what));
  };
  if (!settings.training.numbers) return refuse("training.numbers = false computes none");
  if (settings.parallel.cuts()) return refuse("[parallel] cuts the model, so that a rank has a part of each");
  for (const StrategyEntry& entry : settings.strategies) {
    if (!entry.strategy) continue;
    const training::Traits traits = entry.as_run()->traits(static_cast<int>(settings.cluster.workers));
    if (traits.passes == training::Traits::Passes::assignments)
      return refuse(fmt::format("job = \"k_means\" of {} sends sums of rows", entry.strategy.kind()));
    if (traits.cuts) return refuse(fmt::format("{} cuts the model among the ranks", entry.strategy.kind()));
  }
}

/// True if w is longer for more classes.
bool needs_classes(const Settings& settings) {
  const models::Model& model = *settings.model.model;
  return settings.task() == data::Task::classification &&
         model.parameters({.features = 1, .classes = 2}) != model.parameters({.features = 1, .classes = 3});
}

/// True if the data may hold numbers or classes, and the model accepts both.
bool task_is_open(const Settings& settings) {
  return settings.model.model->predicts() == models::Predicts::number_or_class &&
         settings.data.source->suits(data::Task::regression) && settings.data.source->suits(data::Task::classification);
}

/// Checks the data as far as they are known before they are made or read.
void check_data(const Settings& settings, Faults& faults) {
  const bool own = settings.own_problem().has_value();
  if (!own && task_is_open(settings))
    return faults.add(settings.places.model,
                      fmt::format("the data source \"{}\" may hold numbers or classes; say which of them {} is to "
                                  "predict: [model] task = \"regression\" or task = \"classification\" (model.task)",
                                  settings.data.source.kind(), settings.model.model.kind()));
  if (const std::string text = data::task_refusal(settings.data, settings.task()); !own && !text.empty())
    return faults.add(settings.places.data, text);
  if (const std::string text = data::size_refusal(settings.data, settings.training.numbers); !own && !text.empty())
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
  } catch (const base::ScenarioError& error) {  // the generator makes data of another task than the model's
    faults.add(settings.places.data, error.what());
  }
}

/// Refuses times of another model where the numbers depend on times, and checks that model as if it were trained.
void check_proxy(const Settings& settings, const Document& document, Faults& faults) {
  if (!settings.model.proxied() || !faults.empty()) return;
  const scenario::Position at = place(document, "model.timed_as");
  if (!settings.training.numbers)
    return faults.add(at, "timed_as with training.numbers = false, which computes no numbers; give that model as kind");
  if (!settings.jobs.empty())
    return faults.add(at, "timed_as in a scenario with jobs, whose times depend on each other");
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    const auto& strategy = settings.strategies[i].strategy;
    if (const std::string why = proxy_refusal(settings, *strategy, strategy.kind()); !why.empty())
      faults.add(settings.places.strategies.at(i).table, why);
  }
  const std::int64_t rows = known_rows(settings).value_or(std::max<std::int64_t>(settings.batch(0), 1'000'000));
  if (!faults.empty()) return;
  const Settings of_large = timed_settings(settings, rows, {});
  check_fit(of_large, of_large.problem(), rows, faults);
}

/// Refuses files of a mixture whose sizes or classes are unknown, since no data are read.
void check_blind_mixture(const Settings& settings, Faults& faults) {
  for (const data::MixturePart& part : settings.data.source->mixture()->parts) {
    if (part.source->generates()) continue;
    if (!(part.samples && part.features))
      faults.add(settings.places.data,
                 fmt::format("training.numbers = false reads no data; say how much part \"{}\" would have with samples "
                             "and features",
                             part.title()));
    if (part.task() == data::Task::classification)
      faults.add(settings.places.data,
                 fmt::format("training.numbers = false reads no data, so that the classes of part \"{}\" are unknown; "
                             "use source = \"blobs\" with that many classes",
                             part.title()));
  }
}

/// Refuses numbers of a model that has none, and features where the model decides them.
void check_model(const Settings& settings, const Document& document, Faults& faults) {
  const models::Model& model = *settings.model.model;
  if (const std::string why = model.numbers_refusal(); settings.training.numbers && !why.empty())
    faults.add(place(document, {"training.numbers", "model.kind"}), why);
  if (settings.own_problem() && writes(document, "data.features"))
    faults.add(place(document, "data.features"),
               fmt::format("features = {}, but in a timing-only run {} itself decides what a sample is; leave it out",
                           settings.data.features.value_or(0), settings.model.model.kind()));
}

}  // namespace

void check_numbers(const Settings& settings, const Document& document, Faults& faults) {
  check_model(settings, document, faults);
  if (settings.save_model && !settings.training.numbers)
    faults.add(place(document, "save_model"),
               "save_model = true, but training.numbers = false trains no parameters that could be kept; leave one of "
               "them out");
  const bool blind = !settings.training.numbers && settings.data.source && !settings.data.source->generates() &&
                     !settings.own_problem();
  if (!settings.training.numbers && settings.stop.loss)
    faults.add(place(document, "stop.loss"),
               "a loss target, but training.numbers = false computes no losses; leave one of them out");
  if (blind && settings.data.source->mixture())
    check_blind_mixture(settings, faults);
  else if (blind && !(settings.data.samples && settings.data.features))
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
    faults.add(place(document, "evaluate.on"),
               "on = \"test\", but there is no test set; give [data] a test_fraction above 0");
  if (settings.evaluate.on == training::EvaluationSet::next && !settings.training.partition->inflow())
    faults.add(place(document, "evaluate.on"),
               "on = \"next\", but all rows are there from the beginning; set training.partition = \"stream\"");
}

namespace {

/// Refuses a number of tokens where samples have none.
void check_tokens(const Settings& settings, const Document& document, Faults& faults) {
  if (!settings.stop.tokens || settings.model.model->tokens_a_sample(settings.problem()) > 0.0) return;
  faults.add(place(document, "stop.tokens"),
             fmt::format("stop.tokens counts tokens, but samples of {} have none; give samples or epochs instead",
                         settings.model.model.kind()));
}

}  // namespace

void check_fitness(const Settings& settings, const Document& document, Faults& faults) {
  check_optimizer(settings, document, faults);
  check_desynchronise(settings, document, faults);
  check_cache(settings, document, faults);
  check_faulty(settings, document, faults);
  check_tokens(settings, document, faults);
  check_shares(settings, document, faults);
  if (devices_multiply(settings)) check_data(settings, faults);
  check_proxy(settings, document, faults);
}

}  // namespace simgrad::experiment
