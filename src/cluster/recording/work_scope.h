/// Names for what is recorded.
#pragma once

#include "cluster/ranks/communicator.h"

namespace simgrad::cluster {

/// While it lives, transfers and idle times of the actor that calls are part of that work; the outermost one counts.
class WorkScope {
 public:
  WorkScope(const Communicator& communicator, record::Work work);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  void record_idle() const;

  const Communicator& communicator_;
  Track* track_;  ///< null: nobody records, or it is named already
};

}  // namespace simgrad::cluster
