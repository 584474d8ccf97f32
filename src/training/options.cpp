#include "training/options.h"

#include <algorithm>
#include <array>

namespace simgrad::training {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array evaluation_sets{Choice{"train", "the training set"},
                                     Choice{"test", "the test set ([data] test_fraction)"}};

}  // namespace

void Options::describe(base::Describer& d) {
  d.integer_or("batch_size", batch_size, "full", "samples a step over all workers (strong scaling), or \"full\"",
               Bounds::at_least(1));
  d.integer("batch_size_per_worker", batch_size_per_worker, "samples a step and worker (weak scaling)",
            Bounds::at_least(1));
  d.component("optimizer", optimizer, "how a gradient becomes an update");
  d.number("learning_rate", learning_rate, "the step size", Bounds{.least = 0.0, .most = 1e6, .positive = true});
  d.component("schedule", schedule, "how the learning rate changes with the steps");
  d.component("partition", partition, "which rows are whose");
  d.flag("numbers", numbers, "false simulates the timing only: no data is made or read");
  d.integer("checkpoint_every_steps", checkpoint_every_steps,
            "how often the state is kept for a recovery; 0: only step 0", Bounds::at_least(0));
  if (batch_size_per_worker && d.given("batch_size"))
    d.refuse("batch_size_per_worker",
             "\"batch_size_per_worker\" contradicts \"batch_size\"; give the one that the experiment holds fixed");
}

void StopOptions::describe(base::Describer& d) {
  d.number("loss", loss, "the target: the run ends at the first evaluation at or below it");
  d.number("epochs", epochs, "passes over the training rows", {.least = 0.0, .most = 1e9, .positive = true});
  d.integer("samples", samples, "gradient samples", Bounds::between(1, 1e15));
  d.integer("steps", steps, "updates", Bounds::between(1, 1e12));
  d.quantity("time", time_s, Unit::seconds, "simulated", {.least = 0.0, .most = 1e9, .positive = true});
  constexpr std::array rules{"loss", "epochs", "samples", "steps", "time"};
  if (std::ranges::none_of(rules, [&](const char* rule) { return d.given(rule); }))
    d.refuse("stop", "[stop] needs at least one of loss, epochs, samples, steps, time: the run would never end");
  else if (std::ranges::none_of(rules.begin() + 1, rules.end(), [&](const char* rule) { return d.given(rule); }))
    d.refuse("loss", "a target alone may never be reached; add epochs, samples, steps or time as a limit");
}

void EvaluateOptions::describe(base::Describer& d) {
  d.integer("every_steps", every_steps, "an evaluation every so many steps (default 1, unless every_s is given)",
            Bounds::at_least(1));
  d.quantity("every_s", every_s, Unit::seconds, "an evaluation every so many simulated seconds",
             Bounds::at_least(1e-9));
  d.choice("on", on, evaluation_sets, "which rows");
}

}  // namespace simgrad::training
