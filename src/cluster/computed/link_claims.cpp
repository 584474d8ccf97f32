#include "cluster/computed/link_claims.h"

namespace simgrad::cluster {

bool LinkClaims::add(Claim& claim, const Claim& other) {
  if (claim.source != other.source) claim.source = several;
  if (claim.target != other.target) claim.target = several;
  if (claim.group != other.group) claim.group = several_groups;
  return claim.source != several || claim.target != several;
}

bool LinkClaims::apart(std::span<const Transfer> transfers) {
  std::unordered_map<int, Claim> seen;
  for (const Transfer& transfer : transfers)
    for (const int link : transfer.links) {
      const Claim own{transfer.source, transfer.target, 0};
      const auto [at, fresh] = seen.try_emplace(link, own);
      if (!fresh && !add(at->second, own)) return false;
    }
  return true;
}

LinkClaims::Verdict LinkClaims::claim(std::span<const Transfer> transfers, int group) {
  Verdict verdict;
  for (const Transfer& transfer : transfers)
    for (const int link : transfer.links) {
      const Claim own{transfer.source, transfer.target, group};
      const auto [at, fresh] = claims_.try_emplace(link, own);
      if (fresh || add(at->second, own)) continue;
      std::optional<int>& met = at->second.group == group ? verdict.meeting : verdict.contended;
      if (!met) met = link;
    }
  return verdict;
}

}  // namespace simgrad::cluster
