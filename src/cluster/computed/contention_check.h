/// Whether transfers of a world may share links, as far as collectives are computed there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "cluster/computed/link_claims.h"
#include "cluster/computed/network_routes.h"
#include "cluster/usage/sent.h"

namespace simgrad::cluster {

/// A group that computes a collective is on the links of its transfers for the rest of the run; so are ranks that send
/// each other a message. Where transfers of two of them may meet on a link, their times are not those of their own
/// recurrences: the run is given up, to be simulated message by message.
class ContentionCheck {
 public:
  using Members = std::shared_ptr<const std::vector<int>>;

  explicit ContentionCheck(World& world);

  std::shared_ptr<const MemberRoutes> routes(const Members& members);

  struct Decision {
    std::vector<int> shared_links;  ///< on which transfers of this collective may be at one time
    std::string meeting_on;         ///< a link on which there may be those of the group's other collectives, too
  };
  /// pairs: of members whose main actors send to each other.  at_once: each may send to several at a time.
  /// Errors: std::runtime_error where others may meet them; Cluster::contended_link() says where.
  Decision claim(int group, const std::vector<int>& members, const MemberRoutes& routes, const SentByPair& pairs,
                 bool at_once);
  /// A rank sends messages to another from now on.  side: by its side stream.  Errors: as claim.
  void message(int source, int target, bool side);

  LinkNumbers& numbers() { return numbers_; }

  /// Errors: std::runtime_error, always; Cluster::contended_link() says where.
  [[noreturn]] void give_up(const std::string& link);

 private:
  /// One that sends or receives a message at a time.
  int actor(int rank, bool side) const;
  void claim_message(int source, int target);
  void refuse_contended(const LinkClaims::Verdict& verdict);

  World& world_;
  LinkNumbers numbers_;
  LinkClaims claims_;
  std::unordered_set<std::uint64_t> known_messages_;  ///< source and target actors
  std::vector<std::uint64_t> messages_;               ///< likewise, in the order of their beginnings
  bool computes_ = false;                             ///< a collective was computed: messages are claimed
};

/// Gives the run up, for transfers that may meet on that link, to be simulated message by message.
/// Errors: std::runtime_error, always; Cluster::contended_link() says where.
[[noreturn]] void give_up_contended(World& world, const std::string& link);

}  // namespace simgrad::cluster
