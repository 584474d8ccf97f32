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
    base::Choice{"memory",
                 "the stage that needs most memory needs as little as a search finds: stages near the front keep more "
                 "micro-batches"},
    base::Choice{"blocks", "as many units to each stage, the first and the last unit besides at the two ends"},
    base::Choice{"time",
                 "the predicted step is the shortest, by dynamic programming: passes on each stage's devices, sums "
                 "among tensor ranks, hops, and the memory of devices count"}};

constexpr std::array simulated{
    base::Choice{"one_of_alike",
                 "in a run of times alone, one rank for those that share its products or, unless sums of gradients go "
                 "along context or expert, have its part, if all hosts are equal and no two of their messages meet on "
                 "a link: times, bytes and memory are those of all"},
    base::Choice{"all", "every rank"}};

constexpr std::array tensor_shares_by{
    base::Choice{"equal", "as many rows and columns on each, which tensor divides"},
    base::Choice{"speed",
                 "in proportion to the nominal speeds of their devices, in whole units (of a perceptron's layers, "
                 "heads of keys and values, columns of a feed-forward part, tokens of the vocabulary), and at most "
                 "what a device's memory holds; a norm is not divided"}};

constexpr std::array copies_kept{
    base::Choice{"none", "a rank's state is in its own memory, and in those of the ranks with the same part"},
    base::Choice{"next_stage",
                 "each rank keeps the state of its counterpart in the next stage too, and updates it with the gradient "
                 "that this one sends at every step: under recovery = \"wait\" a lost rank's state comes from there "
                 "(Thorpe et al., Bamboo, NSDI 2023)"}};

constexpr double ranks_most = 131'072;

}  // namespace

void Parallel::describe(base::Describer& d) {
  const Bounds ranks = Bounds::between(1, ranks_most);
  d.flag("automatic", automatic,
         "of tensor, pipeline, context, expert and micro_batches, those that are not written are found: the layout "
         "whose step is predicted to be the shortest of all that fit into memory (`simgrad explain layouts SCENARIO` "
         "shows the best ones); balance is then \"time\", unless it or stages is written");
  d.integer("tensor", tensor, "ranks that share the products of each layer (tensor parallelism)", ranks);
  d.integer("pipeline", pipeline, "stages, each of them some layers on a rank of its own (pipeline parallelism)",
            ranks);
  d.integer("data", data,
            "ranks that hold the same part of the model, among which the strategy works; default: workers / "
            "(tensor x context x expert x pipeline)",
            ranks);
  d.numbers(
      "stage_replicas", stage_replicas,
      "ranks of each stage, in place of data, where the stages of schedule = \"pipedream\" have unlike numbers of "
      "replicas, as in [15, 1]: micro-batches go to a stage's replicas in turn, forward and back, and these "
      "average their gradients and update behind each round; a step has as many micro-batches as the least "
      "common multiple of the numbers",
      ranks);
  d.integer("context", context,
            "ranks that share the tokens of each sequence; keys and values go around them (context parallelism)",
            ranks);
  d.integer(
      "expert", expert,
      "ranks that share the experts of each layer, or the tables of embeddings, and the samples of each micro-batch "
      "(expert parallelism)",
      ranks);
  d.names_or_indices("order", order,
                     "the dimensions from the innermost on: ranks along the first one have consecutive numbers, and so "
                     "neighbouring hosts; context and expert may be left out where they are 1");
  d.component("schedule", schedule, "the order in which stages work on micro-batches");
  d.integer(
      "micro_batches", micro_batches,
      "parts of a rank's share of the batch that go through the pipeline one after the other; default: one a stage",
      Bounds::between(1, 1e6));
  d.integer("chunks", chunks, "pieces of the model that each stage has (interleaved schedules have 2 or more)",
            Bounds::between(1, 1e4));
  d.choice("balance", balance, balances, "how layers are dealt to the stages");
  d.numbers("stages", stages,
            "units of each piece of the model, in forward order, in place of balance (`simgrad explain layers "
            "SCENARIO` shows the "
            "units)",
            Bounds::at_least(1.0));
  d.flag("sequence_parallel", sequence_parallel,
         "norms and sums between products are done by each tensor rank for its part of a sequence's tokens");
  d.flag(
      "scatter_gather", scatter_gather,
      "each tensor rank sends its part of a stage's output to the next stage, whose ranks gather the parts, in place "
      "of the whole from each (Narayanan et al., SC 2021, section 4.1); sequence_parallel sends parts anyway");
  d.choice("tensor_shares", tensor_shares, tensor_shares_by, "the shares of tensor ranks in the products of layers");
  d.choice("copies", copies, copies_kept, "copies of states in the memory of other ranks");
  describe_slices(d);
  d.choice("simulate", simulate, simulated, "the ranks that are simulated");
  refuse_contradictions(d);
}

void Parallel::describe_slices(base::Describer& d) {
  d.integer("refresh_every", refresh_every,
            "steps from one exchange of the numbers of their passes among tensor ranks to the next; in between each "
            "takes the others' numbers as they were for these rows, and waits for nobody (asynchronous model slicing). "
            "A step with a row whose numbers are older than staleness, or that is new, exchanges in any case: on "
            "mini-batches nearly every step does, unless rows come again within staleness steps",
            Bounds::between(1, 1e9));
  d.integer(
      "staleness", staleness,
      "the age in steps up to which numbers of other tensor ranks are used: above refresh_every - 1 a refresh goes "
      "on beside the passes, and a rank waits for it only where its numbers would be older; default: "
      "refresh_every - 1, so that every refresh is waited for",
      Bounds::between(0, 1e9));
}

std::int64_t Parallel::micro_batch_count() const {
  return schedule.kind() == "pipedream" && pipeline > 1 ? 1 : micro_batches.value_or(pipeline);
}

PipelineShape Parallel::shape() const {
  return {.stages = static_cast<int>(pipeline),
          .micro_batches = static_cast<int>(micro_batch_count()),
          .chunks = static_cast<int>(chunks),
          .replicas = std::vector<int>(stage_replicas.begin(), stage_replicas.end())};
}

models::Shares Parallel::shares() const {
  return {.tensor = static_cast<int>(tensor),
          .sequence_parallel = sequence_parallel && tensor > 1,
          .context = static_cast<int>(context),
          .expert = static_cast<int>(expert),
          .by_weights = shares_by_speed()};
}

}  // namespace simgrad::strategies
