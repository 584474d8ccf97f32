/// The curve of a case, computed from the evaluations of its seeds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "outputs/divergence.h"
#include "outputs/report/charts/curves.h"
#include "outputs/report/data/decimation.h"
#include "outputs/statistics.h"

namespace simgrad::outputs::report {
namespace {

using record::Evaluation;
using Moment = std::vector<const Evaluation*>;  ///< one evaluation per seed, at one step

/// Returns evaluations by ascending step; of a step that is done again after a crash the first one. The last one would
/// put the beginning of a mean curve at the mean time of the latest restarts.
std::vector<const Evaluation*> first_times(const std::vector<Evaluation>& curve) {
  std::vector<const Evaluation*> found;
  for (const Evaluation& each : curve)
    if (found.empty() || each.step > found.back()->step) found.push_back(&each);
  return found;
}

std::vector<Moment> moments(const std::vector<const Run*>& runs) {
  std::vector<Moment> shared;
  if (runs.size() == 1) {
    for (const Evaluation& each : runs.front()->record.curve) shared.push_back({&each});
    return shared;
  }
  std::vector<std::vector<const Evaluation*>> curves;
  std::set<std::int64_t> steps;
  for (const Run* run : runs) {
    curves.push_back(first_times(run->record.curve));
    if (curves.back().empty()) return shared;
    for (const Evaluation* each : curves.back()) steps.insert(each->step);
  }
  std::vector<std::size_t> next(curves.size(), 0);
  for (const std::int64_t step : steps) {
    Moment moment;
    for (std::size_t k = 0; k < curves.size(); ++k) {
      while (next[k] + 1 < curves[k].size() && curves[k][next[k]]->step < step) ++next[k];
      const Evaluation* const each = curves[k][next[k]];
      const bool diverged = runs[k]->record.status == record::Status::diverged;
      const bool ended = next[k] + 1 == curves[k].size() && each->step < step && !diverged;
      if (each->step == step || ended) moment.push_back(each);
    }
    if (moment.size() == curves.size()) shared.push_back(std::move(moment));
  }
  return shared;
}

double of(const std::optional<double>& number) { return number.value_or(nan); }

template <class Number>
std::vector<double> means(const std::vector<Moment>& moments, Number number) {
  std::vector<double> column;
  column.reserve(moments.size());
  std::vector<double> values;
  for (const Moment& moment : moments) {
    values.clear();
    for (std::size_t seed = 0; seed < moment.size(); ++seed) values.push_back(number(*moment[seed], seed));
    column.push_back(interval(values, nan).mean);
  }
  return column;
}

/// Returns the column, or an empty one if no number is finite.
std::vector<double> if_any(std::vector<double> column) {
  if (std::ranges::none_of(column, [](double x) { return std::isfinite(x); })) column.clear();
  return column;
}

void add_band(const std::vector<Moment>& moments, std::optional<double> Evaluation::*number, std::vector<double>& low,
              std::vector<double>& high) {
  if (moments.empty() || moments.front().size() < 2) return;
  const double t = student_t95(static_cast<int>(moments.front().size()) - 1);
  std::vector<double> values;
  for (const Moment& moment : moments) {
    values.clear();
    for (const Evaluation* each : moment) values.push_back(of(each->*number));
    const Interval band = interval(values, t);
    low.push_back(band.low);
    high.push_back(band.high);
  }
}

/// Returns the number of moments before a seed diverges, and the divergence. `points` is left to the caller.
std::pair<std::size_t, std::optional<Divergence>> divergence(const std::vector<const Run*>& runs,
                                                             const std::vector<Moment>& moments) {
  std::vector<const Evaluation*> ends;  // per seed: the first evaluation after divergence
  std::optional<Divergence> found;
  for (const Run* run : runs) {
    const auto& curve = run->record.curve;
    ends.push_back(curve.data() + sensible_evaluations(run->record));
    const auto step = diverged_step(run->record);
    if (!step) continue;
    if (!found) found = Divergence{.step = *step, .seeds = 0, .points = 0};
    found->step = std::min(found->step, *step);
    ++found->seeds;
  }
  const auto lost = [&](const Moment& moment) {
    for (std::size_t k = 0; k < moment.size(); ++k)
      if (moment[k] >= ends[k]) return true;
    return false;
  };
  const auto sensible = std::ranges::find_if(moments, lost) - moments.begin();
  return {static_cast<std::size_t>(sensible), found};
}

double per(double total, double amount) { return amount > 0.0 ? total / amount : 0.0; }

}  // namespace

Series series(const Case& one, std::size_t most) {
  Series series;
  series.strategy = one.strategy;
  series.point = one.point;
  series.seeds = one.runs.size();
  if (one.runs.empty()) return series;
  std::vector<Moment> all = moments(one.runs);
  const auto [sensible, diverged] = divergence(one.runs, all);
  const auto column = [](std::optional<double> Evaluation::*number) {
    return [number](const Evaluation& each, std::size_t) { return of(each.*number); };
  };
  const bool fits = all.size() <= most;
  std::vector<Moment> drawn(all.begin(), fits ? all.end() : all.begin() + static_cast<std::ptrdiff_t>(sensible));
  std::vector<std::vector<double>> seen;
  for (const auto number : {&Evaluation::loss, &Evaluation::metric, &Evaluation::consensus_distance})
    if (auto numbers = if_any(means(drawn, column(number))); !numbers.empty()) seen.push_back(std::move(numbers));
  if (seen.empty()) seen.emplace_back(drawn.size(), nan);
  std::vector<Moment> kept;
  for (const std::size_t i : decimated(seen, most)) kept.push_back(std::move(drawn[i]));
  series.diverged = diverged;
  if (diverged) series.diverged->points = fits ? sensible : kept.size();
  if (!fits && sensible < all.size()) kept.push_back(std::move(all.back()));

  for (const Moment& moment : kept) {
    const auto step = [](const Evaluation* each) { return each->step; };
    series.step.push_back(static_cast<double>((*std::ranges::max_element(moment, {}, step))->step));
  }
  series.simulated_s = means(kept, [](const Evaluation& each, std::size_t) { return each.simulated_s; });
  series.epochs = means(kept, [&](const Evaluation& each, std::size_t seed) {
    const record::Record& record = one.runs[seed]->record;
    return static_cast<double>(each.samples) * per(record.epochs, static_cast<double>(record.samples));
  });
  if (one.row.cost_usd)
    series.cost_usd = means(kept, [&](const Evaluation& each, std::size_t seed) {
      return each.simulated_s * per(of(one.runs[seed]->bill.cost_usd), one.runs[seed]->record.simulated_s);
    });
  series.energy_j = if_any(means(kept, column(&Evaluation::energy_j)));
  series.flops = if_any(means(kept, column(&Evaluation::flops)));
  series.bytes = if_any(means(
      kept, [](const Evaluation& each, std::size_t) { return each.bytes ? static_cast<double>(*each.bytes) : nan; }));
  series.loss = means(kept, column(&Evaluation::loss));
  series.metric = if_any(means(kept, column(&Evaluation::metric)));
  series.consensus = if_any(means(kept, column(&Evaluation::consensus_distance)));
  series.loss_floor = mean_of(one.runs, [](const Run& run) { return run.record.loss_floor; });
  add_band(kept, &Evaluation::loss, series.loss_low, series.loss_high);
  if (!series.metric.empty()) add_band(kept, &Evaluation::metric, series.metric_low, series.metric_high);
  return series;
}

}  // namespace simgrad::outputs::report
