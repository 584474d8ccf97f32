#include "cli/selection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "base/say.h"
#include "base/text.h"
#include "cli/scenarios.h"
#include "experiment/plan/kept_timelines.h"
#include "outputs/quantile_rows.h"
#include "outputs/text/text_layout.h"
#include "training/program.h"

namespace simgrad::cli {

void add_selection(CLI::App& command, Chosen& chosen, std::vector<std::string>* several) {
  if (several)
    command.add_option("scenario", *several, "The scenarios, TOML files")->required();
  else
    command.add_option("scenario", chosen.scenario, "The scenario, a TOML file")->required();
  command.add_option("--set", chosen.selection.sets, "Sets any key: --set cluster.workers=8 (repeatable)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command
      .add_option("--grid", chosen.selection.grids,
                  "All values of a key: --grid cluster.workers=1,2,4 (repeatable; product); also range(a,b,step), "
                  "logspace(a,b,n) and zip(KEY=...; KEY=...)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE,...");
  command.add_option("--seeds", chosen.selection.seeds, "Seeds: 1..5, or 1,3,7")->type_name("A..B");
  command
      .add_option("--strategy", chosen.selection.strategies, "Only this strategy, by label, else by kind (repeatable)")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("LABEL");
  command.add_flag("--no-baseline", chosen.no_baseline,
                   "Leaves out the one-worker runs that speed-ups are relative to");
}

void add_details(CLI::App& command, experiment::Selection& selection) {
  command.add_flag(
      "--all-ranks", selection.all_ranks,
      fmt::format("ranks.csv and links.csv have a row for each rank and link of every run, even beyond {} rows; "
                  "otherwise quantiles summarise them",
                  outputs::most_rows_in_full));
  command
      .add_option("--timelines", selection.timelines,
                  fmt::format("The number of cases (a strategy at a grid point) whose first seed keeps a timeline for "
                              "the report (default {}); all: every run keeps one",
                              experiment::most_timelines))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("N|all");
}

void add_pace(CLI::App& command, int& jobs, int& threads) {
  command.add_option("--jobs", jobs, "Runs at a time (default: all cores)")->check(CLI::Range(1, 4096))->type_name("N");
  command
      .add_option("--threads", threads,
                  "Threads for the numbers of one run, and for making large data (default: cores / jobs; 0: inline)")
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
}

std::vector<std::string> words_of(const Chosen& chosen) {
  std::vector<std::string> words{"simgrad", "run", chosen.scenario};
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  for (const std::string& each : chosen.selection.sets) add("--set", each);
  for (const std::string& each : chosen.selection.grids) add("--grid", each);
  if (!chosen.selection.seeds.empty()) add("--seeds", chosen.selection.seeds);
  for (const std::string& each : chosen.selection.strategies) add("--strategy", each);
  if (chosen.no_baseline) words.emplace_back("--no-baseline");
  if (chosen.selection.all_ranks) words.emplace_back("--all-ranks");
  if (!chosen.selection.timelines.empty()) add("--timelines", chosen.selection.timelines);
  return words;
}

std::string command_of(const Chosen& chosen) { return base::shell_line(words_of(chosen)); }

std::string command_of(const experiment::Origin& origin) {
  return command_of(
      Chosen{.scenario = origin.file, .selection = origin.selection, .no_baseline = !origin.selection.baselines});
}

std::string command_in_file(const std::string& text) {
  const auto words = base::words_of_shell_line(text);
  if (!words || words->size() < 3 || words->at(0) != "simgrad" || (words->at(1) != "run" && words->at(1) != "plan"))
    return {};
  if (base::printable_lines(text) != text || outputs::printable(text) != text) return {};
  Chosen chosen;
  CLI::App app;
  add_selection(app, chosen);
  add_details(app, chosen.selection);
  try {
    app.parse(std::vector<std::string>(words->rbegin(), words->rend() - 2));
  } catch (const CLI::Error&) {
    return {};
  }
  std::vector<std::string> again = words_of(chosen);
  again.at(1) = words->at(1);
  return again == *words ? base::shell_line(again) : std::string();
}

experiment::Plan plan_of(Chosen& chosen) {
  chosen.selection.baselines = !chosen.no_baseline;
  experiment::Plan plan = experiment::make_plan(chosen.scenario, chosen.selection);
  plan.command = command_of(chosen);
  return plan;
}

std::vector<experiment::Plan> plans_of(const Chosen& chosen, const std::vector<std::string>& files, Exit& exit) {
  Chosen one = chosen;
  one.selection.baselines = !one.no_baseline;
  std::vector<ReadScenario> read = read_scenarios(files, one.selection);
  std::vector<experiment::Plan> plans;
  for (ReadScenario& each : read) {
    if (!each.plan) {
      exit = worst(exit, each.exit);
      continue;
    }
    one.scenario = each.file;
    each.plan->command = command_of(one);
  }
  if (exit != Exit::ok) return {};
  refuse_equal_names(read, "their directories", "take");
  for (ReadScenario& each : read) plans.push_back(std::move(*each.plan));
  return plans;
}

void print_warnings(const experiment::Plan& plan) {
  std::set<std::string> said;
  const auto say = [&](const experiment::RunPlan& run, const char* what, const std::string& text) {
    if (!text.empty() && said.insert(run.label + text).second)
      base::say(fmt::format("simgrad: {}: {}: {}", what, run.label, text));
  };
  for (const auto& run : plan.runs) {
    if (const std::string& text = run.settings->parallel.found; !text.empty() && said.insert(text).second)
      base::say(fmt::format("simgrad: note: {}", text));
    for (const std::string& text : run.strategy->warnings(run.workers, run.seed)) say(run, "warning", text);
    if (const auto steps = run.settings->stop.steps)
      say(run, "note", training::about_steps(run.strategy->traits(static_cast<int>(run.workers)), *steps));
  }
}

std::string run_line(const experiment::RunPlan& run) {
  std::string parameters;
  for (const auto& [key, value] : run.parameters.items())
    if (key != "seed")  // which ends the line
      parameters += fmt::format("  {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
  return fmt::format("{}{}  seed={}", outputs::printable(run.label), outputs::printable(parameters), run.seed);
}

std::string runs_text(const experiment::Plan& plan) {
  std::string text;
  for (const auto* list : {&plan.baselines, &plan.runs})
    for (const experiment::RunPlan& run : *list) text += fmt::format("{}  {}\n", run.id, run_line(run));
  return text;
}

}  // namespace simgrad::cli
