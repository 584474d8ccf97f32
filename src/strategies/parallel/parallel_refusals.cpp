/// Options of [parallel] that contradict each other.
#include <fmt/format.h>

#include <algorithm>

#include "strategies/parallel/parallel.h"

namespace simgrad::strategies {

using training::Dimension;

namespace {

/// The dimensions that have several ranks, or may have.
std::vector<Dimension> needed(const Parallel& parallel) {
  std::vector<Dimension> all{Dimension::tensor, Dimension::data, Dimension::pipeline};
  if (parallel.context > 1) all.push_back(Dimension::context);
  if (parallel.expert > 1) all.push_back(Dimension::expert);
  return all;
}

/// The first thing that is wrong with the order, or empty.
std::string order_fault(const Parallel& parallel) {
  const std::vector<std::string>& order = parallel.order;
  for (const std::string& text : order) {
    if (!training::dimension_named(text)) return fmt::format("\"{}\" is no dimension of the mesh", text);
    if (std::ranges::count(order, text) > 1) return fmt::format("\"{}\" is there more than once", text);
  }
  for (const Dimension dimension : needed(parallel))
    if (std::ranges::find(order, name(dimension)) == order.end())
      return fmt::format("\"{}\" is missing", name(dimension));
  return {};
}

}  // namespace

void Parallel::refuse_slices(base::Describer& d) const {
  if (staleness && *staleness < refresh_every - 1)
    d.refuse("staleness",
             fmt::format("staleness = {} would refresh before refresh_every = {} steps are over; expected {} "
                         "or more, or a smaller refresh_every",
                         *staleness, refresh_every, refresh_every - 1));
  if (!slices().active()) return;
  const char* const key = refresh_every > 1 ? "refresh_every" : "staleness";
  const auto refuse = [&](std::string_view why) { d.refuse(key, fmt::format("{} is about {}", key, why)); };
  if (automatic)
    refuse("the numbers of tensor ranks, but automatic compares layouts whose steps are alike; leave one of them out");
  else if (tensor == 1)
    refuse("ranks that share the products of each layer, but tensor = 1; set tensor to 2 or more, or leave it out");
  else if (pipeline * context * expert > 1)
    refuse(
        "tensor ranks that go on by themselves, but stages, context and expert ranks wait for each other in every "
        "step; set pipeline, context and expert to 1");
  else if (sequence_parallel)
    refuse(
        "numbers that each tensor rank has of all tokens, but sequence_parallel divides the tokens among the ranks; "
        "leave one of them out");
}

/// The searches of layouts and stages compare ranks with equal shares.
void Parallel::refuse_tensor_shares(base::Describer& d) const {
  if (tensor_shares == TensorShares::equal) return;
  const auto refuse = [&](std::string_view why) {
    d.refuse("tensor_shares", fmt::format("tensor_shares = \"speed\" {}", why));
  };
  const bool by_search = stages.empty() && pipeline > 1 && (balance == Balance::memory || balance == Balance::time);
  if (automatic)
    refuse("sizes the shares of tensor ranks, but automatic compares layouts with equal shares; leave one of them out");
  else if (tensor == 1)
    refuse(
        "is about ranks that share the products of each layer, but tensor = 1; set tensor to 2 or more, or leave "
        "it out");
  else if (by_search)
    refuse(
        "sizes the shares of tensor ranks, but balance searches for stages with equal shares; take balance = "
        "\"flops\" or \"blocks\", or give stages");
  else if (slices().active())
    refuse(
        "sizes shares so that tensor ranks come to their exchanges together, but refresh_every and staleness spare "
        "these; leave one of them out");
  else if (copies == Copies::next_stage)
    refuse(
        "gives counterparts in two stages parts of unlike sizes, but copies = \"next_stage\" keeps a copy of one next "
        "to the other; leave one of them out");
}

void Parallel::refuse_contradictions(base::Describer& d) const {
  refuse_slices(d);
  refuse_tensor_shares(d);
  refuse_stage_replicas(d);
  if (const std::string fault = order_fault(*this); !fault.empty())
    d.refuse("order", fault +
                          "; order names each dimension of the mesh once: \"tensor\", \"context\", \"expert\", "
                          "\"data\", \"pipeline\"; context and expert may be left out where they are 1");
  if (sequence_parallel && tensor == 1 && !automatic)
    d.refuse("sequence_parallel",
             "sequence_parallel divides a sequence's tokens among tensor ranks, but tensor = 1; set tensor to 2 or "
             "more, or leave sequence_parallel out");
  if (!stages.empty() && static_cast<std::int64_t>(stages.size()) != pipeline * chunks && !automatic)
    d.refuse("stages", fmt::format("{} numbers in stages, but pipeline x chunks = {}; expected one a piece",
                                   stages.size(), pipeline * chunks));
  if (std::ranges::any_of(stages,
                          [](double units) { return units != static_cast<double>(static_cast<std::int64_t>(units)); }))
    d.refuse("stages", "units are counted: expected whole numbers, as in stages = [3, 3, 2]");
  // A schedule and a balance may stand beside one stage, for a grid that begins there.
  if (pipeline == 1 && chunks > 1 && !automatic)
    d.refuse("chunks",
             fmt::format("chunks = {} is about the stages of a pipeline, but pipeline = 1; set pipeline to 2 or "
                         "more, or leave chunks out",
                         chunks));
  if (pipeline > 1 && schedule.kind() == "pipedream" && micro_batches.value_or(1) != 1)
    d.refuse("micro_batches",
             "schedule = \"pipedream\" makes an update of every micro-batch: a rank's share of the batch is "
             "one; leave micro_batches out, or take pipedream_2bw");
  if (pipeline > 1 && schedule.kind() == "pipedream_2bw" && micro_batch_count() < pipeline)
    d.refuse("micro_batches",
             fmt::format("schedule = \"pipedream_2bw\" keeps two versions of the weights, which is enough "
                         "with at least as many micro-batches as stages; expected {} or more",
                         pipeline));
  if (schedule && schedule->asynchronous() && chunks > 1)
    d.refuse("chunks", fmt::format("schedule = \"{}\" has one chunk a stage; leave chunks out", schedule.kind()));
  if (schedule && pipeline > 1)
    if (const std::string why = schedule->refusal(shape()); !why.empty()) d.refuse("schedule", why);
}

}  // namespace simgrad::strategies
