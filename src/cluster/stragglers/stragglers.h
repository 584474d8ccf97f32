/// Slow ranks and hosts: drawn for each gradient of a rank, or a host's speed as a function of virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/random.h"
#include "base/registry.h"

namespace simgrad::cluster {

/// A gradient of nominal length t takes factor t + more_s instead.
struct Slowdown {
  double factor = 1.0;
  double more_s = 0.0;
};

/// From this time on the host runs at that multiple of its nominal speed; 0: it stands still.
struct SpeedChange {
  double at_s = 0.0;
  double factor = 1.0;
};

/// The changes of one host's speed, one after the other, their dates ascending. Before the first change the speed is
/// nominal.
class SpeedChanges {
 public:
  virtual ~SpeedChanges() = default;
  virtual std::optional<SpeedChange> next() = 0;  ///< nothing: there is no further one, ever
};

class Stragglers : public base::Described {
 public:
  std::vector<double> ranks;  ///< the workers concerned; empty: all

  /// Whether gradients are drawn.
  virtual bool draws() const { return false; }
  /// The stretch of one gradient of a rank; its stream is of that rank and step alone.
  virtual Slowdown draw(base::Stream& /*stream*/) const { return {}; }

  /// Whether hosts change their speed with time, which stretches all computations on them.
  virtual bool varies() const { return false; }
  virtual bool concerns_servers() const { return false; }
  /// Whether anything computes slower than at its nominal speed.
  bool disturbs() const { return draws() || varies(); }
  /// The changes of the host of that worker (a server: none); its stream is of that host alone.
  /// Errors: ScenarioError with file and line for what is wrong in a file.
  virtual std::unique_ptr<SpeedChanges> speed_changes(std::optional<int> /*worker*/,
                                                      const base::Stream& /*stream*/) const {
    return nullptr;
  }
  /// Files whose contents matter.
  virtual std::vector<std::string> files() const { return {}; }

  bool concerns(int worker) const;
  /// The reason why `ranks` are not workers 0 .. P-1, or empty.
  std::string refusal(std::int64_t workers) const;

 protected:
  void describe_ranks(base::Describer& d);
};

/// none, constant, log_normal, shifted_exponential, pareto, bimodal, megascale, markov, periodic, trace
const base::Registry<Stragglers>& stragglers();

}  // namespace simgrad::cluster
