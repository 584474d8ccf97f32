#include "planner/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/errors.h"
#include "base/say.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/language.h"
#include "cli/outcome.h"
#include "cli/report.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "experiment/run/children.h"
#include "experiment/run/results_directory.h"
#include "experiment/run/runner.h"
#include "outputs/report/page.h"
#include "outputs/text/language.h"
#include "plan_cli/plan_cli.h"
#include "planner/confirm.h"
#include "planner/sentences.h"

namespace simgrad::plan_cli {

namespace {

struct PlanCommand {
  cli::Chosen chosen;
  std::string out;
  std::string seconds;
  int jobs = 0;
  int threads = -1;
  bool json = false;
  bool quiet = false;
  bool force = false;
  bool no_confirm = false;
};

constexpr std::size_t plain_width = 140;

/// Says how far the search is: on a terminal in a line that is written again, elsewhere now and then.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

  void show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (quiet_ || text == last_ || now - at_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10)))
      return;
    if (terminal_)
      fmt::print(stderr, "\r\033[K{}", base::beginning(base::printable(text), 160));
    else
      base::say("simgrad: " + text);
    last_ = text;
    at_ = now;
    drawn_ = terminal_;
  }
  void clear() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
    drawn_ = false;
  }

 private:
  bool quiet_, terminal_, drawn_ = false;
  std::string last_;
  std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

/// --seconds; nothing: the file says it.
std::optional<double> seconds_of(const PlanCommand& command) {
  if (command.seconds.empty()) return {};
  try {
    const bool bare = command.seconds.find_first_not_of("0123456789.") == std::string::npos;
    const double value = base::parse_quantity(command.seconds + (bare ? "s" : ""), base::Unit::seconds);
    if (value > 0.0) return value;
    throw std::invalid_argument("expected more than 0");
  } catch (const std::invalid_argument& fault) {
    throw base::ScenarioError(fmt::format("--seconds {}: {}", command.seconds, fault.what()));
  }
}

/// Simulates the winner and its rivals in full, as long as there is time, and writes the results and the page.
void confirm(const PlanCommand& command, experiment::Plan plan, const planner::Answer& answer,
             const nlohmann::ordered_json& json, const std::function<bool()>& goes_on) {
  planner::add_confirmed(plan, answer);
  if (plan.runs.empty()) return;
  if (command.chosen.no_baseline) plan.baselines.clear();
  std::vector<std::string> words = cli::words_of(command.chosen);
  words.at(1) = "plan";
  plan.command = base::shell_line(words);
  std::unique_ptr<const experiment::ResultsDirectory> directory;
  outputs::Results results = experiment::run_plan(plan,
                                                  {.out = command.out,
                                                   .jobs = command.jobs,
                                                   .threads = command.threads,
                                                   .again = command.force,
                                                   .goes_on = goes_on},
                                                  directory);
  results.plan = json;
  if (!outputs::page().empty() && !results.runs.empty()) cli::write_page(results, command.out);
}

std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Writes plan.json, candidates.csv and the winner's scenario. Returns the document.
nlohmann::ordered_json write_files(const planner::Answer& answer, const std::string& out) {
  nlohmann::ordered_json json = planner::answer_json(answer);
  outputs::write_file(out + "/plan.json", text_of(json));
  outputs::write_file(out + "/candidates.csv", planner::candidates_csv(answer));
  if (!answer.winner) return json;
  const bool amount = answer.candidates.all[answer.winner->candidate].samples > 0.0;
  outputs::write_file(
      out + "/winner.toml",
      fmt::format("# {}\n{}{}\n", base::printable(planner::sentence(answer)),
                  amount ? fmt::format("# {}\n", outputs::tr("All of the goal is simulated; --set stop.samples=N "
                                                             "simulates the beginning."))
                         : "",
                  scenario::toml(planner::winner_scenario(answer, out))));
  return json;
}

/// Where the answer is kept, and how to run the winner.
std::string files_text(const planner::Answer& answer, const std::string& out) {
  if (!answer.winner) return outputs::tr("Plan: {}/plan.json, candidates.csv", base::printable(out));
  return outputs::tr("Plan: {}/plan.json, candidates.csv, winner.toml; simgrad run {} --no-baseline",
                     base::printable(out), base::shell_word(out + "/winner.toml"));
}

cli::Exit plan(PlanCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  experiment::watch_for_interrupts();
  const std::string& file = command.chosen.scenario;
  if (!command.chosen.selection.seeds.empty())
    throw base::ScenarioError(fmt::format(
        "--seeds {}: a plan chooses its seeds, from the scenario's on; expected --set plan.seeds=N, the most "
        "of them, or --set seed=N, the first",
        command.chosen.selection.seeds));
  const std::optional<double> given_s = seconds_of(command);
  const auto left_of = [&](const experiment::Settings& first) {
    return given_s.value_or(first.goal.real_s) -
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const experiment::SearchSpace space = experiment::make_search_space(
      file, command.chosen.selection,
      [&](const experiment::Settings& first) { return left_of(first) > 0.0 && !experiment::interrupted(); });
  const auto left_s = [&] { return left_of(*space.reads.front().settings); };
  const auto goes_on = [&] { return left_s() > 0.0 && !experiment::interrupted(); };
  planner::Candidates candidates = planner::candidates_of(space, command.chosen.selection.strategies, goes_on);
  if (command.out.empty()) command.out = cli::default_directory(space.name);
  const experiment::Plan none = planner::without_runs(space);
  auto directory = std::make_unique<const experiment::ResultsDirectory>(
      command.out, none, nlohmann::ordered_json(), command.force,
      [](const std::string& text) { base::say("simgrad: " + text); });
  ProgressLine line(command.quiet);
  const planner::Answer answer = planner::planned(space, std::move(candidates),
                                                  {.out = command.out,
                                                   .real_s = left_s(),
                                                   .jobs = command.jobs,
                                                   .threads = command.threads,
                                                   .again = command.force,
                                                   .progress = [&](const std::string& text) { line.show(text); }});
  line.clear();
  if (answer.effort.kept > 0 && !command.quiet)
    base::say(fmt::format(
        "simgrad: {} of {} simulations come from {}/simulations.jsonl, where an earlier command has left them; --force "
        "simulates them",
        answer.effort.kept, answer.effort.runs, command.out));
  const nlohmann::ordered_json json = write_files(answer, command.out);
  directory.reset();
  if (!command.no_confirm && answer.winner && !experiment::interrupted() && left_s() > 0.0)
    confirm(command, none, answer, json, goes_on);
  if (command.json)
    fmt::print("{}", text_of(json));
  else if (!command.quiet)
    fmt::print("{}{}\n", planner::answer_text(answer, cli::terminal_width().value_or(plain_width)),
               files_text(answer, command.out));
  return experiment::interrupted() ? cli::Exit::interrupted : cli::Exit::ok;
}

}  // namespace

void check_plan(const cli::Chosen& chosen, std::uintmax_t most_bytes) {
  const auto start = std::chrono::steady_clock::now();
  const auto passed_s = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  double limit_s = 0.0;
  const auto goes_on = [&] { return passed_s() < limit_s; };
  experiment::Selection selection = chosen.selection;
  selection.seeds.clear();  // of the runs; a plan has its own
  const experiment::SearchSpace space =
      experiment::make_search_space(chosen.scenario, selection, [&](const experiment::Settings& first) {
        limit_s = first.goal.real_s;
        return goes_on();
      });
  limit_s = space.reads.front().settings->goal.real_s;
  planner::candidates_of(space, selection.strategies, goes_on, most_bytes);
}

void add_plan(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("plan", cli::plan_summary);
  auto options = std::make_shared<PlanCommand>();
  cli::add_selection(*command, options->chosen);
  command->add_option("--out", options->out, "The directory of the results (default out/<scenario's name>)")
      ->type_name("DIR");
  command
      ->add_option("--seconds", options->seconds,
                   "Real time of the command (default plan.seconds, 60 s); no simulation begins after it, and the same "
                   "command goes on from there")
      ->type_name("TIME");
  cli::add_pace(*command, options->jobs, options->threads);
  command->add_flag("--json", options->json, "Prints plan.json and nothing else");
  command->add_flag("--quiet", options->quiet, "Prints neither answer nor progress");
  command->add_flag("--force", options->force, "Simulates everything again");
  command->add_flag("--no-confirm", options->no_confirm,
                    "Leaves out the full simulations of the winner and its rivals, and with them the page");
  cli::add_language(*command);
  command->callback([options, &exit_code] { exit_code = plan(*options); });
}

}  // namespace simgrad::plan_cli
