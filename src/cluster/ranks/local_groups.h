/// A group's members by locality: on devices of one machine, on hosts of one rack.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace simgrad::cluster {

class World;

/// Positions in the group.
struct LocalGroups {
  std::vector<std::vector<int>> groups;  ///< each in the order of its members
  std::vector<int> group_of;             ///< by member
  bool even = true;                      ///< whether all groups are of one size

  const std::vector<int>& around(int member) const {
    return groups[static_cast<std::size_t>(group_of[static_cast<std::size_t>(member)])];
  }
};

/// The local groups of a world's communicators: found once for each.
class Localities {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;

  explicit Localities(const World& world) : world_(world) {}

  /// members: world ranks.  generation: ranks live where they lived in it.
  const LocalGroups& of(const Members& members, int generation);

 private:
  /// With the members, so that no others come to lie at their place.
  struct Known {
    Members members;
    LocalGroups groups;
  };

  const World& world_;
  std::map<std::pair<int, const std::vector<int>*>, Known> known_;
};

}  // namespace simgrad::cluster
