/// The log of a run. Tables, curves, prices and reports are views of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/timeline.h"

namespace simgrad::record {

enum class Status { reached, stopped, diverged, failed };
std::string_view name(Status status);

/// One evaluation: the state after `step` updates, seen at `simulated_s`.
struct Evaluation {
  std::int64_t step = 0;
  double simulated_s = 0.0;
  std::int64_t samples = 0;                  ///< gradient samples computed so far
  std::optional<double> loss;                ///< null in a timing-only run
  std::optional<double> metric;              ///< accuracy or r2
  std::optional<double> consensus_distance;  ///< sqrt(mean |w_i - mean w|^2) over replicas; null where there is one w
};

/// Where one rank's virtual time went: the four parts add up to the run's.
struct RankUse {
  std::string role;  ///< "worker" or "server"
  double compute_s = 0.0;
  double communicate_s = 0.0;
  double wait_s = 0.0;
  double down_s = 0.0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::string host_class = "host";  ///< of the host it lives on
  std::int64_t host = 0;            ///< its place among the record's hosts
};

/// A host that was taken for the whole run.
struct HostUse {
  std::string host_class = "host";
  double busy_s = 0.0;  ///< computing: with some of its cores only, so much less
  double down_s = 0.0;
  bool serves = false;                    ///< no worker lives on it
  bool spot = false;                      ///< of the spot market: not paid while it is down
  std::optional<double> price_usd_per_h;  ///< what the cluster says of it
  std::optional<double> idle_w;
  std::optional<double> busy_w;
};

/// What one link (one direction of it) carried.
struct LinkUse {
  std::string link;
  std::int64_t bytes = 0;
  double utilisation = 0.0;                           ///< of its bandwidth, over the simulated time
  std::string link_class = "link";                    ///< "nic", "rack", ...: what it is priced as
  std::optional<std::int64_t> background_bytes = {};  ///< of other traffic, in `utilisation` but not in `bytes`
};

/// What one link carried in one interval of time, other traffic included.
struct LinkBin {
  std::string link;
  double from_s = 0.0;
  double to_s = 0.0;
  double bytes = 0.0;
  double utilisation = 0.0;  ///< bytes / (bandwidth * (to - from))
};

/// A link from one place to another, one direction of it: how hosts are cabled, as far as messages went.
struct Wire {
  std::string link;  ///< as in LinkUse; one that carries both directions has several wires, to and from itself
  std::string from;  ///< a host or a switch
  std::string to;
};

/// One kind of collective, over all its calls.
struct CollectiveUse {
  std::string name;  ///< "ring", "ring all_gather", "tree": the algorithm
  std::int64_t members = 0;
  std::int64_t bytes = 0;  ///< that each member brings
  std::int64_t calls = 0;
  double predicted_s =
      0.0;  ///< of one call on an idle network, if all members came together: alpha, beta and gamma alone
  double simulated_s = 0.0;  ///< mean, from the arrival of the last member to the end of the last one
  double skew_s = 0.0;       ///< mean, by how much the last member comes after the members' mean
};

/// Everything observed in one training.
struct Record {
  Status status = Status::stopped;
  std::string error;  ///< only when failed
  double simulated_s = 0.0;
  std::int64_t steps = 0;
  std::int64_t samples = 0;
  double epochs = 0.0;
  std::optional<double> final_loss;
  std::optional<double> time_to_target_s;
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  std::optional<double> staleness_mean;
  std::optional<double> staleness_max;
  std::optional<double> spectral_gap;
  std::optional<std::int64_t> crashes;          ///< of hosts; null where none can fail
  std::optional<double> lost_s;                 ///< of work that was done again
  std::optional<double> recovery_s;             ///< from crashes until all work again
  std::optional<double> checkpoint_s;           ///< of writing them
  std::optional<double> goodput;                ///< the share of the time that was none of the three
  std::optional<double> server_imbalance = {};  ///< of servers by key: bytes of the busiest one over their mean
  std::optional<double> cache_hit_rate = {};    ///< of keys that workers needed: the share that a cache had
  std::map<std::int64_t, std::int64_t> staleness_counts = {};  ///< gradients by their staleness
  std::string metric_name;                                     ///< "accuracy", "r2"; empty in a timing-only run
  std::string network_model;
  std::vector<std::string> notes;  ///< what a reader should know: a recovery, a warning
  std::vector<Evaluation> curve;
  std::vector<RankUse> ranks;  ///< workers 0 .. P-1, then servers
  std::vector<HostUse> hosts;  ///< in the order of the ranks that live on them
  std::vector<LinkUse> links;
  std::vector<LinkBin> link_bins = {};  ///< link by link, in time; empty where the scenario does not ask for them
  std::vector<Wire> wires = {};         ///< of the links that were used
  std::vector<CollectiveUse> collectives = {};
  std::int64_t stored_bytes = 0;  ///< that a storage holds for the run: the data, and a checkpoint if there is one
  std::vector<Timeline> timelines = {};  ///< as many as were asked for; files of their own
};

}  // namespace simgrad::record
