#include "strategies/gossip/gossip.h"

#include <array>
#include <utility>

#include "strategies/buckets/buckets.h"
#include "training/worker.h"

namespace simgrad::strategies {

using base::Choice;

namespace {

constexpr std::array gossip_updates{
    Choice{"combine_then_adapt",
           "average the neighbours' parameters, then step with the gradient at the old ones (D-PSGD)"},
    Choice{"adapt_then_combine", "step first, then average"},
    Choice{"gradient_exchange", "average the neighbours' gradients, then step"}};

}  // namespace

void Gossip::describe(base::Describer& d) {
  describe_graph(d);
  d.choice("update", update, gossip_updates, "the vector that is averaged, and when");
  describe_mixing(d);
  d.flag("overlap", overlap, "whether the parameters travel while the gradient at them is computed");
  if (overlap && update != GossipUpdate::combine_then_adapt)
    d.refuse("overlap",
             "overlap = true sends the parameters before there is a gradient, but update = \"adapt_then_combine\" and "
             "\"gradient_exchange\" send what the gradient makes; use update = \"combine_then_adapt\"");
  d.component("compression", compression,
              "the code that is sent instead of gradients, or of parameters; a kind that would leave out most of these "
              "is of their "
              "differences to copies that neighbours hold (CHOCO-SGD)");
  d.number(
      "consensus_step", consensus_step,
      "gamma: how far parameters move towards the average of the copies; default 0.4, and less the more is left out",
      base::Bounds{.least = 0.0, .most = 1.0, .positive = true});
  describe_bucket_size(
      d, bucket_bytes,
      "neighbours exchange buckets of layers, of at least so many bytes on the wire, as the backward pass "
      "goes through them, beside the rest of it; \"none\": all at once");
  if (bucket_bytes) refuse_buckets(d);
  const bool of_differences = payload() == CodedExchange::Payload::differences;
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

CodedExchange::Payload Gossip::payload() const {
  using Payload = CodedExchange::Payload;
  if (update == GossipUpdate::gradient_exchange) return Payload::gradients;
  return compression->keeps_parameters() ? Payload::parameters : Payload::differences;
}

Traits Gossip::traits(int P) const {
  Traits traits = Mixes::traits(P);
  // A rank that comes back has no copies of its neighbours.
  if (payload() != CodedExchange::Payload::differences && !bucket_bytes) traits.recoveries = training::every_recovery();
  return traits;
}

std::optional<Refusal> Gossip::refusal(const Circumstances& circumstances) const {
  auto refusal = Mixes::refusal(circumstances);
  if (!refusal) refusal = buckets_refusal(circumstances);
  return refusal ? refusal : compression_refusal(compression, circumstances);
}

void Gossip::operator()(Worker& worker) const {
  if (bucket_bytes) return step_in_buckets(worker);
  CodedExchange neighbours(worker, matrix(worker), *compression, payload(), consensus_step.value_or(0.4));
  State state = neighbours.start();
  while (worker.continues(state)) {
    const std::int64_t step = state.step;
    const Tensor x = state.w;
    CodedExchange::Sent beside;
    if (overlap) beside = neighbours.start(x, step);
    const Tensor g = worker.own_gradient(x);
    switch (update) {
      case GossipUpdate::combine_then_adapt:
        state.w = overlap ? neighbours.finish(std::move(beside)) : neighbours.combine(x, step);
        worker.update(state, g);
        break;
      case GossipUpdate::adapt_then_combine:
        worker.update(state, g);
        state.w = neighbours.combine(state.w, step);
        break;
      case GossipUpdate::gradient_exchange:
        worker.update(state, neighbours.combine(g, step));
        break;
    }
  }
}

}  // namespace simgrad::strategies
