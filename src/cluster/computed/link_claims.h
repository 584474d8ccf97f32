/// The transfers that each link carries in a world: whether two of them may ever be on it at one time.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace simgrad::cluster {

/// In a collective an actor sends one message at a time and receives one at a time, and it enters a collective when no
/// message of its own is under way. So two transfers from one end, or to one end, are never under way together, and the
/// transfers of a link are apart as long as all of them come from one end, or all go to one.
class LinkClaims {
 public:
  struct Transfer {
    int source = 0;  ///< an actor: a rank's main one, or that of its side stream
    int target = 0;
    std::span<const int> links;
  };
  /// The links on which two of these transfers may meet. Remembers nothing.  at_once: an end may have several of them
  /// under way, each with another end.
  static std::vector<int> shared(std::span<const Transfer> transfers, bool at_once = false);

  /// The group whose transfers are ordinary messages, which need not be apart.
  static constexpr int messages = -2;

  struct Verdict {
    std::optional<int> meeting;    ///< a link on which they may meet each other, or earlier ones of the group
    std::optional<int> contended;  ///< a link on which they may meet those of another group
  };
  /// The transfers of a group are on these links from now on.
  Verdict claim(std::span<const Transfer> transfers, int group);

 private:
  static constexpr int several = -1;         ///< ends
  static constexpr int several_groups = -1;  ///< groups
  struct Claim {
    int source = several;
    int target = several;
    int group = 0;
  };
  /// Whether the transfers of both are apart.
  static bool add(Claim& claim, const Claim& other);

  std::unordered_map<int, Claim> claims_;  ///< by link
};

}  // namespace simgrad::cluster
