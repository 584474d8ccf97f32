#include "cli/explain_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "experiment/plan/automatic_layout.h"
#include "outputs/text/number_text.h"

namespace simgrad::cli {

namespace {

using strategies::LayoutSearch;
using strategies::Parallel;
using strategies::PredictedLayout;

constexpr std::size_t shown_most = 20;

bool same(const Parallel& a, const Parallel& b) {
  return a.tensor == b.tensor && a.pipeline == b.pipeline && a.context == b.context && a.expert == b.expert &&
         a.micro_batch_count() == b.micro_batch_count();
}

void print_line(std::string_view tensor, std::string_view pipeline, std::string_view context, std::string_view expert,
                std::string_view data, std::string_view micro_batches, const std::vector<std::string>& times,
                std::string_view memory, std::string_view stages) {
  fmt::print("{:>6}  {:>8}  {:>7}  {:>6}  {:>5}  {:>13}", tensor, pipeline, context, expert, data, micro_batches);
  for (const std::string& time : times) fmt::print("  {:>9}", time);
  fmt::print("  {:>8}  {}\n", memory, stages);
}

void print(const PredictedLayout& its) {
  const Parallel& p = its.parallel;
  const auto text = [](std::int64_t number) { return fmt::format("{}", number); };
  std::vector<std::string> times;
  for (const double seconds : {its.step_s, its.computing_s, its.exchanges_s, its.waiting_s, its.sums_s, its.update_s})
    times.push_back(outputs::duration(seconds));
  print_line(text(p.tensor), text(p.pipeline), text(p.context), text(p.expert), text(its.data),
             text(p.micro_batch_count()), times, outputs::byte_count(its.memory_bytes),
             p.stages.empty() ? "-" : experiment::units_text(p.stages));
}

}  // namespace

void print_layouts(const experiment::RunPlan& run) {
  const experiment::Settings& settings = *run.settings;
  const Parallel& own = settings.parallel;
  const auto free = own.automatic ? experiment::free_options(settings) : strategies::FreeOptions();
  experiment::Settings searched = settings;
  if (!own.automatic) searched.parallel.data.reset(), searched.parallel.stages.clear();
  const LayoutSearch search = experiment::best_layouts(searched, free, shown_most);
  fmt::print("{} layout{} of {} on {} workers {} predicted, for strategy {}; times of a step\n\n", search.predicted,
             search.predicted == 1 ? "" : "s",
             settings.model.proxied() ? settings.model.timed_as.kind() : settings.model.model.kind(),
             settings.cluster.workers, search.predicted == 1 ? "is" : "are", settings.strategies.front().name());
  print_line("tensor", "pipeline", "context", "expert", "data", "micro_batches",
             {"step", "computing", "exchanges", "waiting", "sums", "update"}, "memory", "units of stages");
  for (const PredictedLayout& layout : search.best) print(layout);
  if (search.best.empty()) fmt::print("none of them fits\n");
  fmt::print(
      "\ncomputing and exchanges: of the stage with most of both; waiting: for other stages, hops included; sums: of "
      "gradients behind the passes; memory: of the rank that needs the largest part of its device\n");
  for (const auto& [reason, count] : search.refused)
    fmt::print("not possible: {}: {} layout{}\n", reason, count, count == 1 ? "" : "s");
  if (own.automatic || !own.cuts()) return;
  const auto at =
      std::ranges::find_if(search.best, [&](const PredictedLayout& its) { return same(its.parallel, own); });
  fmt::print("the scenario's own sizes {}\n", at == search.best.end()
                                                  ? "are not among them"
                                                  : fmt::format("are number {} of them", at - search.best.begin() + 1));
}

}  // namespace simgrad::cli
