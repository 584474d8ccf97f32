/// The shares of unlike hosts in a step's batch: by speed, within what their memory holds.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cluster/fabric/device.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

/// A worker, or the ranks of a cut model's replica, which compute their share of the rows together.
struct Sharer {
  static constexpr std::int64_t any_rows = std::numeric_limits<std::int64_t>::max();

  std::vector<double> relative;             ///< of its ranks: cluster.relative_speeds, over their work beside others'
  std::vector<int> hosts;                   ///< of its ranks
  double flops_per_s = 0.0;                 ///< of gradients, if all ranks were as its slowest one
  std::int64_t most_rows = any_rows;        ///< that the memory of all of its ranks holds
  std::optional<double> memory_bytes = {};  ///< of the rank whose memory is the fullest; nothing: not known
};

/// The hosts as shares see them.
struct HostPowers {
  std::function<double(int host)> speed;                   ///< flop/s
  std::function<const cluster::Device*(int host)> device;  ///< null: none
};
/// Whether rows are dealt by speed: several workers, or replicas of a cut model, share them, and the scenario says so.
bool deals_by_speed(const Settings& settings, const strategies::Strategy& strategy);

/// The hosts' powers in a scenario's topology, before the cluster is built.
HostPowers powers_of(const Settings& settings);

struct BatchShares {
  std::vector<Sharer> sharers;
  std::int64_t batch = 0;
  std::int64_t unit = 1;  ///< shares are multiples of it: a row in each micro-batch
  bool bounded = false;   ///< whether any sharer's memory is known

  std::int64_t rows_that_fit() const;
  /// Rows of each sharer, by speed and memory.  Errors: InvariantError unless the batch fits.
  std::vector<std::int64_t> by_speed() const;
  /// Rows of each sharer if all have as many, to within one.
  std::vector<std::int64_t> equal() const;
  std::vector<double> speeds() const;
  /// The bounds by sharer; empty if no memory is known.
  std::vector<std::int64_t> most_rows() const;
};

/// workers: ranks of the strategy.  hosts: of them; empty: rank r is on host r.  rows: of the training set.
BatchShares batch_shares(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
                         std::int64_t rows, const HostPowers& powers, const std::vector<int>& hosts = {});

/// The memory of a sharer's fullest rank with so many rows of a step.
double bytes_with_rows(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
                       std::int64_t rows, const BatchShares& shares, std::int64_t share);
/// Seconds of the passes of one of the sharer's ranks over so many rows: of a cut model an even part of the replica's
/// flops, without hops and waiting.
double passes_s(const Settings& settings, const models::Problem& problem, const HostPowers& powers,
                const Sharer& sharer, std::int64_t share);

/// A sentence for the notes of a run on its shares by speed, and one where memory bounds some of them.
std::vector<std::string> notes_on_shares(const Settings& settings, const models::Problem& problem,
                                         const HostPowers& powers, const BatchShares& shares);

/// The reason why a step's batch has no room in the hosts' memory, however it is dealt; or empty.
std::string shares_refusal(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows);

/// The class of a host, "host" where it is in none.
std::string class_name(const Settings& settings, int host);

}  // namespace simgrad::experiment
