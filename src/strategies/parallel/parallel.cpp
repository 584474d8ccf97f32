#include "strategies/parallel/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace simgrad::strategies {

using base::Bounds;
using training::Dimension;

namespace {

constexpr std::array balances{
    base::Choice{"flops", "the stage with most flops, or measured seconds, has as few as possible"},
    base::Choice{"blocks", "as many units to each stage, the first and the last unit besides at the two ends"}};

constexpr std::array simulated{
    base::Choice{
        "one_of_alike",
        "in a run of times alone, one rank of each stage for those with equal hosts, parts and products, where no "
        "two of their messages meet on a link: times, bytes and memory are those of all"},
    base::Choice{"all", "every rank"}};

constexpr double ranks_most = 131'072;

std::optional<Dimension> dimension_of(const std::string& text) {
  for (std::size_t k = 0; k < training::dimensions_of_mesh; ++k)
    if (const auto dimension = static_cast<Dimension>(k); name(dimension) == text) return dimension;
  return {};
}

bool names_each_once(const std::vector<std::string>& order) {
  if (order.size() != training::dimensions_of_mesh) return false;
  return std::ranges::all_of(
      order, [&](const std::string& text) { return dimension_of(text) && std::ranges::count(order, text) == 1; });
}

}  // namespace

void Parallel::describe(base::Describer& d) {
  const Bounds ranks = Bounds::between(1, ranks_most);
  d.integer("tensor", tensor, "ranks that share the products of each layer (tensor parallelism)", ranks);
  d.integer("pipeline", pipeline, "stages, each of them some layers on a rank of its own (pipeline parallelism)",
            ranks);
  d.integer("data", data,
            "ranks that hold the same part of the model, among which the strategy works; default: workers / "
            "(tensor x pipeline)",
            ranks);
  d.names_or_indices("order", order,
                     "the dimensions from the innermost on: ranks along the first one have consecutive numbers, and so "
                     "neighbouring hosts");
  d.component("schedule", schedule, "the order in which stages work on micro-batches");
  d.integer(
      "micro_batches", micro_batches,
      "parts of a rank's share of the batch that go through the pipeline one after the other; default: one a stage",
      Bounds::between(1, 1e6));
  d.integer("chunks", chunks, "pieces of the model that each stage has (interleaved schedules have 2 or more)",
            Bounds::between(1, 1e4));
  d.choice("balance", balance, balances, "how layers are dealt to the stages");
  d.numbers(
      "stages", stages,
      "units of each piece of the model, in forward order, in place of balance (`simgrad explain layers` shows the "
      "units)",
      Bounds::at_least(1.0));
  d.flag("sequence_parallel", sequence_parallel,
         "norms and sums between products are done by each tensor rank for its part of a sequence's tokens");
  d.choice("simulate", simulate, simulated, "the ranks that are simulated");
  refuse_contradictions(d);
}

void Parallel::refuse_contradictions(base::Describer& d) const {
  if (!names_each_once(order))
    d.refuse("order", "order names each dimension of the mesh once: \"tensor\", \"data\", \"pipeline\"");
  if (sequence_parallel && tensor == 1)
    d.refuse("sequence_parallel",
             "sequence_parallel deals a sequence's tokens to tensor ranks, but tensor = 1; set tensor "
             "to 2 or more, or leave sequence_parallel out");
  if (!stages.empty() && static_cast<std::int64_t>(stages.size()) != pipeline * chunks)
    d.refuse("stages", fmt::format("{} numbers in stages, but pipeline x chunks = {}; expected one a piece",
                                   stages.size(), pipeline * chunks));
  if (std::ranges::any_of(stages,
                          [](double units) { return units != static_cast<double>(static_cast<std::int64_t>(units)); }))
    d.refuse("stages", "units are counted: expected whole numbers, as in stages = [3, 3, 2]");
  // A schedule and a balance may stand beside one stage, for a grid that begins there.
  if (pipeline == 1 && chunks > 1)
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

std::int64_t Parallel::micro_batch_count() const {
  return schedule.kind() == "pipedream" && pipeline > 1 ? 1 : micro_batches.value_or(pipeline);
}

PipelineShape Parallel::shape() const {
  return {.stages = static_cast<int>(pipeline),
          .micro_batches = static_cast<int>(micro_batch_count()),
          .chunks = static_cast<int>(chunks)};
}

models::Shares Parallel::shares() const {
  return {.tensor = static_cast<int>(tensor), .sequence_parallel = sequence_parallel};
}

training::Mesh Parallel::mesh(std::int64_t ranks) const {
  training::PerDimension sizes;
  sizes[Dimension::tensor] = static_cast<int>(tensor);
  sizes[Dimension::pipeline] = static_cast<int>(pipeline);
  sizes[Dimension::data] = static_cast<int>(ranks / ranks_a_replica());
  training::Mesh::Order by_place{};
  for (std::size_t k = 0; k < by_place.size(); ++k) by_place[k] = *dimension_of(order[k]);
  return training::Mesh(sizes, by_place);
}

}  // namespace simgrad::strategies
