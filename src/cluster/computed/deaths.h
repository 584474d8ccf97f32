/// Members of a collective whose hosts go down in it.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace simgrad::cluster {

/// From then on the member does nothing more, and its transfers under way are broken.
struct Death {
  static constexpr double never = std::numeric_limits<double>::infinity();
  /// The host is up again for so long, without the member: who calls it then waits for it.
  struct Up {
    double from_s = 0.0;
    double to_s = never;
  };

  double at_s = never;
  std::vector<Up> up = {};  ///< by time

  bool is_down(double now) const {
    return at_s <= now && std::ranges::none_of(up, [&](const Up& is) { return is.from_s <= now && now < is.to_s; });
  }
};

/// The deaths of the members of a group. A span or a transfer that ends at the time of a death does not end any more.
class Deaths {
 public:
  Deaths() = default;  ///< nobody dies
  explicit Deaths(std::vector<Death> by_member) : by_member_(std::move(by_member)) {}

  bool any() const { return !by_member_.empty(); }
  double at_s(int member) const { return any() ? of(member).at_s : Death::never; }
  /// Whether one that calls the member then finds it dead.
  bool is_down(int member, double now) const { return any() && of(member).is_down(now); }
  /// The deaths of the members at these positions, in their order; no positions: of all members.  Where none of these
  /// dies, any() is false.
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
