/// Flows that share links fairly, many of which are alike: the time at which each ends.
///
/// Flows are of one kind if they begin together, are equally long and have one limit, and if they are on links of the
/// same kinds; links are of one kind if they are equally wide and have the same numbers of flows of each kind. Max-min
/// fair rates are unique, so that flows of one kind have one rate always, and kinds alone are shared out.
/// Sources: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2 (progressive filling); A. Cardon, M.
/// Crochemore, "Partitioning a graph in O(|A| log2 |V|)", 1982 (the coarsest such partition).
/// Cost: flows x links x rounds of refinement, then kinds x links for each instant at which flows begin or end.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace simgrad::collectives {

class KindsOfFlows {
 public:
  struct Flow {
    double start_s = 0.0;  ///< when its bytes begin to move
    double bytes = 0.0;
    double limit = std::numeric_limits<double>::infinity();  ///< of its rate, bytes a second
  };

  /// Links are numbered in the order in which they are added, before or after the flows that are on them.
  void add_link(double bandwidth) { bandwidths_.push_back(bandwidth); }
  void add(const Flow& flow, std::span<const int> links);
  /// By flow, in the order in which they were added.
  std::vector<double> ends_s();

 private:
  /// A kind of flows on a kind of links.
  struct Passing {
    int other = 0;       ///< the kind of flows, or of links
    double flows = 0.0;  ///< on one such link
  };
  struct FlowKind {
    Flow flow;
    std::vector<Passing> links;
    double left = 0.0;  ///< bytes of each
    double rate = 0.0;
    double since_s = 0.0;  ///< when `left` was right
    double end_s = std::numeric_limits<double>::infinity();
    bool settled = true;  ///< whether its next rate is found
  };
  struct LinkKind {
    double bandwidth = 0.0;
    std::vector<Passing> flows;
    double left = 0.0;  ///< that no settled flow takes
    double open = 0.0;  ///< flows that are not settled

    double fair_share() const { return left > 0.0 ? left / open : 0.0; }
  };

  std::span<const int> links_of(std::size_t flow) const;
  void refine();
  void make_kinds();
  void find_links_of_kinds();
  void run();
  /// Finds the rates of the kinds that are under way.
  void share(double now);
  void open_links();
  void settle(FlowKind& kind, double rate, double now);
  FlowKind& kind(int number) { return kinds_[static_cast<std::size_t>(number)]; }
  LinkKind& link_kind(int number) { return link_kinds_[static_cast<std::size_t>(number)]; }

  std::vector<double> bandwidths_;
  std::vector<Flow> flows_;
  std::vector<int> links_;           ///< of all flows, one behind the other
  std::vector<std::size_t> begins_;  ///< by flow
  std::vector<int> kind_of_flow_, kind_of_link_;
  std::vector<FlowKind> kinds_;
  std::vector<LinkKind> link_kinds_;
  std::vector<int> active_;      ///< kinds of flows that are under way
  std::vector<int> open_links_;  ///< kinds of links on which they are
};

}  // namespace simgrad::collectives
