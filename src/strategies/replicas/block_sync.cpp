#include "strategies/replicas/block_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "strategies/replicas/block_messages.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Bounds;
using base::Choice;

namespace {

constexpr std::array rules{Choice{"round_robin", "every step synchronises the next `blocks_a_step` blocks"},
                           Choice{"list", "each block in every period-th step, by `periods`"},
                           Choice{"movement",
                                  "the block that moves most is synchronised in every step or every few, the others "
                                  "less often the less they move; all of them at first"}};
constexpr std::array measures{Choice{"number", "the root mean square of its numbers' changes"},
                              Choice{"norm", "the norm of its change over its norm"}};
constexpr std::array orders{
    Choice{"together", "one message after the gradient, which does not overlap with computing"},
    Choice{"ready", "each by itself, in the order in which the backward pass has them: the last layers first"},
    Choice{"needed", "each by itself, in the order in which the next forward pass reads them: the first layers first"},
    Choice{"movement", "each by itself, the one that moved most first"}};

/// Refuses an option of another rule.  differs: from its default, with which a resolved scenario has it.
void refuse_unused(base::Describer& d, std::string_view key, bool differs, std::string_view rule) {
  if (d.given(key) && differs)
    d.refuse(key, fmt::format("{} is read by schedule = \"{}\" alone; leave it out, or take that schedule", key, rule));
}

}  // namespace

void BlockSync::describe(base::Describer& d) {
  d.integer_or("blocks", options.blocks, "layers",
               "the number of blocks into which the parameters are cut, nearly equal and in their order; \"layers\": "
               "every layer of the model is a block",
               Bounds::between(1, 1e6));
  d.choice("schedule", options.rule, rules, "how the steps in which a block is synchronised are chosen");
  d.integer("blocks_a_step", options.blocks_a_step,
            "schedule = \"round_robin\": the number of blocks that a step synchronises", Bounds::between(1, 1e6));
  d.numbers("periods", options.periods, "the period of each block in steps, in the order of the parameters",
            Bounds::between(1, 1e9));
  d.integer("longest", options.longest, "schedule = \"movement\": the longest period, in steps",
            Bounds::between(1, 1e9));
  d.choice("measure", options.measure, measures, "how far a block has moved a step since its last synchronisation");
  d.number(
      "budget", options.budget,
      "schedule = \"movement\": the share of all parameters that a step may synchronise on average; all periods grow "
      "in proportion until they keep it, or reach the longest; default: the block that moves most has period 1",
      Bounds{.least = 0.0, .most = 1.0, .positive = true});
  d.choice("send", send, orders,
           "how blocks travel that are due in one step; a block that travels by itself does so during the passes, and "
           "the next forward pass waits for it where it reads it");
  d.component("algorithm", algorithm, "how sums are made");
  describe_hosts_first(d, algorithm.kind());
  const BlockRule rule = options.rule;
  const BlockOptions defaults;
  if (rule != BlockRule::round_robin)
    refuse_unused(d, "blocks_a_step", options.blocks_a_step != defaults.blocks_a_step, "round_robin");
  if (rule != BlockRule::list) refuse_unused(d, "periods", !options.periods.empty(), "list");
  if (rule != BlockRule::movement) {
    refuse_unused(d, "longest", options.longest != defaults.longest, "movement");
    refuse_unused(d, "measure", options.measure != defaults.measure, "movement");
    refuse_unused(d, "budget", options.budget.has_value(), "movement");
  }
  if (rule == BlockRule::list && !d.given("periods") && options.periods.empty())
    d.refuse("schedule", "schedule = \"list\" reads the period of each block from periods; give periods = [1, 4, ...]");
  for (const double period : options.periods)
    if (period != std::floor(period))
      d.refuse("periods", fmt::format("a period is a number of steps, but {} is none", period));
  if (send == SendOrder::movement && rule != BlockRule::movement)
    d.refuse("send",
             "send = \"movement\" orders blocks by their movement, which only schedule = \"movement\" measures; "
             "take that schedule, or another order");
}

/// The steps after which all blocks are synchronised are those that all periods divide.
std::optional<training::Rounds> BlockSync::rounds() const {
  if (options.rule != BlockRule::list) return {};
  constexpr std::int64_t most = 1'000'000'000;  // longer than any training
  std::int64_t steps = 1;
  for (const double period : options.periods)
    steps = std::min(most, std::lcm(steps, static_cast<std::int64_t>(std::min(period, static_cast<double>(most)))));
  return training::Rounds{.steps = steps};
}

Traits BlockSync::traits(int P) const {
  return {.replicas_differ = true,
          .many_to_many = algorithm->many_to_many(),
          .rounds = P > 1 ? rounds() : std::nullopt,
          .times_follow_numbers = options.rule == BlockRule::movement,
          .passes = send != SendOrder::together ? Traits::Passes::units : Traits::Passes::whole};
}

record::MemoryParts BlockSync::memory(const training::MemoryTerms& terms) const {
  record::MemoryParts parts =
      training::replica_memory(terms, {.accumulates = send != SendOrder::together,
                                       .bucket_numbers = send != SendOrder::together ? terms.parameters() : 0.0});
  if (options.rule == BlockRule::movement)
    parts[record::MemoryPart::workspace] += terms.bytes.parameter * terms.parameters();
  return parts;
}

void BlockSync::operator()(Worker& worker) const {
  BlockReplica replica(worker, options, worker.start());
  if (send != SendOrder::together) return BlockStream(worker, replica, *algorithm, send).train();
  while (worker.continues(replica.state())) step_together(worker, replica, *algorithm);
}

}  // namespace simgrad::strategies
