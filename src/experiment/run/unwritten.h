/// The files that could not be written.
#pragma once

#include <string>

#include "base/errors.h"
#include "experiment/run/runner.h"

namespace simgrad::experiment {

/// They are reported as they are found, or the first one is told and thrown at the end.
class Unwritten {
 public:
  explicit Unwritten(const RunnerOptions& options) : options_(options) {}

  void add(const std::string& fault) {
    if (options_.unwritten) options_.unwritten(fault);
    if (!options_.unwritten && first_.empty() && options_.tell) options_.tell(fault);
    if (first_.empty()) first_ = fault;
  }
  template <class Write>
  void attempt(Write write) {
    try {
      write();
    } catch (const base::EnvironmentError& fault) {
      add(fault.what());
    }
  }
  void raise_if_untold() const {
    if (!options_.unwritten && !first_.empty()) throw base::EnvironmentError(first_);
  }

 private:
  const RunnerOptions& options_;
  std::string first_;
};

}  // namespace simgrad::experiment
