#include "training/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "training/checkpoints/checkpoint_clock.h"

namespace simgrad::training {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array scalings{
    Choice{"none", "the learning rate is the same for any number of workers"},
    Choice{"linear",
           "the learning rate is multiplied by the number of workers P, as the batch is: P steps of one worker in one"},
    Choice{"sqrt", "the learning rate is multiplied by sqrt(P), so that the noise of a step stays the same"}};

constexpr std::array recomputations{
    Choice{"none", "every activation is kept from the forward to the backward pass"},
    Choice{"selective",
           "activations that are large and cheap are computed again: attention's scores and what follows from them"},
    Choice{"full",
           "a unit of the model keeps only its input, and its backward pass begins by repeating its forward pass; the "
           "last unit does not repeat it, because its backward pass follows at once"}};
constexpr std::array precisions{
    Choice{"float64", "everything in 8 bytes"}, Choice{"float32", "everything in 4 bytes"},
    Choice{"bfloat16",
           "mixed precision: parameters, gradients and activations in bfloat16, with a float32 copy of the parameters, "
           "which the optimizer updates"},
    Choice{"float16", "mixed precision as bfloat16, but in float16 and with a dynamic loss scale"},
    Choice{"float8", "as bfloat16, with products of float8 numbers; computed numbers are those of bfloat16"}};

constexpr std::array wires{
    Choice{"precision", "as they are in memory: float64 in 8 bytes, float32 in 4, the others in 2"},
    Choice{"float64", "8 bytes a number"}, Choice{"float32", "4 bytes"}, Choice{"float16", "2 bytes"},
    Choice{"bfloat16", "2 bytes, with the range of float32"}};

constexpr std::array gradient_precisions{
    Choice{
        "framework",
        "float32 under bfloat16 and float8 where the strategy is Megatron-LM's, which sets "
        "accumulate_allreduce_grads_in_fp32 with bf16: on a mesh and in stage 1 of zero (its distributed optimizer), "
        "unless parameters are gathered; otherwise \"precision\", as in PyTorch's DDP and FSDP and in DeepSpeed"},
    Choice{"precision", "as the passes make them, in the format of precision"},
    Choice{"float32", "in 4 bytes per number, under a shorter precision, too"}};

constexpr std::array memory_checks{
    Choice{"refuse", "the run is refused; the message has its memory by term and changes that make it fit"},
    Choice{"ignore", "the run is simulated as if the memory were large enough"}};

constexpr std::array evaluation_sets{
    Choice{"train", "the training set"}, Choice{"test", "the test set ([data] test_fraction)"},
    Choice{"next", "the rows that come next (partition = \"stream\"), as many as its window"}};

}  // namespace

std::string_view name(Precision precision) { return precisions.at(static_cast<std::size_t>(precision)).name; }

namespace {

void describe_gradient_precision(base::Describer& d, Options& options) {
  d.choice("gradient_precision", options.gradient_precision, gradient_precisions,
           "the format of gradients in memory until the update; messages have the format of wire");
  if (options.gradient_precision == GradientPrecision::float32 && options.precision == Precision::float64)
    d.refuse("gradient_precision",
             "gradient_precision = \"float32\" is shorter than the numbers of precision = \"float64\", of which "
             "gradients are made; take a shorter precision, or leave gradient_precision out");
}

void describe_desynchronise(base::Describer& d, Options& options) {
  d.number("desynchronise", options.desynchronise,
           "how much gradients vary in time under asynchronous strategies with two workers or more, so that workers "
           "are not in phase for ever: a gradient takes a log-normal multiple of its time, of mean 1 and this standard "
           "deviation, and a worker's first one is also multiplied by 1/2 to 3/2. Where the messages and the waiting "
           "between a worker's gradients take longer than the gradients, the standard deviation is this share of that "
           "time, and at most a gradient's time. 0: equal times and one phase, in which all messages of a server meet",
           Bounds{.least = 0.0, .most = 1.0});
}

void describe_wire(base::Describer& d, Options& options) {
  d.choice("wire", options.wire, wires,
           "the format in which uncompressed gradients, parameters and activations travel; numbers are rounded to it, "
           "and sums on the way after each addition; rounding takes no time");
  const values::Format own = training::travels_as(options.precision);
  if (options.wire != Wire::as_precision && options.travels_as() != own &&
      values::wire_format(options.travels_as()).bytes_per_number >= values::wire_format(own).bytes_per_number)
    d.refuse("wire", fmt::format("wire = \"{}\" is no shorter than the numbers of precision = \"{}\", which have {} "
                                 "bytes; expected a shorter format, or \"precision\"",
                                 wires.at(static_cast<std::size_t>(options.wire)).name, name(options.precision),
                                 values::wire_format(own).bytes_per_number));
}

}  // namespace

void Options::describe(base::Describer& d) {
  d.integer_or("batch_size", batch_size, "full",
               "samples per step over all workers (strong scaling), or \"full\": all training rows",
               Bounds::at_least(1));
  d.integer("batch_size_per_worker", batch_size_per_worker, "samples per step and worker (weak scaling)",
            Bounds::at_least(1));
  d.component("optimizer", optimizer, "how a gradient becomes an update");
  d.number("learning_rate", learning_rate, "the step size", Bounds{.least = 0.0, .most = 1e6, .positive = true});
  d.choice("learning_rate_scaling", learning_rate_scaling, scalings,
           "how learning_rate, which is given for one worker, grows with the number of workers if each has a batch of "
           "its own (batch_size_per_worker)");
  d.component("schedule", schedule, "how the learning rate changes with the steps");
  d.integer("warmup_steps", warmup_steps, "step k < warmup_steps has (k + 1) / warmup_steps of the schedule's rate",
            Bounds::between(0, 1e12));
  d.number("clip_norm", clip_norm,
           "a gradient g of greater norm, over all parameters, is scaled by clip_norm / (|g| + 1e-6), as "
           "torch.nn.utils.clip_grad_norm_ does",
           Bounds{.least = 0.0, .most = 1e12, .positive = true});
  d.component("partition", partition, "how the rows are divided among the ranks");
  describe_desynchronise(d, *this);
  d.section("input", input, "the storage from which batches are read, and how far ahead");
  d.choice("precision", precision, precisions, "the formats of numbers, in memory, in products and in messages");
  describe_wire(d, *this);
  describe_gradient_precision(d, *this);
  d.flag("numbers", numbers,
         "whether numbers are computed; false simulates the timing only, and no data are made or read");
  d.choice("recompute", recompute, recomputations,
           "the activations that the backward pass computes a second time, which saves memory and costs flops");
  d.choice("memory", memory, memory_checks, "what happens to a run that does not fit into the memory of its devices");
  d.integer("checkpoint_every_steps", checkpoint_every_steps,
            "the number of steps between checkpoints; 0: only the state of step 0 is kept", Bounds::at_least(0));
  d.text("checkpoint_every", checkpoint_every,
         "the time between checkpoints: one is written at the first step this long (\"30s\") after the last one; or "
         "\"young\" or \"daly\": the best interval for the MTBF of cluster.failures.hosts and the time that a "
         "checkpoint takes (cluster.storage_bandwidth); where hosts neither fail nor are taken away, none is written");
  d.flag(
      "checkpoint_async", checkpoint_async,
      "whether checkpoints are asynchronous: the ranks wait only until their checkpoint is in the memory of their "
      "hosts (cluster.host_memory_bandwidth); it is written to storage while they go on, and counts once it is there");
  if (checkpoint_every && checkpoint_every_steps > 0)
    d.refuse("checkpoint_every", "checkpoint_every and checkpoint_every_steps both say when; leave one of them out");
  if (checkpoint_every && !checkpoints_by_rule()) {
    try {
      if (!(base::parse_quantity(*checkpoint_every, Unit::seconds) > 0.0))
        d.refuse("checkpoint_every", "checkpoint_every must be above 0s");
    } catch (const std::invalid_argument& fault) {
      d.refuse("checkpoint_every", fmt::format("{}; or \"young\" or \"daly\"", fault.what()));
    }
  }
  if (batch_size_per_worker && d.given("batch_size"))
    d.refuse("batch_size_per_worker",
             "\"batch_size_per_worker\" contradicts \"batch_size\"; give the one that the experiment holds fixed");
  if (learning_rate_scaling != RateScaling::none && !batch_size_per_worker)
    d.refuse(
        "learning_rate_scaling",
        "\"learning_rate_scaling\" follows a batch that grows with the workers, but \"batch_size\" holds it fixed; "
        "give batch_size_per_worker, or leave the scaling out");
}

std::optional<double> Options::checkpoint_interval_s(std::optional<double> mtbf_s, double cost_s) const {
  if (!checkpoint_every) return {};
  if (!checkpoints_by_rule()) return base::parse_quantity(*checkpoint_every, Unit::seconds);
  if (!mtbf_s) return {};
  return checkpoint_every == "young" ? young_interval_s(*mtbf_s, cost_s) : daly_interval_s(*mtbf_s, cost_s);
}

double Options::scaled_learning_rate(std::int64_t batch) const {
  if (!batch_size_per_worker) return learning_rate;
  const double P = static_cast<double>(batch) / static_cast<double>(*batch_size_per_worker);
  switch (learning_rate_scaling) {
    case RateScaling::linear:
      return learning_rate * P;
    case RateScaling::sqrt:
      return learning_rate * std::sqrt(P);
    case RateScaling::none:
      break;
  }
  return learning_rate;
}

double Options::rate_factor(double rounds) const {
  const double warmth = warmup_steps > 0 ? std::min((rounds + 1.0) / static_cast<double>(warmup_steps), 1.0) : 1.0;
  return schedule->factor(rounds) * warmth;
}

std::optional<std::int64_t> StopOptions::samples_of(double tokens_a_sample) const {
  if (!tokens) return samples;
  const auto of_tokens = static_cast<std::int64_t>(std::ceil(*tokens / tokens_a_sample));
  return samples ? std::min(*samples, of_tokens) : of_tokens;
}

void StopOptions::describe(base::Describer& d) {
  d.number(
      "loss", loss,
      "the target: the run ends at the first evaluation at or below it; replicas that are averaged from time to time "
      "reach it by an average");
  d.number("epochs", epochs, "the number of passes over the training rows",
           {.least = 0.0, .most = 1e9, .positive = true});
  d.integer("samples", samples, "the number of samples whose gradients are computed", Bounds::between(1, 1e15));
  d.number("tokens", tokens, "the number of tokens of gradient samples, where samples are text",
           {.least = 1.0, .most = 1e18});
  d.integer("steps", steps, "the number of updates; easgd counts exchanges with the centre, federated_averaging rounds",
            Bounds::between(1, 1e12));
  d.quantity("time", time_s, Unit::seconds, "the simulated time after which a run ends",
             {.least = 0.0, .most = 1e9, .positive = true});
  constexpr std::array rules{"loss", "epochs", "samples", "tokens", "steps", "time"};
  if (std::ranges::none_of(rules, [&](const char* rule) { return d.given(rule); }))
    d.refuse("stop",
             "[stop] needs at least one of loss, epochs, samples, tokens, steps, time: the run would never end");
  else if (std::ranges::none_of(rules.begin() + 1, rules.end(), [&](const char* rule) { return d.given(rule); }))
    d.refuse("loss", "a target alone may never be reached; add epochs, samples, tokens, steps or time as a limit");
}

void EvaluateOptions::describe(base::Describer& d) {
  d.integer("every_steps", every_steps,
            "the number of steps between evaluations (default 1, unless every_s is given); after 100,000 evaluations "
            "the interval doubles, and again after every 10,000 more",
            Bounds::at_least(1));
  d.quantity("every_s", every_s, Unit::seconds,
             "the simulated time between evaluations; after 100,000 evaluations the interval doubles, and again after "
             "every 10,000 more",
             Bounds::at_least(1e-9));
  d.choice("on", on, evaluation_sets, "the rows on which the loss is evaluated");
}

}  // namespace simgrad::training
