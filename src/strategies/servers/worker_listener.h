/// Notifies a server's algorithm of lost workers and of returned ones.
#pragma once

namespace simgrad::strategies {

class WorkerListener {
 public:
  virtual ~WorkerListener() = default;
  virtual void on_lost(int worker) = 0;
  /// A worker asks for parameters: at the beginning, or because it has come back. It is answered next.
  virtual void on_rejoin(int worker) = 0;
};

}  // namespace simgrad::strategies
