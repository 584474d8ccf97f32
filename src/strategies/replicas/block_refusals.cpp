/// The runs in which blocks cannot be synchronised one by one.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strategies/circumstances.h"
#include "strategies/replicas/block_sync.h"
#include "strategies/run_length.h"

namespace simgrad::strategies {

std::optional<Refusal> BlockSync::count_refusal(const Circumstances& circumstances) const {
  const auto count =
      static_cast<std::int64_t>(blocks_of(options, circumstances.layers(), circumstances.parameters).size());
  if (options.blocks && *options.blocks > circumstances.parameters)
    return Refusal{"blocks", fmt::format("{} blocks have more than the model's {} parameters; take fewer",
                                         *options.blocks, circumstances.parameters)};
  if (options.rule == BlockRule::round_robin && options.blocks_a_step > count)
    return Refusal{"blocks_a_step", fmt::format("a step cannot synchronise {} of {} blocks; take {} at most",
                                                options.blocks_a_step, count, count)};
  if (options.rule == BlockRule::list && std::cmp_not_equal(options.periods.size(), count))
    return Refusal{"periods", fmt::format("{} periods for {} blocks; give one to each", options.periods.size(), count)};
  return length_refusal(circumstances);
}

std::optional<Refusal> BlockSync::length_refusal(const Circumstances& circumstances) const {
  const auto steps = steps_of_run(circumstances);
  if (!steps) return {};
  const double longest = options.periods.empty() ? 0.0 : *std::ranges::max_element(options.periods);
  if (options.rule == BlockRule::list && longest > static_cast<double>(*steps))
    return Refusal{"periods",
                   fmt::format("a block with period {} would never be synchronised, for the run has {} steps; "
                               "expected {} at most",
                               longest, *steps, *steps)};
  return {};
}

std::optional<Refusal> BlockSync::refusal(const Circumstances& circumstances) const {
  if (const std::string why = algorithm->refusal(circumstances.cluster); !why.empty()) return Refusal{"algorithm", why};
  if (auto why = count_refusal(circumstances)) return why;
  if (options.rule == BlockRule::movement && !circumstances.numbers)
    return Refusal{"schedule",
                   "schedule = \"movement\" measures how far parameters move, but training.numbers = false computes "
                   "none; take \"list\" or \"round_robin\""};
  if (const std::string whole = circumstances.needs_whole_gradient(); !whole.empty())
    return Refusal{"kind", fmt::format("under {} the update of one block depends on the others' gradients; take an "
                                       "optimizer that works element by element, without clip_norm",
                                       whole)};
  if (circumstances.precision == training::Precision::float16)
    return Refusal{"kind",
                   "precision = \"float16\" leaves out a whole update where a gradient overflows, but blocks are "
                   "updated one by one; take bfloat16"};
  return {};
}

}  // namespace simgrad::strategies
