/// The log of a run. Tables, curves, prices and reports are views of the log.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/gradient_part.h"
#include "record/memory.h"
#include "record/serving.h"
#include "record/time_part.h"
#include "record/timeline.h"

namespace simgrad::record {

enum class Status { reached, stopped, diverged, failed };
std::string_view name(Status status);

/// One evaluation: the state after `step` updates, seen at `simulated_s`.
struct Evaluation {
  std::int64_t step = 0;
  double simulated_s = 0.0;
  std::int64_t samples = 0;           ///< gradient samples computed so far
  std::optional<double> loss = {};    ///< null in a timing-only run
  std::optional<double> metric = {};  ///< accuracy or r2
  std::optional<double> consensus_distance =
      {};  ///< sqrt(mean |w_i - mean w|^2) over the workers' replicas; null if none
  /// The share of choices of an expert that had no room, and the largest number of choices of one expert over the mean.
  /// Only for a model with experts, over its layers of them and the evaluated rows.
  std::optional<double> dropped_share = {}, expert_imbalance = {};
  std::optional<std::int64_t> bytes = {};   ///< payload of the messages that have been received; null in older files
  std::optional<double> flops = {};         ///< those computed to the end, without the stretch of stragglers
  std::optional<double> hosts_busy_s = {};  ///< the hosts' seconds of computing, added up
  std::optional<double> hosts_down_s = {};  ///< and of being down
  std::optional<double> energy_j = {};      ///< at the scenario's prices; null where hosts differ in power
};

/// The place of a rank in a mesh, and the time that goes to the other ranks of its replica.
struct MeshUse {
  std::optional<std::int64_t> tensor = {};    ///< the rank's place among those that share its products
  std::optional<std::int64_t> context = {};   ///< among those that share each sequence's tokens; null where none do
  std::optional<std::int64_t> expert = {};    ///< among those that share experts or tables; null where none do
  std::optional<std::int64_t> data = {};      ///< among those with the same part of the model
  std::optional<std::int64_t> pipeline = {};  ///< its stage
  std::optional<double> bubble_s = {};        ///< waiting for another stage: activations, derivatives, tied gradients
  std::optional<double> hop_s = {};           ///< in their transfers, and in sums of tied gradients
  std::optional<double> tensor_s = {};        ///< in collectives among the ranks that share products
  std::optional<double> context_s =
      {};                               ///< likewise, tokens: keys and values, their derivatives, a replica's gradients
  std::optional<double> expert_s = {};  ///< likewise, experts or tables: exchanges, a replica's gradients of all else
  std::optional<double> data_s = {};    ///< the strategy, among the ranks that it sums over; null where there is one
};

/// One rank's virtual time by activity, whose four parts add up to the run's time, and its traffic.
struct RankUse {
  std::string role;  ///< "worker" or "server"
  double compute_s = 0.0;
  double communicate_s = 0.0;
  double wait_s = 0.0;
  double down_s = 0.0;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::string host_class = "host";  ///< the class of the rank's host
  std::int64_t host = 0;            ///< the index of the rank's host in Record::hosts
  TimeParts parts = {};             ///< of the four, to each of which they add up; zeros in files of older releases
  std::optional<double> staleness_mean = {};  ///< of this worker's gradients; null where nothing is stale
  std::optional<double> memory_bytes = {};    ///< held at its peak
  std::array<std::optional<double>, memory_parts> memory = {};  ///< the parts of it then
  std::optional<double> memory_limit_bytes = {};  ///< the memory of the rank's device; null where that is not known
  GradientTimes gradient = {};                    ///< parts of TimePart::compute_gradient; null without a device
  MeshUse mesh = {};                              ///< null where the model is not cut
};

/// The use of one host, or of one device of a host of several, which is reserved for the whole run.
struct HostUse {
  std::string host_class = "host";
  std::int64_t host_number = 0;  ///< of the host in the cluster; devices of one host have the same
  double busy_s = 0.0;           ///< computing; with some of its cores only, in proportion
  double down_s = 0.0;
  bool serves = false;                    ///< true if no worker lives on the host
  bool spot = false;                      ///< true on the spot market: not paid while down
  std::optional<double> price_usd_per_h;  ///< as the cluster's options say
  std::optional<double> idle_w;
  std::optional<double> busy_w;
};

/// The traffic of one direction of a link.
struct LinkUse {
  std::string link;
  std::int64_t bytes = 0;
  double utilisation = 0.0;                           ///< share of the bandwidth, over the simulated time
  std::string link_class = "link";                    ///< "nic", "rack", ...: the class that has a price
  std::optional<std::int64_t> background_bytes = {};  ///< other traffic: in `utilisation`, not in `bytes`
};

/// The traffic of one link in one interval of time, other traffic included.
struct LinkBin {
  std::string link;
  double from_s = 0.0;
  double to_s = 0.0;
  double bytes = 0.0;
  double utilisation = 0.0;  ///< bytes / (bandwidth * (to - from))
};

/// One direction of a cable between two places. Only cables that messages went over are recorded.
struct CablingEdge {
  std::string link;  ///< as in LinkUse; a link that carries both directions has several wires
  std::string from;  ///< a host or a switch
  std::string to;
};

/// One kind of collective, over all its calls.
struct CollectiveUse {
  std::string name;  ///< "ring", "ring all_gather", "tree": the algorithm
  std::int64_t members = 0;
  std::int64_t bytes = 0;  ///< the size of one member's vector
  std::int64_t calls = 0;
  double predicted_s =
      0.0;  ///< time of one call on an idle network if all members arrive together: alpha, beta, gamma alone
  double simulated_s = 0.0;  ///< mean, from the arrival of the last member to the end of the last one
  double skew_s = 0.0;       ///< mean lateness of the last member, relative to the members' mean arrival
  /// Mean over members and calls, from a member's arrival to its end. Null in records of older releases.
  std::optional<double> duration_s = {};
  std::optional<double> exposed_s = {};  ///< mean of the part in which the member's main actor did nothing else
};

/// The traffic of one dimension of a mesh over links of one class.
struct DimensionUse {
  std::string dimension;  ///< "tensor", "data", "pipeline"
  std::string link_class;
  std::int64_t links = 0;        ///< directions of links of the class that carry bytes of the dimension
  std::int64_t bytes = 0;        ///< of the dimension on these links; a message counts on each link of its way
  double utilisation = 0.0;      ///< of these links by the dimension's bytes, mean
  double utilisation_max = 0.0;  ///< likewise of the busiest one
};

/// One block of the parameters that replicas synchronise by itself.
struct BlockUse {
  std::int64_t first = 0;               ///< where it begins among the parameters
  std::int64_t parameters = 0;          ///< how many it has
  std::int64_t synchronisations = 0;    ///< the steps in which all replicas made it equal
  double period = 0.0;                  ///< steps / synchronisations; 0: it never was
  std::optional<double> movement = {};  ///< at its last one, by the strategy's measure; null where none is measured
};

/// One source of a mixture at the last evaluation.
struct SourceScore {
  std::string name;
  std::optional<double> loss = {};  ///< the mean over its rows, without the source's weight
  std::string metric_name;          ///< "accuracy", "r2"
  std::optional<double> metric = {};
};

/// Work a second, of a run on devices or of one whose samples have tokens. Nothing else has these numbers.
struct Throughput {
  std::optional<double> tokens = {};  ///< whose gradients were computed
  std::optional<double> samples_per_s = {};
  std::optional<double> samples_per_s_per_device = {};  ///< a worker is a device
  std::optional<double> tokens_per_s = {};
  std::optional<double> tokens_per_s_per_device = {};
  std::optional<double> mfu = {};  ///< flops of the model / (time x the devices' peaks)
  std::optional<double> hfu = {};  ///< likewise of all that was computed for gradients, recomputation included
  std::optional<double> days_per_trillion_tokens = {};
  std::optional<double> dollars_per_trillion_tokens = {};  ///< at the scenario's prices
  std::optional<double> kwh_per_trillion_tokens = {};
};

/// Everything observed in one training.
struct Record {
  Status status = Status::stopped;
  std::string error;  ///< only when failed
  double simulated_s = 0.0;
  std::int64_t steps = 0;
  std::int64_t samples = 0;  ///< gradient samples computed
  /// Samples whose gradients are in the final state: without work that a recovery went back on. Null in records of
  /// older releases, which do not tell: then all of them.
  std::optional<std::int64_t> samples_seen = {};
  double epochs = 0.0;
  std::optional<double> final_loss;
  std::optional<double> time_to_target_s;
  /// The step of the first of a diverged run's last evaluations whose losses are of no use. Null in records of older
  /// releases.
  std::optional<std::int64_t> diverged_step = {};
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  /// Updates that were applied to the parameters between the read at which a gradient was computed and its
  /// application; null where nothing is stale.
  std::optional<double> staleness_mean;
  std::optional<double> staleness_max;
  std::optional<double> spectral_gap;
  std::optional<std::int64_t> crashes;            ///< crashes of hosts; null where no host can fail
  std::optional<double> lost_s;                   ///< time of work that was done again
  std::optional<double> recovery_s;               ///< time from crashes until all ranks work again
  std::optional<double> checkpoint_s;             ///< time of writing checkpoints
  std::optional<double> goodput;                  ///< the share of the time that is none of the three
  std::optional<double> server_imbalance = {};    ///< servers by key: the busiest one's bytes over the mean
  std::optional<double> cache_hit_rate = {};      ///< the share of the keys needed that a cache had
  std::optional<double> memory_bytes_max = {};    ///< the largest peak of a rank's memory
  GradientTimes gradient = {};                    ///< means over the workers; null without devices
  std::optional<double> bubble_s = {};            ///< MeshUse::bubble_s, mean over the ranks; null without stages
  std::optional<double> bubble_share = {};        ///< bubble_s as a share of simulated_s
  std::optional<double> dropped_share = {};       ///< at the last evaluation
  std::optional<double> expert_imbalance = {};    ///< likewise
  std::optional<double> loss_floor = {};          ///< the least expected loss of any model, where the data tell it
  std::optional<double> predicted_step_s = {};    ///< by a cost model: of a placement, or a layout that was found
  std::optional<double> prediction_error = {};    ///< predicted_step_s over the mean simulated step, less 1
  std::optional<double> synchronised_share = {};  ///< of all parameters in all steps; null without blocks
  std::optional<double> bytes_saved = {};         ///< that the others would have taken
  Throughput throughput = {};
  Serving serving = {};                                        ///< null in a run that trains
  std::map<std::int64_t, std::int64_t> staleness_counts = {};  ///< number of applications of a gradient by staleness
  std::string metric_name;                                     ///< "accuracy", "r2"; empty in a timing-only run
  std::string network_model;
  std::vector<std::string> notes;  ///< for the reader: a recovery, a warning
  std::vector<Evaluation> curve;
  std::vector<RankUse> ranks;  ///< workers 0 .. P-1, then servers
  std::vector<HostUse> hosts;  ///< in the order of the ranks that live on them
  std::vector<LinkUse> links;
  std::vector<LinkBin> link_bins = {};  ///< by link, then time; empty unless the scenario asks for them
  std::vector<CablingEdge> wires = {};  ///< the cabling of the links that were used
  std::vector<CollectiveUse> collectives = {};
  std::vector<ServedRequest> requests = {};   ///< in the order of their arrival; empty in a run that trains
  std::vector<DimensionUse> dimensions = {};  ///< empty where the model is not cut
  std::vector<BlockUse> blocks = {};          ///< empty where replicas are synchronised as a whole
  std::vector<SourceScore> sources = {};      ///< of a mixture; else empty
  std::int64_t stored_bytes = 0;         ///< held by a storage for the run: the data, and a checkpoint if there is one
  std::vector<Timeline> timelines = {};  ///< one for each that was asked for, written to files of their own
};

}  // namespace simgrad::record
