#include "cli/calibrate_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/errors.h"
#include "experiment/calibration/fit_runs.h"
#include "outputs/text/number_text.h"

namespace simgrad::cli {

namespace {

using experiment::Fit;
using experiment::FittedOption;
using experiment::MeasuredRun;
using experiment::MeasuredRuns;

constexpr double misfit = 0.2;

/// Relative errors of some rows.
struct Errors {
  std::vector<double> fitted;
  std::vector<double> out_of_sample;
};

double median_size(std::vector<double> errors) {
  for (double& error : errors) error = std::abs(error);
  std::ranges::sort(errors);
  const std::size_t n = errors.size();
  return n % 2 == 1 ? errors[n / 2] : 0.5 * (errors[n / 2 - 1] + errors[n / 2]);
}

double worst(const std::vector<double>& errors) {
  return *std::ranges::max_element(errors, {}, [](double error) { return std::abs(error); });
}

void print_rows(const MeasuredRuns& measured, const Fit& fit) {
  fmt::print("# {:>6}  {:<16}  {:>10}  {:>10}  {:>8}  {:>13}\n", "line", "family", "measured", "fitted", "error",
             "out of sample");
  for (std::size_t i = 0; i < measured.rows.size(); ++i) {
    const MeasuredRun& row = measured.rows[i];
    std::string outside = "-";
    if (!fit.out_of_sample.empty() && fit.out_of_sample[i])
      outside = fmt::format("{:+.1f}%", 100.0 * (*fit.out_of_sample[i] / row.step_s - 1.0));
    fmt::print("# {:>6}  {:<16}  {:>10}  {:>10}  {:>+7.1f}%  {:>13}\n", row.line, row.family,
               outputs::duration(row.step_s), outputs::duration(fit.predicted[i]),
               100.0 * (fit.predicted[i] / row.step_s - 1.0), outside);
  }
}

void print_errors_of(const std::string& name, const Errors& errors) {
  fmt::print("# {}: {} row{}, median error {:.1f}%, worst {:+.1f}%", name, errors.fitted.size(),
             errors.fitted.size() == 1 ? "" : "s", 100.0 * median_size(errors.fitted), 100.0 * worst(errors.fitted));
  if (!errors.out_of_sample.empty())
    fmt::print("; out of sample median {:.1f}%, worst {:+.1f}%", 100.0 * median_size(errors.out_of_sample),
               100.0 * worst(errors.out_of_sample));
  fmt::print("\n");
}

void print_errors_by_family(const MeasuredRuns& measured, const Fit& fit) {
  std::map<std::string, Errors> by_family;
  Errors all;
  std::vector<double> times;
  std::string misfits;
  for (std::size_t i = 0; i < measured.rows.size(); ++i) {
    const MeasuredRun& row = measured.rows[i];
    const double error = fit.predicted[i] / row.step_s - 1.0;
    times.push_back(row.step_s);
    for (Errors* errors : {&all, &by_family[row.family]}) {
      errors->fitted.push_back(error);
      if (!fit.out_of_sample.empty() && fit.out_of_sample[i])
        errors->out_of_sample.push_back(*fit.out_of_sample[i] / row.step_s - 1.0);
    }
    if (std::abs(error) > misfit)
      misfits += fmt::format("{}line {} ({:+.0f}%)", misfits.empty() ? "" : ", ", row.line, 100.0 * error);
  }
  if (by_family.size() > 1)
    for (const auto& [family, errors] : by_family)
      print_errors_of(family.empty() ? "no family" : fmt::format("family {}", family), errors);
  print_errors_of("all", all);
  if (const auto correlation = experiment::rank_correlation(times, fit.predicted))
    fmt::print("# correlation of ranks (Spearman): {:.3f}\n", *correlation);
  fmt::print("# rows that do not fit within {:.0f}%: {}\n", 100.0 * misfit, misfits.empty() ? "none" : misfits);
}

/// The options as TOML, those of one table together.
void print_toml(const std::vector<FittedOption>& options, const Fit& fit) {
  std::map<std::string, std::string> tables;
  for (std::size_t u = 0; u < options.size(); ++u) {
    const std::string& key = options[u].key;
    const std::size_t dot = key.find('.');
    tables[key.substr(0, dot)] +=
        fmt::format("{} = {}\n", key.substr(dot + 1), experiment::toml_value(options[u], fit.unknowns[u]));
  }
  for (const auto& [table, lines] : tables) fmt::print("[{}]\n{}", table, lines);
}

}  // namespace

void calibrate_runs(const experiment::Plan& plan, const CalibrateRuns& options) {
  if (options.fit.empty())
    throw base::ScenarioError(
        "calibrate --runs: name the options to fit, as in --fit cluster.bandwidth --fit cluster.latency");
  if (plan.runs.size() != 1)
    throw base::ScenarioError(
        fmt::format("calibrate --runs: the scenario has {} runs; choose one by --strategy, one "
                    "seed and no grid",
                    plan.runs.size()));
  const MeasuredRuns measured = experiment::read_measured_runs(options.file, options.columns);
  if (measured.rows.size() < options.fit.size())
    throw base::ScenarioError(
        fmt::format("{}: {} rows with a time cannot separate {} options; expected as many rows at least", options.file,
                    measured.rows.size(), options.fit.size()));
  std::vector<FittedOption> fitted;
  for (const std::string& key : options.fit) fitted.push_back(experiment::fitted_option(plan, key));
  const auto folds = static_cast<std::size_t>(options.folds);
  // Each fold leaves rows enough for the fit.
  const bool enough = folds > 1 && measured.rows.size() - (measured.rows.size() + folds - 1) / folds >= fitted.size();
  const Fit fit =
      experiment::fit_runs(plan, fitted, measured, options.file, enough ? folds : 0, options.jobs, options.tolerance);
  if (!measured.unused.empty())
    fmt::print("# Columns that are not used: {}; --column NAME=KEY makes options of them.\n",
               fmt::join(measured.unused, ", "));
  print_rows(measured, fit);
  print_errors_by_family(measured, fit);
  fmt::print("# fitted by {} simulations; all else is as the scenario has it\n", fit.questions);
  print_toml(fitted, fit);
}

}  // namespace simgrad::cli
