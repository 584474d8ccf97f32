#include "cli/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/errors.h"
#include "base/hash.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/language.h"
#include "cli/selection.h"
#include "experiment/run/origin.h"
#include "outputs/files/sqlite.h"
#include "outputs/paper/latex.h"
#include "outputs/paper/methods.h"
#include "outputs/report/charts/plan.h"
#include "outputs/report/files.h"
#include "outputs/report/page.h"
#include "outputs/results_digest.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"
#include "scenario/document.h"

namespace simgrad::cli {

namespace {

struct ReportCommand {
  std::string directory;
  std::string out;
  std::string page;
  bool sqlite = false;
  std::optional<std::string> latex;  ///< the file; empty: DIR/summary.tex
  bool methods = false;
};

/// Reads the page's template before anything else.
void check_template(const std::string& file, std::string_view page) {
  try {
    outputs::report::filled(page, {});
  } catch (const base::EnvironmentError& fault) {
    throw base::EnvironmentError(fmt::format("{}: {}", file, fault.what()));
  }
}

/// The command that merges the shards of a directory.
std::string merge_command(const std::filesystem::path& out, int shards) {
  const std::string directory = base::shell_word(out.empty() ? "." : out.string());
  return fmt::format("simgrad merge {0}/shard-*-of-{1} --out {0}", directory, shards);
}

/// Refuses a shard, and a directory of shards, whose results are not there before they are merged.
void refuse_unmerged(const std::string& directory) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  fs::path path = (fs::path(directory) / "").lexically_normal().parent_path();
  if (path.empty()) path = ".";
  if (fs::exists(path / "results.json", unknown)) return;
  for (fs::directory_iterator at(path, unknown), end; !unknown && at != end; at.increment(unknown))
    if (const auto shard = experiment::shard_at(at->path().string()))
      throw base::EnvironmentError(
          fmt::format("{}: has shards of an experiment, and results only when all of them are merged: {}", directory,
                      merge_command(path, shard->count)));
  if (const auto shard = experiment::shard_at(path.string()))
    throw base::EnvironmentError(
        fmt::format("{}: is shard {} of an experiment, and has no results by itself; merge all shards: {}", directory,
                    text(*shard), merge_command(path == "." ? ".." : path.parent_path(), shard->count)));
}

/// The command of results that were read, for the page's reader to copy.
std::string sound_command(const std::string& command, const std::string& directory) {
  std::string sound = command_in_file(command);
  if (sound.empty() && !command.empty())
    base::say(fmt::format(
        "simgrad: the command in {}/results.json is none that simgrad writes; it is left out of the page", directory));
  return sound;
}

std::string page_file(const std::string& directory) {
  return (std::filesystem::path(directory) / "report.html").string();
}

/// renew: outputs::renew_file, or renew_named_file.
template <class Renew>
void write_page_to(Renew renew, const std::string& file, const outputs::Results& results, const std::string& directory,
                   std::string_view page) {
  const outputs::report::Foot foot{.scenario_toml = scenario::toml(results.scenario), .command = results.command};
  const std::string plan = results.plan.is_null() ? "" : base::hash(outputs::report::plan_data(results.plan));
  const std::string made_of =
      base::hash(fmt::format("{} {} {} {} {}", outputs::digest(results), outputs::name(outputs::language()),
                             outputs::report::state_of_timelines(directory, results), base::hash(page), plan));
  renew(file, made_of, [&](const outputs::Sink& sink) {
    const std::string data = outputs::report::data(results, outputs::report::timelines_in(directory), foot);
    sink(outputs::report::filled(page, data));
  });
}

void write_report(ReportCommand& options) {
  refuse_unmerged(options.directory);
  const bool other = !options.page.empty();
  if (!other && outputs::page().empty()) throw base::EnvironmentError(fmt::format("simgrad: {}", no_page));
  const std::string own = other ? outputs::read_file(options.page) : std::string();
  const std::string_view page = other ? own : outputs::page();
  if (other) check_template(options.page, own);
  outputs::Results results = outputs::report::read_results(options.directory);
  results.command = sound_command(results.command, options.directory);
  if (options.sqlite)
    outputs::write_sqlite(results, (std::filesystem::path(options.directory) / "results.sqlite").string());
  const bool named = !options.out.empty();
  if (!named) options.out = page_file(options.directory);
  write_page_to(named ? outputs::renew_named_file : outputs::renew_file, options.out, results, options.directory, page);
  fmt::print("{}\n", base::printable(options.out));
}

/// Writes the tables for a paper, or prints the paragraph on the method.
void write_for_paper(const ReportCommand& options) {
  refuse_unmerged(options.directory);
  outputs::Results results = outputs::report::read_results(options.directory);
  results.command = sound_command(results.command, options.directory);
  if (options.methods) fmt::print("{}", outputs::wrapped(outputs::paper::methods(results), 100));
  if (!options.latex) return;
  const bool named = !options.latex->empty();
  const std::string file = named ? *options.latex : (std::filesystem::path(options.directory) / "summary.tex").string();
  const std::string text = outputs::paper::latex(results);
  if (named)
    outputs::write_named_file(file, text);
  else
    outputs::write_file(file, text);
  fmt::print("{}\n", base::printable(file));
}

}  // namespace

void write_page(const outputs::Results& results, const std::string& directory) {
  write_page_to(outputs::renew_file, page_file(directory), results, directory, outputs::page());
}

void add_report(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("report", "Writes report.html, a self-contained page, from results");
  auto options = std::make_shared<ReportCommand>();
  command->add_option("directory", options->directory, "The directory of the results: out/<scenario's name>")
      ->required()
      ->type_name("DIR");
  command->add_option("--out", options->out, "The page's file (default DIR/report.html)")->type_name("FILE");
  command->add_option("--template", options->page, "A page of your own, with @simgrad-data@ in the place of the data")
      ->type_name("FILE");
  command->add_flag("--sqlite", options->sqlite,
                    "Also writes DIR/results.sqlite, a database with the tables of the CSV files");
  add_language(*command);
  command
      ->add_option("--latex", options->latex,
                   "Writes tables for a paper instead of the page, for LaTeX with booktabs (default DIR/summary.tex)")
      ->expected(0, 1)
      ->type_name("FILE");
  command->add_flag("--methods", options->methods,
                    "Prints a paragraph for a paper instead: what was simulated, and what is not modelled");
  for (const char* paper : {"--latex", "--methods"})
    for (const char* page : {"--out", "--template", "--sqlite", "--language"})
      command->get_option(paper)->excludes(command->get_option(page));
  command->callback([options, latex = command->get_option("--latex"), &exit_code] {
    if (latex->count() > 0 && !options->latex) options->latex = "";
    if (options->latex || options->methods) {
      outputs::speak(outputs::Language::english);  // whatever the environment says
      write_for_paper(*options);
    } else {
      write_report(*options);
    }
    exit_code = Exit::ok;
  });
}

}  // namespace simgrad::cli
