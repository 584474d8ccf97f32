/// Notifies a server's algorithm of lost workers and of returned ones.
#pragma once

namespace simgrad::strategies {

class WorkerWatcher {
 public:
  virtual ~WorkerWatcher() = default;
  virtual void is_lost(int worker) = 0;
  /// A worker asks for parameters: at the beginning, or because it has come back. It is answered next.
  virtual void comes_back(int worker) = 0;
};

}  // namespace simgrad::strategies
