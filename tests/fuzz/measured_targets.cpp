/// Measurements: collectives whose times a run takes, transfers and steps to which `calibrate` fits a scenario.
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/computed/measured.h"
#include "experiment/calibration/measured_runs.h"
#include "experiment/calibration/network_fit.h"
#include "fuzz/targets.h"

namespace simgrad::fuzz {

namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0.0; }

}  // namespace

void read_measured(const std::string& bytes) {
  const std::string file = files().write("measured.txt", bytes);
  const bool says_ranks = !bytes.empty() && bytes.back() != ' ';
  const cluster::MeasuredCollectives times =
      cluster::read_measured(file, says_ranks ? std::optional<std::int64_t>(8) : std::nullopt);
  expect(!times.empty(), "accepted without a time");
  for (const auto which :
       {cluster::Measured::allreduce, cluster::Measured::reduce_scatter, cluster::Measured::all_gather})
    for (const int ranks : {2, 4, 5, 8, 16, 1000}) {
      if (!times.has(which)) continue;
      try {
        for (const double size : {8.0, 1000.0, 4096.0, 1e5, 1e9})
          expect(is_time(times.seconds(which, ranks, size)), "a time that is no number of seconds");
      } catch (const std::runtime_error& refusal) {  // one number of ranks was measured, and this is another
        expect(std::string(refusal.what()).starts_with("collectives.measured"), refusal.what());
      }
    }
}

void read_transfers(const std::string& bytes) {
  const std::string file = files().write("transfers.csv", bytes);
  const std::vector<experiment::Measured> all = experiment::read_measurements(file);
  for (const experiment::Measured& each : all) {
    expect(each.bytes >= 1.0 && each.bytes <= 1e18 && each.seconds >= 1e-12 && each.seconds <= 1e9,
           "a measurement outside of its bounds");
    expect(each.workers >= 2 && each.workers <= 1'000'000, "a collective of fewer than 2");
  }
  const experiment::NetworkFit fit = experiment::fit_network(all, file);
  expect(std::isfinite(fit.latency_s) && fit.latency_s >= 0.0, "a latency that is no time");
  expect(is_time(fit.link_bytes_per_s) && is_time(fit.flow_bytes_per_s.value_or(1.0)), "a rate that is none");
  expect(fit.flow_bytes_per_s.value_or(0.0) <= fit.link_bytes_per_s, "a flow has more than its link");
  expect(std::isfinite(fit.rms_relative_error) && fit.predicted_s.size() == all.size(), "no error of the fit");
}

void read_measured_runs(const std::string& bytes) {
  const std::string file = files().write("steps.csv", bytes);
  std::vector<std::string> columns;
  if (bytes.find("workers") != std::string::npos) columns.emplace_back("workers=cluster.workers");
  const experiment::MeasuredRuns runs = experiment::read_measured_runs(file, columns);
  expect(!runs.rows.empty(), "accepted without a row");
  std::int64_t line = 0;
  for (const experiment::MeasuredRun& run : runs.rows) {
    expect(is_time(run.step_s), "a step that takes no time");
    expect(run.line > line, "lines do not ascend");
    line = run.line;
    for (const std::string& set : run.sets) expect(set.find('=') != std::string::npos, "an option without a value");
  }
}

}  // namespace simgrad::fuzz
