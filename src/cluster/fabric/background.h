/// Background traffic: flows between hosts of the cluster that are no part of the training.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/describe.h"

namespace simgrad::cluster {

class Cluster;

/// One [[cluster.background]].
struct BackgroundFlow : base::Described {
  std::int64_t from = 0;
  std::int64_t to = 1;
  std::optional<double> rate_bytes_per_s;  ///< none: as much as it gets
  std::optional<double> on_s;              ///< none: always
  double off_s = 0.0;
  double start_s = 0.0;
  enum class Durations { constant, exponential } durations = Durations::constant;

  void describe(base::Describer& d) override;
};

/// The flows of a run: they begin with the engine and end with its last training. Each shares links as one more flow.
class Background {
 public:
  /// Errors: std::runtime_error for hosts that the run does not have.
  Background(Cluster& cluster, const std::vector<BackgroundFlow>& flows, std::uint64_t seed);
  ~Background();

  /// Bytes that the flows have carried so far, by their hosts.
  using Carried = std::map<std::pair<int, int>, double>;
  Carried carried() const;

 private:
  struct Flow;
  void send(Flow& flow);
  static void receive(Flow& flow);

  Cluster& cluster_;
  std::vector<std::unique_ptr<Flow>> flows_;
};

}  // namespace simgrad::cluster
