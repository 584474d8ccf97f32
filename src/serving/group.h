/// The tensor ranks of a stage: what they exchange, and how long it takes on their links.
///
/// All ranks of a stage need the sum of each product's parts, so that they go through a layer together. A sum takes the
/// time of the all-reduce's schedule on the links between them; other groups' messages do not disturb it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "cluster/computed/alpha_beta_gamma.h"
#include "cluster/computed/collective_timing.h"
#include "collectives/timed_schedule.h"
#include "serving/line.h"
#include "serving/stage.h"
#include "values/wire_format.h"

namespace simgrad::cluster {
class World;
}

namespace simgrad::serving {

class Group {
 public:
  /// ranks: of the stage; the first one talks to other stages.
  Group(cluster::World& world, std::vector<int> ranks, const collectives::Allreduce& allreduce,
        values::WireFormat format);

  const std::vector<int>& ranks() const { return ranks_; }
  int leader() const { return ranks_.front(); }
  /// Seconds of `times` sums of so many numbers, which are counted as sent.
  double sum_s(std::int64_t numbers, double times);
  /// Seconds until all ranks have numbers that the first one has got: along a binomial tree, which is counted as sent.
  double spread_s(std::int64_t numbers);
  /// Posts all that was sent. Before the world's end.
  void post() const;
  /// The time of a sum.
  Line sum_line() const;
  /// The time until all ranks have numbers that the first one has got.
  Line spread_line() const;
  /// The time of a message from the first rank to another one.  number_bytes: of a number.
  Line message_line(int target, double number_bytes) const;
  double number_bytes() const { return format_.bytes_per_number; }

 private:
  struct Sum {
    std::shared_ptr<const cluster::CollectiveTiming> timing;
    double seconds = 0.0;
    double calls = 0.0;
  };
  Sum& sum(std::int64_t numbers);
  Sum made(std::int64_t numbers) const;
  double spread_alone_s(std::int64_t numbers) const;

  cluster::World& world_;
  std::vector<int> ranks_;
  const collectives::ScheduledAllreduce* allreduce_;
  values::WireFormat format_;
  cluster::AlphaBetaGamma costs_;
  std::map<std::int64_t, Sum> sums_;
  std::int64_t spread_bytes_ = 0, spread_calls_ = 0;
};

}  // namespace simgrad::serving
