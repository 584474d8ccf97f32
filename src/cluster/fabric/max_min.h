/// Max-min fair sharing of links among flows.
///
/// Source: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2 (progressive filling).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace simgrad::cluster {

/// All flows have one weight. Only flows that are connected with a change by links are looked at again.
class MaxMinSharing {
 public:
  /// bandwidths: bytes a second of every link.  flow_limit: the most that a flow gets if it has no limit
  /// of its own.
  MaxMinSharing(std::vector<double> bandwidths, double flow_limit_bytes_per_s);

  /// Adds a link; links are numbered in the order in which they are added.
  void add_link(double bandwidth);
  /// Gives a link another bandwidth, above 0.
  void set_bandwidth(int link, double bandwidth);
  /// Adds a flow. The links must stay where they are until it is removed.  Returns its number; numbers of flows that
  /// are gone are given again.
  int add(std::span<const int> links) { return add(links, flow_limit_); }
  /// limit: the most that this flow gets, bytes a second.
  int add(std::span<const int> links, double limit);
  void remove(int flow);
  /// Shares anew what has changed, and tells every flow whose rate (bytes a second) is another now.
  void share(const std::function<void(int flow, double rate)>& changed);

 private:
  struct Flow {
    std::span<const int> links;
    double rate = 0.0;
    double limit = 0.0;
    double next = 0.0;    ///< the rate that is being found
    unsigned seen = 0;    ///< the last sharing that looked at it
    bool settled = true;  ///< whether its next rate is found
  };
  struct Link {
    double bandwidth = 0.0;
    std::vector<int> flows;
    double left = 0.0;  ///< that no settled flow takes
    int open = 0;       ///< flows that are not settled
    unsigned seen = 0;
  };
  double fair_share(int link) const;
  void look_around();
  void fill();
  void settle(int flow, double rate);
  /// Settles flows from `first` on whose limits are no more than a share.  Returns the first that is left.
  std::size_t settle_limited(std::size_t first, double share);

  std::vector<Link> links_;
  double flow_limit_;
  std::vector<Flow> flows_;
  std::vector<int> free_;
  std::vector<int> changed_links_;
  std::vector<int> near_flows_, near_links_;  ///< connected with a change
  std::vector<int> by_limit_;                 ///< the near flows, those with the least limits first
  unsigned sharing_ = 0;
};

}  // namespace simgrad::cluster
