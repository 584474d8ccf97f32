/// Hosts in reserve, which take the places of hosts that are lost.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace simgrad::training {

/// Servers and the places in the cluster that they have. Server i begins in place i; those behind the last place are
/// the spares. A server that is repaired is a spare from then on. A spare is cabled as the one that it replaces.
class Spares {
 public:
  Spares(int places, int spares);

  int servers() const { return static_cast<int>(place_of_.size()); }
  /// The server in that place; nothing while there is none.
  std::optional<int> server_in(int place) const;
  /// A server goes down.  back: whether it will be repaired.  Returns the place that lacks one now, if it had one.
  std::optional<int> down(int server, bool back);
  void repaired(int server);
  /// Gives spares to places that lack a server, the lowest numbers first. Returns these places.
  std::vector<int> fill();

  /// Whether a place lacks a server; and whether a server is still to be repaired.
  bool lacking() const { return !lacking_.empty(); }
  bool expects() const { return in_repair_ > 0; }

 private:
  std::vector<std::optional<int>> place_of_;   ///< by server
  std::vector<std::optional<int>> server_of_;  ///< by place
  std::set<int> free_;
  std::set<int> lacking_;
  int in_repair_ = 0;
};

}  // namespace simgrad::training
