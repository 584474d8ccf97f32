#include "cli/check_tally.h"

#include <fmt/format.h>

#include <string_view>

namespace simgrad::cli {

namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string text(const Tally& tally) {
  std::string all = fmt::format("{}: {} ok, {} failed", counted(tally.scenarios, "scenario"),
                                counted(tally.held, "expectation"), tally.failed);
  if (tally.vacuous > 0) all += fmt::format(", {} vacuous", tally.vacuous);
  if (tally.untested > 0) all += fmt::format(", {} untested", tally.untested);
  if (tally.failed_runs > 0) all += fmt::format("; {} of {} runs failed", tally.failed_runs, tally.runs);
  if (tally.without_expectations > 0)
    all += fmt::format("; {} without [[expect]], so not tested", counted(tally.without_expectations, "scenario"));
  if (tally.broken > 0) all += fmt::format("; {} could not be run", counted(tally.broken, "scenario"));
  return all;
}

}  // namespace simgrad::cli
