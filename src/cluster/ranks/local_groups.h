/// A group's members by locality (on devices of one machine, on hosts of one rack), and by host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/describe.h"

namespace simgrad::cluster {

class Cluster;
class World;

/// The algorithm that was chosen for sums of one length among a group's members.
struct ChosenSum {
  std::shared_ptr<const base::Described> algorithm;  ///< of the registry that the one which chooses is in
  std::string name;
  std::int64_t bytes = 0;  ///< of a member's vector
  int members = 0;
};

/// Positions in the group.
struct LocalGroups {
  std::vector<std::vector<int>> groups;  ///< each in the order of its members
  std::vector<int> group_of;             ///< by member
  /// Devices of one machine are members of one host. In a locality that is a rack, every member is a host of its own.
  std::vector<std::vector<int>> hosts;
  std::size_t largest_host = 0;  ///< the first one of the most members
  std::vector<int> nic_of;       ///< by member: the number of its NIC among those of its host
  bool even = true;              ///< whether all groups are of one size
  /// By numbers and bytes of the vectors.
  mutable std::map<std::pair<std::int64_t, std::int64_t>, ChosenSum> chosen_sums;

  const std::vector<int>& around(int member) const {
    return groups[static_cast<std::size_t>(group_of[static_cast<std::size_t>(member)])];
  }
};

/// The local groups of members that are on these hosts, by member.
LocalGroups local_groups(const Cluster& cluster, const std::vector<int>& hosts);

/// The local groups of a world's communicators: found once for each.
class Localities {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;

  explicit Localities(const World& world) : world_(world) {}

  /// The one list of these members: groups are found by its address, without looking at the members.
  Members shared(std::vector<int> members);

  /// members: world ranks.  generation: ranks live where they lived in it.
  const LocalGroups& of(const Members& members, int generation);

  /// The choices for all groups so far.
  std::vector<ChosenSum> chosen_sums() const;

 private:
  struct ByContent {
    bool operator()(const Members& a, const Members& b) const { return *a < *b; }
  };

  const World& world_;
  std::set<Members, ByContent> shared_;
  std::map<std::pair<int, std::vector<int>>, LocalGroups> groups_;
  struct Known {
    Members members;  ///< kept, so that no other vector gets the same address
    const LocalGroups* groups = nullptr;
  };
  /// Found without looking at the members: those that are asked for first.
  std::map<std::pair<int, const std::vector<int>*>, Known> known_;
};

}  // namespace simgrad::cluster
