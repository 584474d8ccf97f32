/// Faults of the servers of one cluster over some days, for hosts of any number.
///
/// Source of the layout: the faults that InfiniteHBD-Trace publishes (StepFun, with C. Shou et al., "InfiniteHBD:
/// Building Datacenter-Scale High-Bandwidth Domain for LLM with Optical Circuit Switching Transceivers", SIGCOMM 2025),
/// one fault a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/failures/process.h"

namespace simgrad::cluster {

inline constexpr std::string_view fault_header = "server,start_day,end_day,level,class";

/// Facts about the traced cluster that the scenario gives. One that is absent is read from the file's comment, as in
/// "# Faults of 231 of 400 servers ..., 348 days".
struct TracedCluster {
  std::optional<std::int64_t> servers;  ///< those without a fault included
  std::optional<double> days;           ///< a fault may end within the day after the last
};

class FaultTrace {
 public:
  /// Errors: EnvironmentError for a file that cannot be opened; ScenarioError `file:line:column: ...`.
  FaultTrace(const std::string& file, const TracedCluster& cluster);

  std::int64_t servers() const { return servers_; }
  /// The days given, or until the last fault ends.
  double days() const;
  /// Faults, those of one server that overlap counted as one.
  std::int64_t faults() const { return faults_; }
  /// Mean virtual seconds that a server is up between two faults; none without a fault.
  std::optional<double> mtbf_s() const;
  /// The mean share of servers that are down.
  double down_share() const;

  /// The outage number `count` of host `which`, in virtual seconds since the host's beginning. A host is one server of
  /// the trace, drawn by the seed: `servers` hosts are all servers once, twice as many all of them twice. It begins at
  /// a moment of the trace that the seed draws, up even if the server was down then, and the trace begins again after
  /// its end.
  std::optional<Outage> outage(int which, std::int64_t count, std::uint64_t seed) const;

 private:
  void read(const std::string& file, const TracedCluster& cluster);

  std::vector<std::vector<Outage>> of_server_;  ///< ascending, none overlap; servers with faults, in front
  std::int64_t servers_ = 0;
  std::int64_t faults_ = 0;
  double window_s_ = 0.0;
  double down_s_ = 0.0;  ///< over all servers
};

/// Whether the first line that is no comment is the header of faults.  Errors: EnvironmentError for a file that cannot
/// be opened.
bool has_faults(const std::string& file);

}  // namespace simgrad::cluster
