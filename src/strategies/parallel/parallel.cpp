#include "strategies/parallel/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace simgrad::strategies {

using base::Bounds;
using training::Dimension;

namespace {

constexpr std::array balances{
    base::Choice{"flops", "the largest number of flops, or of measured seconds, of a stage is as small as possible"},
    base::Choice{
        "memory",
        "the largest memory of a stage is as small as a search finds: stages near the front keep more micro-batches"},
    base::Choice{"blocks",
                 "each stage has the same number of units; in addition the first stage has the first unit, and the "
                 "last stage the last one"},
    base::Choice{"time",
                 "the predicted step is the shortest, by dynamic programming: passes on each stage's devices, sums "
                 "among tensor ranks, hops, and the memory of devices count"}};

constexpr std::array simulated{
    base::Choice{"one_of_alike",
                 "in a timing-only run, one rank stands for all that share its products or, unless gradients are "
                 "summed along context or expert, hold its part of the model, if all hosts are equal and no two of "
                 "their messages meet on a link; times, bytes and memory are those of all ranks"},
    base::Choice{"all", "every rank"}};

constexpr std::array tensor_shares_by{
    base::Choice{"equal",
                 "each rank has the same number of rows and columns, so that tensor must divide their numbers"},
    base::Choice{"speed",
                 "shares are in proportion to the nominal speeds of the ranks' devices, in whole units (of a "
                 "perceptron's layers, heads of keys and values, columns of a feed-forward part, tokens of the "
                 "vocabulary), and at most as large as a device's memory allows; norms are not divided"}};

constexpr std::array copies_kept{
    base::Choice{"none", "a rank's state is only in its own memory and in that of ranks with the same part"},
    base::Choice{"next_stage",
                 "each rank keeps the state of its counterpart in the next stage too, and updates it with the gradient "
                 "that the counterpart sends at every step: under recovery = \"wait\" a lost rank's state comes from "
                 "there, unless that rank is on the same host, which is lost whole (Thorpe et al., Bamboo, NSDI "
                 "2023)"}};

constexpr double ranks_most = 131'072;

}  // namespace

void Parallel::describe(base::Describer& d) {
  const Bounds ranks = Bounds::between(1, ranks_most);
  d.flag(
      "automatic", automatic,
      "whether those of tensor, pipeline, context, expert and micro_batches that the scenario does not give are found: "
      "the layout with the shortest predicted step of all that fit into memory is taken (`simgrad explain layouts "
      "SCENARIO` shows the best ones); balance is then \"time\", unless the scenario gives balance or stages");
  d.integer("tensor", tensor, "the number of ranks that share the products of each layer (tensor parallelism)", ranks);
  d.integer("pipeline", pipeline,
            "the number of stages, each of which has some layers on a rank of its own (pipeline parallelism)", ranks);
  d.integer("data", data,
            "the number of ranks that hold the same part of the model, among which the strategy works; default: "
            "workers / (tensor x context x expert x pipeline)",
            ranks);
  d.numbers("stage_replicas", stage_replicas,
            "the number of ranks of each stage, in place of data, if the stages of schedule = \"pipedream\" have "
            "different numbers of replicas, as in [15, 1]: micro-batches go to a stage's replicas in turn, forward and "
            "backward, and the replicas average their gradients and update after each round; a step has as many "
            "micro-batches as the least common multiple of the numbers",
            ranks);
  d.integer("context", context,
            "the number of ranks that share the tokens of each sequence; keys and values go around them in a ring "
            "(context parallelism)",
            ranks);
  d.integer("expert", expert,
            "the number of ranks that share the experts of each layer, or the tables of embeddings, and the samples of "
            "each micro-batch (expert parallelism)",
            ranks);
  d.names_or_indices("order", order,
                     "the dimensions of the mesh, the innermost first: ranks along the first one have consecutive "
                     "numbers, and so neighbouring hosts; context and expert may be left out where they are 1");
  d.component("schedule", schedule, "the order in which stages work on micro-batches");
  d.integer("micro_batches", micro_batches,
            "the number of parts of a rank's share of the batch, which go through the pipeline one after the other; "
            "default: the number of stages",
            Bounds::between(1, 1e6));
  d.integer("chunks", chunks,
            "the number of pieces of the model that each stage has (interleaved schedules have 2 or more)",
            Bounds::between(1, 1e4));
  d.choice("balance", balance, balances, "how layers are divided among the stages");
  d.numbers("stages", stages,
            "the number of units of each piece of the model, in forward order, in place of balance (`simgrad explain "
            "layers SCENARIO` shows the units)",
            Bounds::at_least(1.0));
  d.flag("sequence_parallel", sequence_parallel,
         "whether each tensor rank does the norms and sums between products only for its part of a sequence's tokens");
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
            "the steps from one exchange of the passes' numbers among tensor ranks to the next; in between, each rank "
            "takes the others' last numbers for the same rows, and waits for no rank (asynchronous model slicing). A "
            "step exchanges in any case if it has a new row, or one whose numbers are older than staleness: on "
            "mini-batches nearly every step does, unless rows come again within staleness steps",
            Bounds::between(1, 1e9));
  d.integer("staleness", staleness,
            "the greatest age, in steps, of numbers of other tensor ranks that are used. If it is above refresh_every "
            "- 1, an exchange goes on during the passes, and a rank waits for it only if its numbers would be older; "
            "default: refresh_every - 1, so that ranks wait for every exchange",
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
