#include "cluster/computed/contention_check.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>
#include <stdexcept>

#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"

namespace simgrad::cluster {

ContentionCheck::ContentionCheck(World& world) : world_(world), numbers_(world.cluster()) {}

int ContentionCheck::actor(int rank, bool side) const { return rank + (side ? world_.size() : 0); }

std::shared_ptr<const MemberRoutes> ContentionCheck::routes(const Members& members) {
  return std::make_shared<NetworkRoutes>(world_, members, numbers_);
}

void ContentionCheck::give_up(const std::string& link) { give_up_contended(world_, link); }

void give_up_contended(World& world, const std::string& link) {
  world.cluster().contended(link);
  throw std::runtime_error(
      fmt::format("transfers of collectives may meet on {}: they must go message by message", link));
}

void ContentionCheck::refuse_contended(const LinkClaims::Verdict& verdict) {
  if (verdict.contended) give_up(numbers_.name(*verdict.contended));
}

ContentionCheck::Decision ContentionCheck::claim(int group, const std::vector<int>& members, const MemberRoutes& routes,
                                                 const SentByPair& pairs, bool at_once) {
  if (!computes_)
    for (const std::uint64_t ends : messages_)
      claim_message(static_cast<int>(ends >> 32), static_cast<int>(ends & 0xffffffff));
  computes_ = true;
  std::vector<LinkClaims::Transfer> transfers;
  for (const auto& [ends, sent] : pairs)
    transfers.push_back({.source = actor(members[static_cast<std::size_t>(ends.first)], false),
                         .target = actor(members[static_cast<std::size_t>(ends.second)], false),
                         .links = routes.between(ends.first, ends.second).links});
  const LinkClaims::Verdict verdict = claims_.claim(transfers, group);
  refuse_contended(verdict);
  if (!verdict.meeting && !at_once) return {};
  Decision decision{.shared_links = LinkClaims::shared(transfers, at_once), .meeting_on = {}};
  const std::optional<int> first =
      decision.shared_links.empty() ? std::nullopt : std::optional(decision.shared_links.front());
  if (const std::optional<int> meeting = verdict.meeting ? verdict.meeting : first)
    decision.meeting_on = numbers_.name(*meeting);
  return decision;
}

void ContentionCheck::message(int source, int target, bool side) {
  const int from = actor(source, side), to = actor(target, side);
  const auto ends = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  if (!known_messages_.insert(ends).second) return;
  messages_.push_back(ends);
  if (computes_) claim_message(from, to);
}

void ContentionCheck::claim_message(int source, int target) {
  const auto rank = [&](int actor) { return actor % world_.size(); };
  if (world_.same_host(rank(source), rank(target))) return;
  const MemberRoute route = route_of_ranks(world_, rank(source), rank(target), numbers_);
  const LinkClaims::Transfer transfer{.source = source, .target = target, .links = route.links};
  refuse_contended(claims_.claim({&transfer, 1}, LinkClaims::messages));
}

}  // namespace simgrad::cluster
