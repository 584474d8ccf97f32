#include "cli/sharding.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/errors.h"
#include "base/say.h"
#include "base/text.h"
#include "cli/outcome.h"
#include "outputs/text/language.h"

namespace simgrad::cli {

namespace {

using outputs::tr;

using experiment::Shard;

constexpr std::string_view all_runs = "all";

/// The variable's value; empty without it.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The number in a variable; `without` it, if there is none.
long number_in(const char* name, long without) {
  const std::string value = variable(name);
  if (value.empty()) return without;
  long number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  constexpr long most = 1'000'000'000;
  if (error != std::errc() || end != value.data() + value.size() || number < 0 || number > most)
    throw base::ScenarioError(
        fmt::format("{}={}: found no number, expected one from 0 to {}; --shard i/n or --shard {} "
                    "does without the variable",
                    name, value, most, all_runs));
  return number;
}

Shard counted(long index, long count, const std::string& name) {
  return experiment::parse_shard(fmt::format("{}/{}", index, count), name);
}

/// The task of an array job. Its numbers may begin anywhere, in steps. Some tasks of an array that is submitted again
/// have a count of their own, from which their parts do not follow.
Shard task_of_array() {
  const long id = number_in("SLURM_ARRAY_TASK_ID", 0), count = number_in("SLURM_ARRAY_TASK_COUNT", 0);
  const long least = number_in("SLURM_ARRAY_TASK_MIN", 1), step = std::max(1L, number_in("SLURM_ARRAY_TASK_STEP", 1));
  const long most = number_in("SLURM_ARRAY_TASK_MAX", least + (count - 1) * step);
  const bool whole = count > 1 && most == least + (count - 1) * step;
  if (!whole || id < least || id > most || (id - least) % step != 0)
    throw base::ScenarioError(fmt::format(
        "SLURM_ARRAY_TASK_ID={}: found a task of {} from {} to {} in steps of {}, expected a whole array of several "
        "tasks; give --shard i/n, or --shard {} for all runs",
        id, count, least, most, step, all_runs));
  return counted((id - least) / step + 1, count, "SLURM_ARRAY_TASK_ID");
}

/// The shard of the environment and the variable that has it.
std::optional<std::pair<Shard, std::string>> shard_of_environment() {
  if (const std::string shard = variable("SIMGRAD_SHARD"); !shard.empty()) {
    if (shard == all_runs) return {};
    return std::pair{experiment::parse_shard(shard, "SIMGRAD_SHARD"), "SIMGRAD_SHARD"};
  }
  if (!variable("SLURM_ARRAY_TASK_ID").empty() && !variable("SLURM_ARRAY_TASK_COUNT").empty())
    return std::pair{task_of_array(), "SLURM_ARRAY_TASK_ID"};
  if (!variable("JOB_COMPLETION_INDEX").empty() && !variable("SIMGRAD_SHARDS").empty())
    return std::pair{
        counted(number_in("JOB_COMPLETION_INDEX", 0) + 1, number_in("SIMGRAD_SHARDS", 0), "JOB_COMPLETION_INDEX"),
        "JOB_COMPLETION_INDEX"};
  return {};
}

/// Tells of a task's number without the number of tasks.
void tell_of_half_a_shard() {
  constexpr std::array<std::array<const char*, 3>, 2> pairs{
      {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "give --shard i/n"},
       {"JOB_COMPLETION_INDEX", "SIMGRAD_SHARDS", "set SIMGRAD_SHARDS to the number of completions"}}};
  for (const auto& [index, count, remedy] : pairs)
    if (!variable(index).empty() && variable(count).empty())
      base::say(fmt::format("simgrad: {} is set and {} is not, so that this process does all runs; {} to share them",
                            index, count, remedy));
}

}  // namespace

std::optional<Shard> chosen_shard(const std::string& option, bool quiet) {
  if (option == all_runs) return {};
  if (!option.empty()) return experiment::parse_shard(option, "--shard");
  const auto found = shard_of_environment();
  if (!found && !quiet && variable("SIMGRAD_SHARD").empty()) tell_of_half_a_shard();
  if (!found) return {};
  if (!quiet)
    base::say(fmt::format("simgrad: this is shard {} of {}, by {}; --shard {} does all runs", found->first.index,
                          found->first.count, found->second, all_runs));
  return found->first;
}

Exit do_shard(const experiment::Plan& plan, const Shard& shard, const experiment::Origin& origin,
              const std::string& out, experiment::RunnerOptions options, bool quiet) {
  options.out = experiment::shard_directory(out, shard);
  const experiment::ShardOutcome outcome = experiment::run_shard(plan, shard, origin, options);
  print_errors(outcome.failed);
  if (!quiet) {
    const std::string directory = base::shell_word(out);
    const std::string part = outcome.all == 0 ? tr("there are fewer runs than shards, so it has nothing to do")
                                              : tr("{} of {} runs are finished", outcome.finished, outcome.all);
    fmt::print("{}\n{}\n", tr("Shard {}: {}, in {}.", text(shard), part, base::printable(options.out)),
               tr("When all are: simgrad merge {}/shard-*-of-{} --out {}", directory, shard.count, directory));
  }
  if (outcome.finished < outcome.all) {
    base::say(fmt::format("simgrad: interrupted; the finished runs are in {}", options.out));
    return Exit::interrupted;
  }
  return outcome.failed.empty() ? Exit::ok : Exit::some_runs_failed;
}

}  // namespace simgrad::cli
