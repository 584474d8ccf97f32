/// Files of failures, of speeds and of platforms.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/child_process.h"
#include "base/random.h"
#include "cluster/failures/fault_trace.h"
#include "cluster/failures/processes.h"
#include "cluster/stragglers/speed_file.h"
#include "experiment/plan/plan.h"
#include "experiment/run/simulate.h"
#include "fuzz/targets.h"
#include "scratch.h"

namespace simgrad::fuzz {

namespace {

/// The first outages of some hosts.
void check_faults(const cluster::FaultTrace& trace) {
  expect(trace.down_share() >= 0.0 && trace.down_share() <= 1.0, "more servers are down than there are");
  constexpr int some = 20;
  for (int host = 0; host < some; ++host) {
    double free_s = 0.0;
    for (std::int64_t count = 0; count < some; ++count) {
      const auto outage = trace.outage(host, count, 1);
      if (!outage) break;
      const double slack_s = 1e-6 * (1.0 + free_s);  // dates are differences of large numbers
      expect(std::isfinite(outage->down_s) && outage->down_s >= free_s - slack_s, "faults of a server overlap");
      expect(std::isfinite(*outage->up_s) && *outage->up_s >= outage->down_s - slack_s, "a repair before its fault");
      free_s = *outage->up_s;
    }
  }
}

/// The names of the files in the directory of this one.
std::set<std::string> names_beside(const std::string& file) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(file).parent_path()))
    names.insert(entry.path().filename());
  return names;
}

}  // namespace

void read_failures(const std::string& bytes) {
  const std::string file = files().write("failures.csv", bytes);
  if (cluster::has_faults(file)) return check_faults(cluster::FaultTrace(file, {.servers = 5, .days = 30.0}));
  for (const auto& host : cluster::read_outages(file)) {
    double free_s = 0.0;
    for (const cluster::Outage& outage : host) {
      expect(std::isfinite(outage.down_s) && outage.down_s >= free_s, "failures of a host overlap");
      expect(!outage.up_s || (std::isfinite(*outage.up_s) && *outage.up_s >= outage.down_s),
             "a repair before its failure");
      free_s = outage.up_s.value_or(outage.down_s);
    }
  }
}

void read_speeds(const std::string& bytes) {
  const cluster::SpeedFile file = cluster::read_speed_file(files().write("speeds.txt", bytes));
  constexpr int some = 100;
  for (const int worker : {0, 1, 2}) {
    const auto changes = file.of_rank(worker);
    if (!changes) continue;
    double last_s = -1.0;
    for (int i = 0; i < some; ++i) {
      const auto change = changes->next();
      if (!change) break;
      expect(std::isfinite(change->at_s) && change->at_s > last_s, "dates of a host do not ascend");
      expect(std::isfinite(change->factor) && change->factor >= 0.0, "a factor that is no part of a speed");
      last_s = change->at_s;
    }
  }
}

void read_platform(const std::string& bytes) {
  // Inputs ask SimGrid to write to this file, and to others beside it.
  const std::string victim = files().write("victim", "precious");
  std::string text = bytes;
  constexpr std::string_view placeholder = "VICTIM";
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos; at += victim.size())
    text.replace(at, placeholder.size(), victim);
  files().write("platform.xml", text);
  const std::string scenario = files().write("on_platform.toml", R"(
[cluster]
workers = 2
platform = "platform.xml"
[data]
samples = 100
[model]
kind = "least_squares"
[training]
numbers = false
[stop]
steps = 2
[[strategy]]
kind = "allreduce"
)");
  const std::set<std::string> before = names_beside(scenario);
  // Refused or not, it has changed nothing.
  const auto expect_unchanged = [&] {
    expect(names_beside(scenario) == before && tests::contents(victim) == "precious", "a platform has changed files");
  };
  const experiment::Plan plan = [&] {
    try {
      return experiment::make_plan(scenario, {.baselines = false});
    } catch (...) {
      expect_unchanged();
      throw;
    }
  }();
  // A platform that passes the check is simulated, too; it may be so slow that the watchdog ends the run.
  const base::ChildEnd end =
      base::run_in_child([&] { return experiment::simulate(plan.runs.front(), nullptr, 0, nullptr).error; });
  const bool slow = end.text.find("given up: simulated time") != std::string::npos;
  expect(end.kind == base::ChildEnd::Kind::returned && (end.text.empty() || slow),
         fmt::format("accepted, but the run fails: {} {}", end.death, end.text));
  expect_unchanged();
}

}  // namespace simgrad::fuzz
