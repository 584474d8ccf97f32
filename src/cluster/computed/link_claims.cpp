#include "cluster/computed/link_claims.h"

#include <algorithm>

namespace simgrad::cluster {

bool LinkClaims::add(Claim& claim, const Claim& other) {
  if (claim.source != other.source) claim.source = several;
  if (claim.target != other.target) claim.target = several;
  if (claim.group != other.group) claim.group = several_groups;
  return claim.source != several || claim.target != several;
}

std::vector<int> LinkClaims::shared(std::span<const Transfer> transfers, bool at_once) {
  std::unordered_map<int, Claim> seen;
  std::vector<int> links;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    for (const int link : transfers[i].links) {
      const auto number = static_cast<int>(i);
      const Claim own{at_once ? number : transfers[i].source, at_once ? number : transfers[i].target, 0};
      const auto [at, fresh] = seen.try_emplace(link, own);
      if (!fresh && !add(at->second, own)) links.push_back(link);
    }
  std::ranges::sort(links);
  links.erase(std::ranges::unique(links).begin(), links.end());
  return links;
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
