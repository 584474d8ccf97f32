/// The outcomes of an experiment's trials (counterfactuals.h), kept in its directory for the next command.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "record/record.h"

namespace simgrad::experiment {

/// The outcome of one trial.
struct Observed {
  double simulated_s = 0.0;
  std::int64_t samples = 0;
  std::int64_t crashes = 0;

  double samples_per_s() const { return simulated_s > 0.0 ? static_cast<double>(samples) / simulated_s : 0.0; }
};

Observed observed(const record::Record& record);

/// trials.json: the trials by the id of the changed run, and a checksum. A file that is not whole counts as none: its
/// trials take at most a fifth of the experiment's time.
class TrialStore {
 public:
  /// out: the results directory.  reads: whether trials count that an earlier command has left there.
  TrialStore(const std::string& out, bool reads);

  std::optional<Observed> find(const std::string& id) const;
  void add(const std::string& id, const Observed& seen);
  /// Writes the file if a trial was added.  Errors: EnvironmentError.
  void write();

 private:
  std::string file_;
  std::map<std::string, Observed> trials_;
  bool changed_ = false;
};

}  // namespace simgrad::experiment
