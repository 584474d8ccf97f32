/// The memory that a rank holds as the run goes on, and its peak.
#pragma once

#include <algorithm>

#include "record/memory.h"

namespace simgrad::training {

using record::MemoryPart;
using record::MemoryParts;

class Ledger {
 public:
  void hold(MemoryPart part, double bytes) { set(part, now_[part] + bytes); }
  void release(MemoryPart part, double bytes) { now_[part] -= bytes; }
  /// Holds at least so much.
  void raise(MemoryPart part, double bytes) {
    if (bytes > now_[part]) set(part, bytes);
  }
  void set(MemoryPart part, double bytes) {
    now_[part] = bytes;
    if (now_.sum() > peak_.sum()) peak_ = now_;
  }
  double held(MemoryPart part) const { return now_[part]; }
  /// A rank begins anew: its memory is empty, and the peak stays.
  void clear() { now_ = {}; }

  /// The parts when their sum was largest.
  const MemoryParts& peak() const { return peak_; }

 private:
  MemoryParts now_, peak_;
};

}  // namespace simgrad::training
