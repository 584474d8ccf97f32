#include "cluster/computed/beside_messages.h"

#include <algorithm>

#include "cluster/computed/collective_group.h"
#include "cluster/computed/contention_check.h"
#include "cluster/fabric/cluster.h"
#include "cluster/fabric/network_model.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

BesideMessages::BesideMessages(World& world, ContentionCheck* check)
    : world_(world),
      hosts_alone_(check == nullptr),
      own_numbers_(world.cluster()),
      numbers_(check ? check->numbers() : own_numbers_),
      under_way_(static_cast<std::size_t>(world.size())),
      present_(static_cast<std::size_t>(world.size())),
      left_out_until_s_(static_cast<std::size_t>(world.size())) {}

void BesideMessages::starts(UnderWay& message) {
  under_way_.add(message);
  for (const int rank : {message.source, message.target})
    for (const Present& presence : present(rank)) compare(rank, presence, message);
}

void BesideMessages::enter(std::size_t member, const CollectiveGroup& group,
                           const ComputedCollectives::Collective& collective) {
  const int rank = group.world_rank(member);
  const Present presence{member, &group, &collective};
  for (const Present& other : present(rank)) meet(rank, presence, other);
  for (const UnderWay* const message : under_way_.of(rank)) compare(rank, presence, *message);
  present(rank).push_back(presence);
}

namespace {

/// Calls visit(part) for each part that a member has in a collective.
template <class Visit>
void each_part_of(const CollectivePlan& plan, std::size_t member, const Visit& visit) {
  for (const PlannedPhase& phase : plan.phases)
    if (const PlannedPhase::Place place = phase.place(member); place.part != PlannedPhase::nowhere)
      visit(phase.parts[static_cast<std::size_t>(place.part)]);
}

}  // namespace

/// A collective beside one of another actor of the rank. ContentionCheck takes both for one actor, whose transfers are
/// apart.
void BesideMessages::meet(int rank, const Present& present, const Present& other) {
  if (present.group->members->size() < 2 || other.group->members->size() < 2) return;
  const std::optional<int> link = shared_link(present, other);
  if (!link) return;
  if (!leaves_out_) give_up_contended(world_, numbers_.name(*link));
  each_part_of(*present.collective->plan, present.member,
               [&](const PlannedPart& part) { add_left_out(rank, alone_s(part), *link); });
}

double BesideMessages::alone_s(const PlannedPart& part) {
  const auto [known, is_new] = alone_s_.try_emplace({part.costs, part.signature});
  if (is_new) known->second = part.timing->alone_s(*part.costs, part.group->members->size());
  return known->second;
}

/// The narrowest link on which both collectives of a rank are; nothing if there is none.
std::optional<int> BesideMessages::shared_link(const Present& one, const Present& other) {
  if (hosts_alone_) return links_between(one.group->world_rank(0), one.group->world_rank(1)).front();
  std::optional<int> narrowest;
  const auto consider = [&](std::optional<int> link) {
    if (link && (!narrowest || numbers_.bandwidth(*link) < numbers_.bandwidth(*narrowest))) narrowest = link;
  };
  each_part_of(*one.collective->plan, one.member, [&](const PlannedPart& a) {
    each_part_of(*other.collective->plan, other.member, [&](const PlannedPart& b) {
      const auto [known, is_new] = shared_by_.try_emplace({a.costs, b.costs});
      if (is_new) known->second = narrowest_of_both(links_of(a), links_of(b));
      consider(known->second);
    });
  });
  return narrowest;
}

std::optional<int> BesideMessages::narrowest_of_both(const Links& one, const Links& other) const {
  std::optional<int> narrowest;
  for (const int link : one)
    if (other.contains(link) && (!narrowest || numbers_.bandwidth(link) < numbers_.bandwidth(*narrowest)))
      narrowest = link;
  return narrowest;
}

void BesideMessages::add_left_out(int rank, double seconds, int link) {
  const double now = world_.now();
  double& until_s = left_out_until_s_[static_cast<std::size_t>(rank)];
  until_s = std::max(until_s, now) + seconds;
  left_out_s_ += std::max(0.0, until_s - std::max(all_left_out_until_s_, now));
  all_left_out_until_s_ = std::max(all_left_out_until_s_, until_s);
  if (left_out_on_.empty()) left_out_on_ = numbers_.name(link);
}

void BesideMessages::leave(int rank, const ComputedCollectives::Collective& collective) {
  std::erase_if(present(rank), [&](const Present& presence) { return presence.collective == &collective; });
}

void BesideMessages::clear() {
  for (std::vector<Present>& all : present_) all.clear();
}

void BesideMessages::compare(int rank, const Present& present, const UnderWay& message) {
  if (present.group->members->size() < 2) return;
  std::optional<int> link = shared_link(present, message.source, message.target, rank);
  // A message of one that stands for all members is each member's, to a rank that is as far away.
  if (present.collective->by_one)
    for (const int member : *present.group->members)
      if (!link) link = shared_link(present, message.source + member - rank, message.target + member - rank, member);
  if (!link) return;
  if (!leaves_out_) give_up_contended(world_, numbers_.name(*link));
  const double payload = payload_part(world_.cluster(), world_.host(message.source), world_.host(message.target));
  add_left_out(rank, message.bytes / (payload * numbers_.bandwidth(*link)), *link);
}

/// The narrowest link on which a member's message and the collective are; nothing if there is none.
std::optional<int> BesideMessages::shared_link(const Present& present, int source, int target, int member) {
  const std::vector<int>& of_message = links_between(source, target);
  if (of_message.empty()) return {};
  if (hosts_alone_) return member == source ? of_message.front() : of_message.back();
  std::optional<int> shared;
  for (const PlannedPhase& phase : present.collective->plan->phases)
    for (const PlannedPart& part : phase.parts)
      for (const int link : of_message)
        if (links_of(part).contains(link) && (!shared || numbers_.bandwidth(link) < numbers_.bandwidth(*shared)))
          shared = link;
  return shared;
}

const BesideMessages::Links& BesideMessages::links_of(const PlannedPart& part) {
  const auto [known, is_new] = links_.try_emplace(part.costs);
  if (!is_new) return known->second;
  const CollectiveGroup& group = *part.group;
  const std::vector at_once(group.members->size(), 0.0);
  for (const auto& [ends, sent] : part.timing->sent(group.apart, at_once, CollectiveTiming::uncut)) {
    const std::span<const int> links = group.apart.routes->between(ends.first, ends.second).links;
    known->second.insert(links.begin(), links.end());
  }
  return known->second;
}

const std::vector<int>& BesideMessages::links_between(int source, int target) {
  const auto [known, is_new] = between_.try_emplace({source, target});
  if (is_new && !world_.same_host(source, target))
    known->second = route_of_ranks(world_, source, target, numbers_).links;
  return known->second;
}

}  // namespace simgrad::cluster
