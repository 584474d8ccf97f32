/// The loss of a peer, as the ranks that communicate with it see it.
#pragma once

#include <stdexcept>

namespace simgrad::cluster {

/// Communication with a rank whose host is down. An event of the simulated world, handled by the recovery driver.
class PeerLost : public std::runtime_error {
 public:
  explicit PeerLost(int rank);
  int rank() const { return rank_; }

 private:
  int rank_;
};

}  // namespace simgrad::cluster
