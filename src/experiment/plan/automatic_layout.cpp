#include "experiment/plan/automatic_layout.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/text.h"
#include "cluster/fabric/cluster.h"
#include "experiment/checks/memory_check.h"
#include "experiment/plan/places.h"
#include "experiment/plan/proxy.h"
#include "outputs/text/number_text.h"

namespace simgrad::experiment {

using nlohmann::ordered_json;
using scenario::Faults;
using strategies::FreeOptions;
using strategies::LayoutSearch;
using strategies::Parallel;
using strategies::PredictedLayout;

namespace {

ordered_json to_json(const LayoutSearch& search) {
  ordered_json best = ordered_json::array(), refused = ordered_json::array();
  for (const PredictedLayout& layout : search.best) {
    const Parallel& p = layout.parallel;
    best.push_back(
        {{"sizes", {p.tensor, p.pipeline, p.context, p.expert, layout.data, p.micro_batch_count()}},
         {"sequence_parallel", p.sequence_parallel},
         {"stages", p.stages},
         {"seconds",
          {layout.step_s, layout.computing_s, layout.exchanges_s, layout.waiting_s, layout.sums_s, layout.update_s}},
         {"memory_bytes", layout.memory_bytes}});
  }
  for (const auto& [reason, count] : search.refused) refused.push_back({{"reason", reason}, {"count", count}});
  return {{"best", best}, {"refused", refused}, {"predicted", search.predicted}};
}

LayoutSearch from_json(const ordered_json& json, const Parallel& given) {
  LayoutSearch search{.best = {}, .predicted = json["predicted"], .refused = {}};
  for (const ordered_json& each : json["best"]) {
    const ordered_json &sizes = each["sizes"], &seconds = each["seconds"];
    PredictedLayout& layout = search.best.emplace_back(PredictedLayout{.parallel = given});
    layout.parallel.tensor = sizes[0];
    layout.parallel.pipeline = sizes[1];
    layout.parallel.context = sizes[2];
    layout.parallel.expert = sizes[3];
    layout.data = sizes[4];
    layout.parallel.micro_batches = sizes[5];
    layout.parallel.sequence_parallel = each["sequence_parallel"];
    layout.parallel.stages = each["stages"].get<std::vector<double>>();
    layout.step_s = seconds[0];
    layout.computing_s = seconds[1];
    layout.exchanges_s = seconds[2];
    layout.waiting_s = seconds[3];
    layout.sums_s = seconds[4];
    layout.update_s = seconds[5];
    layout.memory_bytes = each["memory_bytes"];
    layout.parallel.predicted_step_s = layout.step_s;
  }
  for (const ordered_json& each : json["refused"]) search.refused[each["reason"].get<std::string>()] = each["count"];
  return search;
}

/// The reason why no layouts can be predicted, or empty.
std::string refusal(const Settings& settings) {
  if (!known_rows(settings) && !settings.own_problem())
    return "the shape of the data is known once they are read, but layouts are predicted before; take a source that "
           "generates data, or training.numbers = false, or give the layout by hand";
  if (settings.model.model->takes_sparse_rows() || settings.model.model->cut() == nullptr)
    return fmt::format("{} cannot be cut; leave [parallel] out", settings.model.model.kind());
  if (settings.parallel.schedule->asynchronous())
    return fmt::format(
        "the steps of schedule = \"{}\" are not predicted, since its stages do not wait for each other; "
        "take another schedule, or give the layout by hand",
        settings.parallel.schedule.kind());
  const auto workers = static_cast<int>(settings.cluster.workers);
  for (const StrategyEntry& entry : settings.strategies)
    if (entry.strategy->traits(workers).micro_batches > 1)
      return fmt::format(
          "strategy {} sets micro_batches, but the micro-batches of a layout are set in [parallel], or found by the "
          "search; leave them out of the strategy",
          entry.name());
  return {};
}

std::string counted_refusals(const LayoutSearch& search) {
  std::vector<std::string> all;
  for (const auto& [reason, count] : search.refused) all.push_back(fmt::format("{} ({})", reason, count));
  return all.empty() ? "the sizes that are written do not make up the workers" : base::joined(all, ", ");
}

std::string note_of(const Settings& settings, const PredictedLayout& taken, const LayoutSearch& search) {
  std::string strategy = settings.strategies.front().name();
  if (settings.cluster.network_model != cluster::NetworkModel::ideal) strategy += " under network_model = \"ideal\"";
  std::string note =
      fmt::format("{}, for {}: {}; a step of {} is predicted",
                  settings.parallel.automatic ? "automatic layout" : "stages by predicted time", strategy,
                  layout_text(taken.parallel, settings.cluster.workers), outputs::duration(taken.step_s));
  if (search.best.size() > 1 && &taken == &search.best[0])
    note += fmt::format(", and {} with {}", outputs::duration(search.best[1].step_s),
                        layout_text(search.best[1].parallel, settings.cluster.workers));
  return note;
}

}  // namespace

FreeOptions free_options(const Settings& settings) {
  const auto& written = settings.places.parallel;
  const auto left = [&](const char* key) { return settings.parallel.automatic && !written.contains(key); };
  return {.tensor = left("tensor"),
          .pipeline = left("pipeline"),
          .context = left("context"),
          .expert = left("expert"),
          .micro_batches = left("micro_batches"),
          .stages = !written.contains("stages") &&
                    (settings.parallel.balance == strategies::Balance::time || left("balance"))};
}

LayoutSearch best_layouts(const Settings& settings, const FreeOptions& free, std::size_t most) {
  const std::int64_t known = known_rows(settings).value_or(settings.batch(0));
  const Settings of_large = settings.model.proxied() ? timed_settings(settings, known, {}) : settings;
  if (const std::string why = refusal(of_large); !why.empty()) throw base::ScenarioError(why);
  const models::Problem problem = of_large.problem();
  const std::int64_t rows = known_rows(of_large).value_or(known);
  const strategies::Strategy& strategy = *of_large.strategies.front().strategy;
  const base::ChildEnd end = base::run_in_child([&] {
    const auto workers = static_cast<int>(of_large.cluster.workers);
    const cluster::Cluster cluster(of_large.cluster, workers);
    training::MemoryTerms terms = memory_terms(of_large, strategy, problem, rows);
    terms.workers = workers;
    terms.cluster = &cluster;
    strategies::Parallel given = of_large.parallel;
    if (free.stages) given.stages.clear();
    return to_json(strategies::search_layouts(strategy, given, free, terms, most)).dump();
  });
  if (end.kind == base::ChildEnd::Kind::threw) throw base::ScenarioError(end.text);
  if (end.kind == base::ChildEnd::Kind::died)
    throw base::ScenarioError(fmt::format("the process that predicts layouts {}", end.death));
  return from_json(ordered_json::parse(end.text), settings.parallel);
}

std::string units_text(const std::vector<double>& stages) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from < stages.size();) {
    std::size_t end = from;
    while (end < stages.size() && stages[end] == stages[from]) ++end;
    all.push_back(end - from == 1 ? fmt::format("{}", stages[from]) : fmt::format("{} x {}", end - from, stages[from]));
    from = end;
  }
  return base::joined(all);
}

std::string layout_text(const Parallel& parallel, std::int64_t workers) {
  std::string text = fmt::format("tensor {} x pipeline {}", parallel.tensor, parallel.pipeline);
  if (parallel.context > 1) text += fmt::format(" x context {}", parallel.context);
  if (parallel.expert > 1) text += fmt::format(" x expert {}", parallel.expert);
  text +=
      fmt::format(" x data {}, micro_batches = {}", workers / parallel.ranks_a_replica(), parallel.micro_batch_count());
  if (parallel.stages.empty()) return text;
  return text + fmt::format(", stages = [{}]", units_text(parallel.stages));
}

void choose_layout(Settings& settings, const scenario::Document& document,
                   const std::function<scenario::Faults(Settings& settings)>& check, scenario::Faults& faults) {
  constexpr std::size_t tried_most = 20;
  const bool automatic = settings.parallel.automatic;
  const scenario::Position at = place(document, automatic ? "parallel.automatic" : "parallel.balance");
  if (!settings.jobs.empty())
    return faults.add(at, fmt::format("{} cuts the model of a scenario with [[job]]s; leave one of them out",
                                      automatic ? "automatic" : "balance = \"time\""));
  try {
    const LayoutSearch search = best_layouts(settings, free_options(settings), tried_most);
    if (search.best.empty() && automatic)
      return faults.add(at, fmt::format("no layout is possible on {} workers: {}; expected other workers, another "
                                        "batch_size, or a smaller model",
                                        settings.cluster.workers, counted_refusals(search)));
    if (search.best.empty()) return faults.add(check(settings));  // they say more about a layout that is written
    const strategies::Balance balance = settings.parallel.balance;
    const auto fits = [&](const PredictedLayout& layout) {
      settings.parallel = layout.parallel;
      settings.parallel.balance = balance;
      settings.parallel.found = note_of(settings, layout, search);
      return check(settings);
    };
    const Faults of_first = fits(search.best.front());
    for (std::size_t k = 1; k < search.best.size() && !of_first.empty(); ++k)
      if (fits(search.best[k]).empty()) return;
    if (of_first.empty()) return;
    fits(search.best.front());
    faults.add(of_first);
  } catch (const base::ScenarioError& error) {
    faults.add(at, error.what());
  }
}

}  // namespace simgrad::experiment
