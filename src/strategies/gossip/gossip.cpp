#include "strategies/gossip/gossip.h"

#include <array>

#include "strategies/gossip/neighbourhood.h"

namespace simgrad::strategies {

using base::Choice;

namespace {

constexpr std::array updates{
    Choice{"combine_then_adapt",
           "average the neighbours' parameters, then step with the gradient at the old ones (D-PSGD)"},
    Choice{"adapt_then_combine", "step first, then average"},
    Choice{"gradient_exchange", "average the neighbours' gradients, then step"}};

}  // namespace

void Gossip::describe(base::Describer& d) {
  describe_graph(d);
  d.choice("update", update, updates, "what is averaged, and when");
  describe_mixing(d);
  d.flag("overlap", overlap, "whether the parameters travel while the gradient at them is computed");
  if (overlap && update != GossipUpdate::combine_then_adapt)
    d.refuse("overlap",
             "overlap = true sends the parameters before there is a gradient, but update = \"adapt_then_combine\" and "
             "\"gradient_exchange\" send what the gradient makes; use update = \"combine_then_adapt\"");
  d.component(
      "compression", compression,
      "what is sent instead of gradients, or of parameters; a kind that would leave out most of these is of their "
      "differences to copies that neighbours hold (CHOCO-SGD)");
  d.number(
      "consensus_step", consensus_step,
      "gamma: how far parameters move towards the average of the copies; default 0.4, and less the more is left out",
      base::Bounds{.least = 0.0, .most = 1.0, .positive = true});
  const bool of_differences = coded() == CodedExchange::Of::differences;
  if (consensus_step && !of_differences)
    d.refuse("consensus_step",
             "consensus_step is of copies, which parameters have whose compression would leave most of them "
             "out; leave it out, or set compression = \"top_k\", say");
  if (of_differences && compression->error_feedback)
    d.refuse("compression",
             "error_feedback adds what one message leaves out to the next, but the copies that parameters are "
             "compressed against remember that already; set error_feedback = false");
  if (of_differences && !compression->says_how_far())
    d.refuse("compression",
             "scale = \"majority\" says in which direction and not how far, but parameters are averaged; set "
             "scale = \"l1_mean\", or update = \"gradient_exchange\"");
  if (!of_differences && update != GossipUpdate::gradient_exchange && compression->error_feedback)
    d.refuse("compression",
             "error_feedback adds what one message leaves out to the next, but each message of parameters is whole "
             "by itself; leave it out");
}

CodedExchange::Of Gossip::coded() const {
  if (update == GossipUpdate::gradient_exchange) return CodedExchange::Of::gradients;
  return compression->keeps_parameters() ? CodedExchange::Of::parameters : CodedExchange::Of::differences;
}

std::optional<Strategy::Unfit> Gossip::unfit(const Fit& fit) const {
  auto misfit = Mixes::unfit(fit);
  return misfit ? misfit : compression_misfit(compression, fit);
}

void Gossip::operator()(Worker& worker) const {
  const int P = worker.workers();
  const auto W = matrix(worker);
  const MixingRow& row = W->rows[static_cast<std::size_t>(worker.comm().rank())];
  const Neighbourhood neighbours(worker, row);
  CodedExchange coded_exchange(worker, row, neighbours, *compression, coded(), consensus_step.value_or(0.4));
  State state = neighbours.start();
  while (worker.continues(state)) {
    neighbours.welcome(state);
    const std::int64_t step = state.step;
    const Tensor x = state.w;
    CodedExchange::Sent beside;
    if (overlap) beside = coded_exchange.start(x, step);
    // A rank steps alone, so its part of the global mean counts P times.
    const Tensor g = P * worker.gradient(x);
    switch (update) {
      case GossipUpdate::combine_then_adapt:
        state.w = overlap ? coded_exchange.finish(std::move(beside)) : coded_exchange.combine(x, step);
        worker.update(state, g);
        break;
      case GossipUpdate::adapt_then_combine:
        worker.update(state, g);
        state.w = coded_exchange.combine(state.w, step);
        break;
      case GossipUpdate::gradient_exchange:
        worker.update(state, coded_exchange.combine(g, step));
        break;
    }
  }
}

}  // namespace simgrad::strategies
