#include "cli/explain_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "experiment/plan/automatic_layout.h"
#include "experiment/plan/search_space.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

namespace {

using outputs::counted;
using outputs::tr;
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
  std::string line;
  const auto add = [&](std::string_view cell, std::size_t width) {
    line += outputs::padded(cell, width, outputs::Align::right) + "  ";
  };
  add(tensor, 6), add(pipeline, 8), add(context, 7), add(expert, 6), add(data, 5), add(micro_batches, 13);
  for (const std::string& time : times) add(time, 9);
  add(memory, 8);
  fmt::print("{}{}\n", line, stages);
}

void print(const PredictedLayout& layout) {
  const Parallel& p = layout.parallel;
  const auto text = [](std::int64_t number) { return fmt::format("{}", number); };
  std::vector<std::string> times;
  for (const double seconds :
       {layout.step_s, layout.computing_s, layout.exchanges_s, layout.waiting_s, layout.sums_s, layout.update_s})
    times.push_back(outputs::duration(seconds));
  print_line(text(p.tensor), text(p.pipeline), text(p.context), text(p.expert), text(layout.data),
             text(p.micro_batch_count()), times, outputs::byte_count(layout.memory_bytes),
             p.stages.empty() ? "-" : experiment::units_text(p.stages));
}

/// Whether layouts can be looked at in spite of the fault: the scenario's own ones are too large.
bool is_about_memory(const std::string& fault) {
  return fault.find("but its device has") != std::string::npos || fault.starts_with("no layout is possible");
}

/// The first point of the scenario. Its faults, if any, are about memory.
experiment::PointRead first_point(const std::string& scenario, const std::vector<std::string>& sets) {
  const experiment::SearchSpace space =
      experiment::make_search_space(scenario, {.sets = sets}, [](const experiment::Settings&) { return false; });
  const experiment::PointRead& read = space.reads.front();
  scenario::Faults others;
  for (const scenario::Faults::Fault& fault : read.faults.all())
    if (!is_about_memory(fault.message)) others.add(fault.position, fault.message);
  others.raise_if_any();
  return read;
}

/// The fault in the language of the process, without the advice behind its first semicolon. The kind of a strategy may
/// stand before it: "allreduce: a worker needs".
std::string without_advice(const std::string& fault) {
  const std::size_t colon = fault.find(": ");
  const bool of_strategy = colon != std::string::npos && fault.find(' ') == colon + 1;
  const std::size_t begin = of_strategy ? colon + 2 : 0;
  const std::string text = fault.substr(0, begin) + outputs::translated(fault.substr(begin));
  const std::size_t end = text.find("; ");
  return text.substr(0, outputs::language() == outputs::Language::english ? end : std::min(end, text.find("；")));
}

/// Says why the scenario's own layout cannot be run, or where it stands among the others.
void print_place_of_own(const experiment::PointRead& read, const LayoutSearch& search) {
  const Parallel& own = read.settings->parallel;
  if (!read.faults.empty()) {
    const std::string why = without_advice(read.faults.all().front().message);
    fmt::print("{}\n", own.automatic ? tr("automatic takes none of them: {}", why)
                                     : tr("the scenario's own layout does not fit: {}", why));
    return;
  }
  if (own.automatic || !own.cuts()) return;
  const auto at =
      std::ranges::find_if(search.best, [&](const PredictedLayout& layout) { return same(layout.parallel, own); });
  fmt::print("{}\n", at == search.best.end()
                         ? tr("the scenario's own sizes are not among them")
                         : tr("the scenario's own sizes are number {} of them", at - search.best.begin() + 1));
}

std::string heading(const experiment::Settings& settings, std::int64_t predicted) {
  const std::string_view model =
      settings.model.proxied() ? settings.model.timed_as.kind() : settings.model.model.kind();
  const std::string strategy = settings.strategies.front().name();
  return predicted == 1 ? tr("{} layout of {} on {} workers is predicted, for strategy {}; times of a step", predicted,
                             model, settings.cluster.workers, strategy)
                        : tr("{} layouts of {} on {} workers are predicted, for strategy {}; times of a step",
                             predicted, model, settings.cluster.workers, strategy);
}

}  // namespace

void print_layouts(const std::string& scenario, const std::vector<std::string>& sets) {
  const experiment::PointRead read = first_point(scenario, sets);
  const experiment::Settings& settings = *read.settings;
  const Parallel& own = settings.parallel;
  const auto free = own.automatic ? experiment::free_options(settings) : strategies::FreeOptions();
  experiment::Settings searched = settings;
  if (!own.automatic) searched.parallel.data.reset(), searched.parallel.stages.clear();
  const LayoutSearch search = experiment::best_layouts(searched, free, shown_most);
  fmt::print("{}\n\n", heading(settings, search.predicted));
  print_line("tensor", "pipeline", "context", "expert", "data", "micro_batches",
             {tr("step"), tr("computing"), tr("exchanges"), tr("waiting"), tr("sums"), tr("update")}, tr("memory"),
             tr("units of stages"));
  for (const PredictedLayout& layout : search.best) print(layout);
  if (search.best.empty()) fmt::print("{}\n", tr("none of them fits"));
  fmt::print(
      "\n{}\n",
      tr("computing and exchanges: of the stage with most of both; waiting: for other stages, hops included; sums: of "
         "gradients after the passes; memory: of the rank that needs the largest part of its device"));
  for (const auto& [reason, count] : search.refused)
    fmt::print("{}\n", tr("not possible: {}: {}", outputs::translated(reason),
                          counted(static_cast<std::size_t>(count), "{} layout", "{} layouts")));
  print_place_of_own(read, search);
}

}  // namespace simgrad::cli
