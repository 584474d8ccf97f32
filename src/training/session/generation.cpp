#include "training/session/generation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cluster/ranks/peer_lost.h"
#include "cluster/stand_ins.h"
#include "training/learning/learning.h"
#include "training/optimizers/optimizer.h"
#include "training/parts/model_parts.h"

namespace simgrad::training {

using values::Tensor;

namespace {

std::vector<int> members_of(const Generation::Terms& terms, const std::vector<bool>& alive) {
  std::vector<int> members;
  const int devices = terms.traits.devices_a_worker;
  for (int rank = 0; std::cmp_less(rank, alive.size()); rank += rank < terms.workers ? devices : 1)
    if (alive[static_cast<std::size_t>(rank)] || (terms.lost_stay && rank < terms.workers)) members.push_back(rank);
  return members;
}

}  // namespace

Generation::Generation(int number, const Terms& terms, const std::vector<bool>& alive, Snapshots* source,
                       const Generation* before)
    : number_(number),
      terms_(terms),
      members_(std::make_shared<const std::vector<int>>(members_of(terms, alive))),
      reporters_(simulated_members()),
      workers_(static_cast<int>(std::ranges::lower_bound(*members_, terms.workers) - members_->begin())),
      shards_(dealt()),
      source_(source),
      start_step_(source ? *source->complete_step() : 0),
      resumes_whole_(everybody_is_kept(alive)) {
  if (terms_.traits.deals_parameters() && source && before && before->shards().servers() != shards_.servers())
    deal_again(source->states(), before->shards());
  if (source)
    for (const auto& [rank, state] : source->states())
      if (source->memory_of(rank) == rank) kept_.push_back(rank);
  if (source && terms_.parts) givers_ = givers();
}

Shards Generation::dealt() const {
  const bool deals = terms_.traits.deals_parameters();
  if (deals && terms_.traits.dealt_in_pieces)
    return {servers(), terms_.traits.dealt_in_pieces(terms_.learning), terms_.learning.dispatcher()};
  return {deals ? terms_.traits.sharding : Sharding::range, deals ? servers() : 1, terms_.learning.parameters(),
          terms_.learning.dispatcher()};
}

void Generation::deal_again(Snapshots::States& kept, const Shards& before) const {
  const auto dealt_again = [&](const auto& vector_of) {
    std::vector<Tensor> parts;
    for (const auto& [rank, state] : kept) parts.push_back(vector_of(state));
    return shards_.split(before.whole(parts));
  };
  std::vector<State> states;
  for (const Tensor& part : dealt_again([](const State& state) { return state.w; }))
    states.push_back({.w = part, .step = start_step_, .optimizer_updates = kept.begin()->second.optimizer_updates});
  for (const auto vectors : {&State::optimizer, &State::own})
    for (std::size_t m = 0; m < (kept.begin()->second.*vectors).size(); ++m) {
      const std::vector<Tensor> parts = dealt_again([&](const State& state) { return (state.*vectors)[m]; });
      for (std::size_t j = 0; j < parts.size(); ++j) (states[j].*vectors).push_back(parts[j]);
    }
  kept.clear();
  for (std::size_t j = 0; j < states.size(); ++j) kept[reporter(static_cast<int>(j))] = std::move(states[j]);
}

bool Generation::everybody_is_kept(const std::vector<bool>& alive) const {
  if (!source_) return false;
  const Snapshots::States& kept = source_->states();
  return std::cmp_equal(kept.size(), reporters()) && std::ranges::all_of(kept, [&](const auto& each) {
           return std::ranges::binary_search(*members_, each.first) && alive[static_cast<std::size_t>(each.first)];
         });
}

std::vector<int> Generation::simulated_members() const {
  std::vector<int> simulated;
  if (!terms_.stand_ins) return simulated;
  std::ranges::copy_if(*members_, std::back_inserter(simulated),
                       [this](int rank) { return terms_.stand_ins->simulates(rank); });
  return simulated;
}

int Generation::reporters() const {
  if (!reporters_.empty()) return static_cast<int>(reporters_.size());
  switch (terms_.holder) {
    case Holder::workers:
      return workers_;
    case Holder::servers:
      return servers();
    case Holder::master:
    case Holder::memory:
      break;
  }
  return 1;
}

int Generation::reporter(int i) const {
  if (!reporters_.empty()) return reporters_[static_cast<std::size_t>(i)];
  const int first = terms_.holder == Holder::servers ? workers_ : 0;
  return (*members_)[static_cast<std::size_t>(first + i)];
}

std::size_t Generation::place(int rank) const {
  if (!reporters_.empty())
    return static_cast<std::size_t>(std::ranges::lower_bound(reporters_, rank) - reporters_.begin());
  if (terms_.holder == Holder::memory || terms_.holder == Holder::master) return 0;
  const auto at = std::ranges::lower_bound(*members_, rank) - members_->begin();
  return static_cast<std::size_t>(terms_.holder == Holder::servers ? at - workers_ : at);
}

bool Generation::was_kept(int rank) const { return std::ranges::binary_search(kept_, rank); }

std::vector<int> Generation::givers() const {
  std::vector<int> givers;
  for (int rank = 0; rank < terms_.workers; ++rank) {
    const std::optional<int> whose = stand_in_for(rank, source_->states());
    givers.push_back(whose ? source_->memory_of(*whose) : -1);
  }
  return givers;
}

int Generation::giver(int rank) const {
  const int giver = givers_.at(static_cast<std::size_t>(rank));
  if (giver < 0) throw cluster::PeerLost(source_->last_forgotten().value_or(rank));
  return giver;
}

/// The rank whose state a rank begins with; none if a crash has erased all that would do.
std::optional<int> Generation::stand_in_for(int rank, const Snapshots::States& kept) const {
  if (kept.empty()) return {};
  if (kept.contains(rank)) return rank;
  if (!terms_.parts) return kept.begin()->first;  // replicas are alike, and workers of a server have no state
  const std::vector<int>& with_its_part = *terms_.parts->workers_with(rank);
  const auto found = std::ranges::find_if(with_its_part, [&](int other) { return kept.contains(other); });
  return found == with_its_part.end() ? std::optional<int>() : *found;
}

State Generation::start_state(int rank) const {
  if (source_) {
    const Snapshots::States& kept = source_->states();
    const std::optional<int> whose = stand_in_for(rank, kept);
    if (!whose) throw cluster::PeerLost(source_->last_forgotten().value_or(rank));
    State state = kept.at(*whose);
    if (!resumes_whole_) state.joint = {};
    return state;
  }
  State state{.w = terms_.learning.initial_values()};
  if (terms_.parts) state.w = terms_.parts->of_whole(rank, state.w);
  if (terms_.traits.deals_parameters() && rank >= terms_.workers) state.w = shards_.split(state.w)[place(rank)];
  terms_.optimizer.start(state);
  terms_.learning.round(state);
  return state;
}

double Generation::rounds(std::int64_t step) const {
  const Traits& traits = terms_.traits;
  if (traits.lockstep() || traits.gradients_an_update == 0) return static_cast<double>(step);
  return static_cast<double>(step * traits.gradients_an_update) / workers_;
}

}  // namespace simgrad::training
