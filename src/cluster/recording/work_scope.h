/// Names for the work that timelines show.
#pragma once

#include "record/timeline.h"

namespace simgrad::cluster {

class Communicator;
class Track;

/// While it lives, transfers and idle times of the calling actor are part of that work; the outermost one counts. A
/// checkpoint, a restart and a turn are causes of waiting, too.
class WorkScope {
 public:
  WorkScope(const Communicator& communicator, record::Work work);
  ~WorkScope();
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  void record_idle() const;

  const Communicator& communicator_;
  Track* track_;  ///< null: nobody records, or its work is named already
  bool is_cause_ = false;
  int exceptions_;
};

/// While it lives, the calling actor works on that micro-batch, or waits for it.
class MicroBatchScope {
 public:
  MicroBatchScope(const Communicator& communicator, int micro);
  ~MicroBatchScope();
  MicroBatchScope(const MicroBatchScope&) = delete;
  MicroBatchScope& operator=(const MicroBatchScope&) = delete;

 private:
  const Communicator& communicator_;
};

}  // namespace simgrad::cluster
