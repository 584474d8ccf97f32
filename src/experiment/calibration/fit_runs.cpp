#include "experiment/calibration/fit_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/errors.h"
#include "base/text.h"
#include "experiment/plan/changes.h"
#include "experiment/run/runner.h"
#include "experiment/run/trials.h"

namespace simgrad::experiment {

namespace {

using base::Unit;

constexpr std::array units_of_options{Unit::seconds,          Unit::bytes, Unit::bytes_per_second,
                                      Unit::flops_per_second, Unit::watts, Unit::dollars_per_hour};

const nlohmann::ordered_json* find(const nlohmann::ordered_json& tree, const std::string& key) {
  const nlohmann::ordered_json* at = &tree;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t dot = std::min(key.find('.', begin), key.size());
    const std::string part = key.substr(begin, dot - begin);
    if (at->is_array()) {
      const bool counts = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
      if (!counts || part.size() > 6 || std::stoul(part) >= at->size()) return nullptr;
      at = &(*at)[std::stoul(part)];
    } else if (at->is_object() && at->contains(part)) {
      at = &(*at)[part];
    } else {
      return nullptr;
    }
    begin = dot + 1;
  }
  return at;
}

/// Simulates what the fit asks for.
class Simulator {
 public:
  Simulator(const Plan& plan, const std::vector<FittedOption>& options, const MeasuredRuns& measured, int jobs)
      : plan_(plan), options_(options), measured_(measured), jobs_(jobs) {}

  std::vector<std::optional<double>> operator()(const std::vector<Question>& questions) {
    std::vector<std::optional<RunPlan>> plans;
    for (const Question& question : questions) plans.push_back(varied(plan_, plan_.runs.front(), sets(question)));
    std::vector<const RunPlan*> runs;
    for (const auto& run : plans)
      if (run) runs.push_back(&*run);
    const auto [at_a_time, threads] = jobs_and_threads(jobs_, 0, std::max<std::size_t>(runs.size(), 1));
    const auto outcomes = trial_outcomes(runs, store_, data_, at_a_time, threads);
    if (outcomes.size() != runs.size()) throw base::EnvironmentError("interrupted");
    std::vector<std::optional<double>> answers;
    std::size_t next = 0;
    for (const auto& run : plans) {
      const std::optional<Observed> seen = run ? outcomes[next++] : std::nullopt;
      const std::int64_t steps = run ? run->settings->stop.steps.value_or(0) : 0;
      answers.push_back(seen && steps > 0 ? std::optional(seen->simulated_s / static_cast<double>(steps))
                                          : std::nullopt);
    }
    return answers;
  }

 private:
  std::vector<std::string> sets(const Question& question) const {
    std::vector<std::string> all = measured_.rows[question.row].sets;
    for (std::size_t u = 0; u < options_.size(); ++u) {
      const FittedOption& option = options_[u];
      const double value = question.unknowns[u];
      all.push_back(option.unit ? fmt::format("{}=\"{}\"", option.key, base::format_quantity(value, *option.unit))
                                : fmt::format("{}={:.12g}", option.key, value));
    }
    return all;
  }

  const Plan& plan_;
  const std::vector<FittedOption>& options_;
  const MeasuredRuns& measured_;
  int jobs_;
  TrialStore store_{"", false};
  DataCache data_;
};

/// Mean ranks, from 1 on.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> all(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) all[order[i]] = 0.5 * static_cast<double>(first + 1 + end);
    first = end;
  }
  return all;
}

}  // namespace

FittedOption fitted_option(const Plan& plan, const std::string& key) {
  const nlohmann::ordered_json* const value = find(plan.scenario, key);
  const auto refuse = [&](const std::string& what) {
    throw base::ScenarioError(fmt::format("--fit {}: {}", key, what));
  };
  if (value == nullptr) {
    refuse("the scenario has no such option; `simgrad validate` lists those that it has");
    return {};
  }
  FittedOption option{.key = key, .unit = {}, .start = 0.0};
  if (value->is_number()) {
    option.start = value->get<double>();
  } else if (value->is_string()) {
    const auto text = value->get<std::string>();
    for (const Unit unit : units_of_options) try {
        option.start = base::parse_quantity(text, unit);
        option.unit = unit;
        break;
      } catch (const std::invalid_argument&) {
        continue;
      }
  }
  if (!(option.start > 0.0))
    refuse(fmt::format("its value is {}; expected a number or a quantity above 0 to begin with", value->dump()));
  return option;
}

std::string toml_value(const FittedOption& option, double value) {
  const double rounded = std::stod(fmt::format("{:.4g}", value));
  return option.unit ? fmt::format("\"{}\"", base::format_quantity(rounded, *option.unit)) : fmt::format("{}", rounded);
}

Fit fit_runs(const Plan& plan, const std::vector<FittedOption>& options, const MeasuredRuns& measured,
             const std::string& path, std::size_t folds, int jobs, double tolerance) {
  for (const MeasuredRun& row : measured.rows) {
    std::optional<RunPlan> run;
    std::string why = "the scenario refuses the row's options";
    try {
      run = varied(plan, plan.runs.front(), row.sets);
    } catch (const base::ScenarioError& fault) {
      why = fault.what();
    }
    if (!run) throw base::ScenarioError(fmt::format("{}:{}: {}: {}", path, row.line, why, fmt::join(row.sets, ", ")));
    if (!run->settings->stop.steps)
      throw base::ScenarioError(
          "calibrate --runs: the scenario must end after a number of steps (stop.steps), so that "
          "a simulation has the time of a step");
  }
  std::vector<double> step_s, start;
  for (const MeasuredRun& row : measured.rows) step_s.push_back(row.step_s);
  for (const FittedOption& option : options) start.push_back(option.start);
  Simulator simulator(plan, options, measured, jobs);
  return fit_least_squares(
      step_s, start, folds, [&](const std::vector<Question>& questions) { return simulator(questions); }, tolerance);
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(a.size() + 1);
  double xy = 0.0, xx = 0.0, yy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (!(xx > 0.0) || !(yy > 0.0)) return {};
  return xy / std::sqrt(xx * yy);
}

}  // namespace simgrad::experiment
