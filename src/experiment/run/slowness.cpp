#include "experiment/run/slowness.h"

#include <fmt/format.h>

#include <algorithm>

#include "outputs/text/number_text.h"

namespace simgrad::experiment {

namespace {

std::string name_of(const RunPlan& run) {
  return fmt::format("{}, {} workers, seed {}", run.label, run.workers, run.seed);
}

std::string how_often(const RunPlan& run) {
  const auto& evaluate = run.settings->evaluate;
  if (evaluate.every_s && !evaluate.every_steps) return "evaluate.every_s to a longer time";
  return fmt::format("evaluate.every_steps to more than {}", evaluate.every_steps.value_or(1));
}

}  // namespace

std::string evaluation_advice(const RunPlan& run, const training::Pulse& pulse) {
  constexpr double ratio_least = 1.5, noticed_s = 1.0;
  if (pulse.evaluations_s < noticed_s || pulse.gradients_s <= 0.0) return {};
  const double ratio = pulse.evaluations_s / pulse.gradients_s;
  if (ratio < ratio_least) return {};
  return fmt::format(
      "{}: {} evaluations of the loss took {:.1f} x as long as all gradients ({:.1f} s of processor time); set {}",
      name_of(run), pulse.evaluations, ratio, pulse.evaluations_s, how_often(run));
}

std::string slow_run(const RunPlan& run, const training::Pulse& pulse, double elapsed_s, int threads) {
  constexpr double patience_s = 20.0, share_most = 0.5;
  if (elapsed_s < patience_s || pulse.share > share_most) return {};
  const double several = std::max(threads, 1);
  const double gradients_s = pulse.gradients_s / several, evaluations_s = pulse.evaluations_s / several;
  const double rest_s = std::max(0.0, elapsed_s - gradients_s - evaluations_s);
  std::string reason;
  if (evaluations_s >= std::max(gradients_s, rest_s))
    reason = fmt::format("{:.0f} s of it evaluating the loss; set {}", evaluations_s, how_often(run));
  else if (gradients_s >= rest_s)
    reason = fmt::format(
        "{:.0f} s of it computing gradients; a smaller batch, fewer steps, or training.numbers = "
        "false (timing only) is faster",
        gradients_s);
  else
    reason = fmt::format(
        "{:.0f} s of it simulating messages and events; fewer workers, fewer steps or larger messages "
        "are faster",
        rest_s);
  const std::string so_far = pulse.simulated_s > 0.0
                                 ? fmt::format("{} simulated so far, {:.0f} % of the run",
                                               outputs::duration(pulse.simulated_s), 100.0 * pulse.share)
                                 : std::string("no step completed so far");
  return fmt::format("{}: {:.0f} s of real time, {}: {}", name_of(run), elapsed_s, so_far, reason);
}

}  // namespace simgrad::experiment
