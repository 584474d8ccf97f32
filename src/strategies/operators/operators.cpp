#include "strategies/operators/operators.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "strategies/operators/exhaustive.h"
#include "strategies/operators/operator_passes.h"
#include "strategies/operators/placements.h"
#include "strategies/operators/step_graph.h"
#include "training/parts/model_parts.h"

namespace simgrad::strategies {

namespace {

constexpr std::array placings{
    base::Choice{"greedy", "from the sources on, each operator goes to the device that finishes it first"},
    base::Choice{
        "heft",
        "by upward rank, each operator goes to the device that finishes it first, in a gap between others if it fits"},
    base::Choice{"balanced",
                 "contiguous stretches of operators, with flops as equal as possible, on devices 0, 1, ..."},
    base::Choice{"by_hand", "as `devices` says"},
    base::Choice{"exhaustive", "the least makespan of all placements and orders; for small graphs"}};

}  // namespace

void Operators::describe(base::Describer& d) {
  d.choice("placement", placement, placings, "how operators are assigned to devices");
  d.numbers("devices", devices,
            "placement = \"by_hand\": the worker of each operator, in the order of units (`simgrad explain layers "
            "SCENARIO` shows them; of a multitask_perceptron the shared layers, then the tasks)",
            base::Bounds::at_least(0));
  d.integer("micro_batches", micro_batches,
            "the number of parts of a step's batch that go through the graph one after the other, so that devices work "
            "at the same time; their gradients are added up",
            base::Bounds::between(1, 1e4));
  if (placement != Placing::by_hand && !devices.empty())
    d.refuse("devices", "devices places operators by hand; set placement = \"by_hand\", or leave devices out");
  if (placement == Placing::by_hand && devices.empty())
    d.refuse("placement", "placement = \"by_hand\" needs a worker for each operator; give devices = [0, ...]");
  if (placement == Placing::exhaustive && micro_batches > 1)
    d.refuse("micro_batches",
             "placement = \"exhaustive\" tries every order, of which micro-batches make too many; set micro_batches = "
             "1, or take heft");
}

Operators::Made Operators::make(const training::MemoryTerms& terms) const {
  std::vector<models::ModelOperator> units = models::operators_of(*terms.model, *terms.problem);
  const auto parts = static_cast<int>(micro_batches);
  const std::size_t count = units.size();
  const PlacementProblem problem = step_problem(terms, units, parts);
  const auto placed = [&] {
    switch (placement) {
      case Placing::greedy:
        return greedy(problem);
      case Placing::heft:
        return heft(problem);
      case Placing::balanced:
        return balanced(problem);
      case Placing::by_hand:
        return by_hand(problem, {devices.begin(), devices.end() - (tied(*terms.model, *terms.problem, count) ? 1 : 0)});
      case Placing::exhaustive:
        break;
    }
    return exhaustive(problem);
  };
  StepPlan plan(std::move(units), parts, placed());
  const SharedStep predicted = shared_step(plan, problem);
  return {.plan = std::move(plan), .predicted = predicted};
}

Traits Operators::traits(int P) const {
  Traits traits;
  traits.many_to_many = P > 1;
  traits.replicas_differ = true;
  traits.recoveries = {cluster::Recovery::restart};
  traits.cuts = [this, P](const training::MemoryTerms& whole) {
    made_ = std::make_shared<const Made>(make(whole));
    training::PerDimension sizes(1);
    sizes[training::Dimension::pipeline] = P;
    return training::MeshLayout{training::Mesh(sizes), made_->plan.chunks()};
  };
  return traits;
}

void Operators::operator()(Worker& worker) const {
  OperatorPasses passes(worker, made_->plan);
  worker.make_gradients_with(passes);
  const PlacedSchedule& schedule = made_->plan.placement();
  const SharedStep& step = made_->predicted;
  worker.report_predicted_step(step.duration_s);
  constexpr double worth_telling = 1.01;
  if (step.duration_s > worth_telling * schedule.makespan_s && worker.everyone().rank() == 0)
    worker.note(
        fmt::format("{} of {} messages of a step share links with others; the placement's cost model gives each its "
                    "whole path, and "
                    "has a step of {:.4g} s in place of {:.4g} s",
                    step.slowed, step.messages, schedule.makespan_s, step.duration_s));
  if (!schedule.proven && worker.everyone().rank() == 0)
    worker.note("the exhaustive search ended before it was complete; the placement is the best one that it found");
  State state = worker.start();
  while (worker.continues(state)) worker.update(state, worker.gradient(state.w));
  passes.finish_sends();  // SimGrid cancels the transfers of a rank that ends
}

}  // namespace simgrad::strategies
