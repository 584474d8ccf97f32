/// Sums of the gradients of a host's devices on the first one, layer by layer, beside the backward pass.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "cluster/ranks/side_stream.h"
#include "collectives/split.h"
#include "training/worker.h"

namespace simgrad::strategies {

class SumsBeside {
 public:
  /// Called on the first device with the gradient, in which all stretches that have been called for are sums.
  using Then = std::function<void(const values::Tensor& so_far)>;

  /// devices: outlives this object.
  SumsBeside(const cluster::Communicator& devices, double number_bytes)
      : devices_(devices), number_bytes_(number_bytes), stream_(devices) {}

  /// The device's gradient g is complete in that stretch. Returns at once. then: in the order of the calls, during a
  /// later call of add() or finish().
  void add(const values::Tensor& g, const collectives::Stretch& stretch, Then then);
  /// Blocks until all sums have come. Returns the gradient.
  values::Tensor finish();

 private:
  static constexpr int nothing = -1;  ///< the task of an empty stretch
  struct Piece {
    collectives::Stretch stretch;
    int task = nothing;
    Then then;
  };
  void take_first();
  values::Tensor so_far() const;

  const cluster::Communicator& devices_;
  double number_bytes_;
  cluster::SideStream stream_;
  values::Tensor own_;                           ///< this device's gradient
  std::deque<Piece> pieces_;                     ///< whose sums nobody has taken yet
  std::map<std::int64_t, values::Tensor> sums_;  ///< by first number
};

}  // namespace simgrad::strategies
