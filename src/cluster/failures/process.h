/// When a host or a link fails, and for how long.
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

/// From a failure until the end of it, in virtual seconds.
struct Outage {
  double down_s = 0.0;
  std::optional<double> up_s;  ///< none: it never comes back
};

/// The duration of a repair.
class Repair : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// None: it is never repaired.  Virtual seconds.
  virtual std::optional<double> duration(base::Stream& stream) const = 0;
  /// Its mean; none where there is no repair.
  virtual std::optional<double> mean_s() const = 0;
};

/// never, constant, exponential
const base::Registry<Repair>& repairs();

/// The failures of hosts or links, each of which fails by itself.
class FailureProcess : public base::Described {
 public:
  std::string only_class;  ///< the class of hosts or links that fail; empty: all

  virtual bool happens() const { return true; }
  /// Whether the process itself says when a failed host or link is back.
  virtual bool repairs() const { return false; }
  /// Whether hosts fail that have servers only.
  virtual bool concerns_servers() const { return true; }
  /// Whether the time to the next failure does not depend on how long a host has been up: it is exponential.
  virtual bool is_memoryless() const { return false; }
  /// Mean time between failures of one; none where there is no such number.
  virtual std::optional<double> mtbf_s() const { return {}; }
  /// The next failure of host or link number `which`, which has been up since `up_since_s` and has failed `count`
  /// times. draws: the key of that number and count alone.
  virtual std::optional<Outage> next(int which, std::int64_t count, double up_since_s, const base::Stream::Key& draws,
                                     const Repair& repair) const = 0;
  virtual std::vector<std::string> files() const { return {}; }
  /// The outages of each host, if they are known before the run; else none.  Errors: as check_files.
  virtual std::vector<std::vector<Outage>> known_outages() const { return {}; }
  /// Reads the files.  those: the number of hosts.  Errors: ScenarioError `file:line:column: ...`.
  virtual void check_files(std::int64_t /*those*/) const {}

 protected:
  void describe_class(base::Describer& d);
};

/// none, exponential, weibull, trace
const base::Registry<FailureProcess>& failure_processes();

}  // namespace simgrad::cluster
