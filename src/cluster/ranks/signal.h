/// A signal from one actor to another of the same program, which takes no virtual time.
#pragma once

#include <memory>

namespace simgrad::cluster {

class Signal {
 public:
  Signal();
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// Blocks the calling actor until the signal is given, unless it has been since the last wait.
  void wait();
  /// Takes no virtual time. A signal that is given twice before it is awaited is given once.
  void give();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace simgrad::cluster
