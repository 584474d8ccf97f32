/// Members of a collective whose hosts go down in it.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace simgrad::cluster {

/// From then on the member does nothing more, and its transfers under way are broken.
struct Death {
  static constexpr double never = std::numeric_limits<double>::infinity();
  double at_s = never;
  double back_s = never;  ///< the host is up again, without the member: who calls it then waits for it
};

/// Those of the members of a group. A span or a transfer that ends at the time of a death does not end any more.
class Deaths {
 public:
  Deaths() = default;  ///< nobody dies
  explicit Deaths(std::vector<Death> by_member) : by_member_(std::move(by_member)) {}

  bool any() const { return !by_member_.empty(); }
  double at_s(int member) const { return any() ? of(member).at_s : Death::never; }
  /// Whether one that calls the member then finds it dead.
  bool is_down(int member, double now) const { return any() && of(member).at_s <= now && now < of(member).back_s; }
  /// Those at these positions, in their order; empty: of all members.  Nobody's where none of them dies.
  Deaths of_members(std::span<const int> positions) const {
    if (!any() || positions.empty()) return *this;
    std::vector<Death> theirs;
    bool dies = false;
    for (const int position : positions) {
      theirs.push_back(of(position));
      dies = dies || theirs.back().at_s < Death::never;
    }
    return dies ? Deaths(std::move(theirs)) : Deaths();
  }

 private:
  const Death& of(int member) const { return by_member_[static_cast<std::size_t>(member)]; }

  std::vector<Death> by_member_;
};

}  // namespace simgrad::cluster
