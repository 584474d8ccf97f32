#include "experiment/run/merge.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/say.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/outcome.h"
#include "cli/report.h"
#include "cli/selection.h"
#include "experiment/run/counterfactuals.h"
#include "outputs/files/sqlite.h"
#include "outputs/report/page.h"

namespace simgrad::cli {

namespace {

struct MergeCommand {
  std::vector<std::string> directories;
  std::string out;
  int jobs = 0;
  int threads = -1;
  bool force = false;
  bool no_why = false;
  bool quiet = false;
  bool sqlite = false;
};

Exit merge_shards(MergeCommand& command) {
  const auto tell = [&](const std::string& text) {
    if (!command.quiet && !text.empty()) base::say("simgrad: " + text);
  };
  const auto shards = experiment::shards_in(command.directories);
  experiment::Plan plan = experiment::plan_again(shards);
  plan.command = command_of(shards.front().origin);
  if (command.out.empty()) command.out = default_directory(plan.name);
  if (!command.no_why) tell(experiment::too_large_for_counterfactuals(plan));
  std::unique_ptr<const experiment::ResultsDirectory> directory;  // held until its last file is written
  const outputs::Results results = experiment::merge(plan, shards,
                                                     {.out = command.out,
                                                      .jobs = command.jobs,
                                                      .threads = command.threads,
                                                      .again = command.force,
                                                      .counterfactuals = !command.no_why,
                                                      .tell = tell},
                                                     directory);
  if (!results.complete) {
    base::say("simgrad: interrupted before anything was written");
    return Exit::interrupted;
  }
  const bool has_page = !outputs::page().empty();
  if (has_page) write_page(results, command.out);
  if (command.sqlite) outputs::write_sqlite(results, command.out + "/results.sqlite");
  directory.reset();
  print_errors(results.baselines);
  print_errors(results.runs);
  if (!has_page) tell(std::string(no_page));
  std::set<int> parts;
  for (const auto& shard : shards) parts.insert(shard.shard.index);
  if (!command.quiet)
    fmt::print("{}\n{}\n",
               outputs::tr("{} from {}.", outputs::counted(results.runs.size(), "{} run", "{} runs"),
                           outputs::counted(parts.size(), "{} shard", "{} shards")),
               results_line(command.out, command.sqlite, has_page));
  return exit_of(results);
}

}  // namespace

void add_merge(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("merge", "Combines the shards of an experiment: the files of the unsharded run");
  auto options = std::make_shared<MergeCommand>();
  command
      ->add_option("directories", options->directories,
                   "The directories of all shards: out/NAME/shard-*-of-8, or the directory that they are in: out/NAME")
      ->required()
      ->type_name("DIR");
  command->add_option("--out", options->out, "The directory of the results (default out/<scenario's name>)")
      ->type_name("DIR");
  command->add_flag("--force", options->force, "Replaces the results of another experiment instead of keeping them");
  add_pace(*command, options->jobs, options->threads);
  command->add_flag("--no-why", options->no_why, "Does not try what would make the runs faster; see run");
  command->add_flag("--sqlite", options->sqlite,
                    "Also writes results.sqlite, a database with the tables of the CSV files");
  command->add_flag("--quiet", options->quiet, "Prints errors only");
  add_language(*command);
  command->callback([options, &exit_code] { exit_code = merge_shards(*options); });
}

}  // namespace simgrad::cli
