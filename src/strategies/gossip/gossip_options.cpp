/// The options of gossip, and what it refuses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "strategies/buckets/buckets.h"
#include "strategies/circumstances.h"
#include "strategies/gossip/gossip.h"
#include "strategies/gossip/push_turns.h"

namespace simgrad::strategies {

using base::Choice;

namespace {

constexpr std::array gossip_updates{
    Choice{"combine_then_adapt",
           "ranks average their neighbours' parameters, then step with the gradient at the old ones (D-PSGD)"},
    Choice{"adapt_then_combine", "ranks step first, then average"},
    Choice{"gradient_exchange", "ranks average their neighbours' gradients, then step"}};

}  // namespace

void Gossip::describe_one_peer(base::Describer& d) {
  d.flag("one_peer", one_peer,
         "whether a rank sends to one neighbour per step, to each in turn, and averages half and half with the one "
         "that sends to it; false: it averages with all neighbours");
  if (!one_peer) return;
  if (mixing.kind() != "metropolis" || lazy)
    d.refuse(lazy ? "lazy" : "mixing",
             "one_peer = true averages half and half with one rank a step; leave mixing and lazy out");
  if (payload() == CodedExchange::Payload::differences)
    d.refuse("compression",
             fmt::format("compression = \"{}\" is of differences to copies that all neighbours hold at every step, but "
                         "with one_peer = true a step has one of them; use a kind that keeps all numbers, as "
                         "\"float16\" and \"int8\" do, or update = \"gradient_exchange\"",
                         compression.kind()));
}

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
              "how gradients, or parameters, are compressed before they are sent; a kind that would leave out most of "
              "the parameters is applied to their differences to copies that neighbours hold (CHOCO-SGD)");
  d.number("consensus_step", consensus_step,
           "gamma: how far parameters move towards the average of the copies; default: 0.4, and less if the "
           "compression leaves out more",
           base::Bounds{.least = 0.0, .most = 1.0, .positive = true});
  describe_one_peer(d);
  describe_bucket_size(d, bucket_bytes,
                       "smallest bucket, in bytes on the wire; neighbours exchange buckets of layers while the "
                       "backward pass continues; \"none\": one exchange of everything");
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

void Gossip::refuse_buckets(base::Describer& d) const {
  if (overlap)
    d.refuse("overlap",
             "overlap = true sends all parameters when the gradient begins, but bucket_size sends those of a bucket as "
             "the backward pass goes through it; leave one of them out");
  if (payload() == CodedExchange::Payload::differences)
    d.refuse("bucket_size",
             fmt::format("compression = \"{}\" is of differences to copies of whole replicas here; leave bucket_size "
                         "out, or set update = \"gradient_exchange\"",
                         compression.kind()));
}

std::optional<Refusal> Gossip::buckets_refusal(const Circumstances& circumstances) const {
  if (!bucket_bytes || update != GossipUpdate::adapt_then_combine) return {};
  return bucket_updates_refusal(circumstances);
}

std::optional<Refusal> Gossip::turns_refusal(const Circumstances& circumstances) const {
  if (!one_peer) return {};
  const int P = static_cast<int>(circumstances.workers);
  const MixingTurns W = PushTurns(std::make_shared<const Adjacency>(drawn(P, circumstances.seed)), true).matrices();
  const auto hears_one = [](const MixingRow& row) { return row.neighbours.size() == 1; };
  const auto all_hear_one = [&](const MixingMatrix& turn) { return std::ranges::all_of(turn.rows, hears_one); };
  if (P == 1 || (!W.empty() && std::ranges::all_of(W, all_hear_one))) return {};
  return Refusal{
      "one_peer",
      "with one_peer = true every rank must hear from exactly one other in each step, in at most 64 turns, as "
      "in graph = \"ring\", \"torus_2d\", \"hypercube\" and \"exponential\"; take one of these, or the "
      "strategy sgp, whose weights put the mean right on any graph"};
}

std::optional<Refusal> Gossip::refusal(const Circumstances& circumstances) const {
  auto refusal = Mixes::refusal(circumstances);
  if (!refusal) refusal = turns_refusal(circumstances);
  if (!refusal) refusal = buckets_refusal(circumstances);
  return refusal ? refusal : compression_refusal(compression, circumstances);
}

}  // namespace simgrad::strategies
