/// The ledger of all bytes: by pair of ranks, and over time where somebody asks.
#pragma once

#include <cstdint>
#include <memory>

#include "cluster/fabric/background.h"
#include "cluster/usage/link_bins.h"
#include "cluster/usage/sent.h"

namespace simgrad::cluster {

class Cluster;
struct StandIns;

/// Messages and computed collectives are both posted here, once, at the end; links, hosts and ranks are read off it.
class Traffic {
 public:
  explicit Traffic(const Cluster& cluster);

  void post(int source, int target, const Sent& sent);
  /// Ranks that were not simulated have sent as their stand-ins have.
  void repeat(const StandIns& stand_ins);
  /// Counts bytes of a message, or of a collective that was computed, as soon as it is over.
  void count(std::int64_t bytes) { bytes_so_far_ += bytes; }
  std::int64_t bytes_so_far() const { return bytes_so_far_; }
  /// By ranks; a pair may have sent no byte.
  const SentByPair& by_ranks() const { return by_ranks_; }

  /// Begins the training's share of the background traffic: earlier bytes are not reported.
  void begin();
  /// Whether the use of links over time is kept.
  bool kept_over_time() const { return bins_ != nullptr; }
  /// Adds bytes of a message that went evenly from `start_s` to `end_s`, between two hosts.
  void spread(LinkBins::Ends hosts, double start_s, double end_s, std::int64_t bytes);
  /// The bins of links over time; null if nobody asks.
  const LinkBins* bins() const { return bins_.get(); }
  /// Adds the background bytes carried since the last call, spread evenly over that interval.
  void read_background();
  /// The background bytes by hosts, since the beginning, when last read.
  const Background::Carried& background() const { return background_; }

 private:
  const Cluster& cluster_;
  SentByPair by_ranks_;
  std::int64_t bytes_so_far_ = 0;
  std::unique_ptr<LinkBins> bins_;
  Background::Carried background_before_;
  Background::Carried background_;
  double background_read_s_ = 0.0;
};

}  // namespace simgrad::cluster
