/// The runs in which slices of a model that go on with old numbers do nothing, or cannot train.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strategies/circumstances.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/run_length.h"

namespace simgrad::strategies {

namespace {

/// The share of steps below which no exchange to speak of is spared.
constexpr double hardly_any = 0.01;

/// The probability that `some` of `all` things, drawn at random, are among `these`.
double chance(double some, double these, double all) {
  if (these >= all) return 1.0;
  if (these < some) return 0.0;
  return std::exp(std::lgamma(these + 1) - std::lgamma(these - some + 1) - std::lgamma(all + 1) +
                  std::lgamma(all - some + 1));
}

/// The expected share of a run's steps all of whose rows have been there within `staleness` steps, at most. An epoch's
/// order is a permutation of the rows, so that the rows of its step k are some of all rows at random, and these had
/// their turn among the last staleness - k steps of the epoch before. The first epoch has no such step.
double share_of_known(double rows, double batch, double staleness, std::optional<double> steps) {
  const double epoch = rows / batch;
  if (steps && *steps <= epoch) return 0.0;
  const double later = steps ? (*steps - epoch) / *steps : 1.0;
  double known = 0.0;
  for (double k = 0.0; k < std::min(staleness, epoch) && later * known < hardly_any * epoch; ++k) {
    const double step_chance = chance(batch, (staleness - k) * batch, rows);
    if (step_chance < 1e-9) break;
    known += step_chance;
  }
  return later * known / epoch;
}

}  // namespace

std::optional<Refusal> OnMesh::length_refusal(const Circumstances& of) const {
  const auto steps = steps_of_run(of);
  if (!steps) return {};
  const auto longer = [&](const char* key, std::int64_t value) -> std::optional<Refusal> {
    if (value <= *steps) return {};
    return Refusal{fmt::format("parallel.{}", key),
                   fmt::format("{} = {} is longer than the run, which has {} steps; expected {} at most", key, value,
                               *steps, *steps)};
  };
  if (auto why = longer("refresh_every", parallel_.refresh_every)) return why;
  return longer("staleness", parallel_.staleness.value_or(0));
}

std::optional<Refusal> OnMesh::return_refusal(const Circumstances& of) const {
  if (of.batch >= of.rows) return {};
  const auto steps = steps_of_run(of);
  const double batch = std::max(1.0, static_cast<double>(of.batch / replicas(of.workers)));
  const double rows = static_cast<double>(of.rows) * batch / static_cast<double>(of.batch);
  const SliceOptions slices = parallel_.slices();
  const double share = share_of_known(rows, batch, static_cast<double>(slices.staleness),
                                      steps ? std::optional(static_cast<double>(*steps)) : std::nullopt);
  if (share >= hardly_any) return {};
  const bool by_period = parallel_.refresh_every > 1;
  const std::int64_t two_epochs = (2 * of.rows + of.batch - 1) / of.batch;
  // Among several replicas a row may come again to another one first.
  std::string remedy = fmt::format("take the full batch, or set staleness to {} or more", two_epochs);
  if (replicas(of.workers) > 1) remedy = "take the full batch, or a staleness of several epochs";
  if (steps && *steps <= two_epochs) remedy = "take the full batch, or a longer run with an older staleness";
  return Refusal{
      by_period ? "parallel.refresh_every" : "parallel.staleness",
      fmt::format("{} = {} has hardly an effect: a step takes {} of {} rows, so that a row comes again after {:.3g} "
                  "steps on average, but numbers are kept for staleness = {} steps{}; fewer than one step in a hundred "
                  "would go without an exchange; {}",
                  by_period ? "refresh_every" : "staleness", by_period ? parallel_.refresh_every : slices.staleness,
                  of.batch, of.rows, static_cast<double>(of.rows) / static_cast<double>(of.batch), slices.staleness,
                  steps ? fmt::format(", and the run has {} steps", *steps) : "", remedy)};
}

std::optional<Refusal> OnMesh::slices_refusal(const Circumstances& of) const {
  if (!parallel_.slices().active()) return {};
  if (auto why = length_refusal(of)) return why;
  const char* const key = parallel_.refresh_every > 1 ? "parallel.refresh_every" : "parallel.staleness";
  if (traits_on_mesh(*strategy_, parallel_, of.workers).gathers_units)
    return Refusal{key,
                   "slices of the model go on by themselves between two refreshes, but this strategy gathers the "
                   "parameters of every unit for each pass; take allreduce, or zero with stage 1 or 2"};
  if (of.clips)
    return Refusal{key,
                   "slices of the model go on by themselves between two refreshes, but training.clip_norm sums the "
                   "norm of the whole gradient in every step; leave one of them out"};
  if (of.rows_come_in)
    return Refusal{key,
                   "slices of the model go on by themselves, each at its own time, but partition \"stream\" has other "
                   "rows at other times; take another partition"};
  return return_refusal(of);
}

}  // namespace simgrad::strategies
