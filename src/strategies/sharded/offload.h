/// Optimizer or parameters in the memory of the devices' host.
///
/// Source: J. Ren et al., "ZeRO-Offload: Democratizing Billion-Scale Model Training", USENIX ATC 2021.  Cost of an
/// update of N numbers: N g / link for the gradient (g bytes each), N u / host_bandwidth for the update (u: bytes that
/// it reads and writes), N p / link for the parameters (p bytes each); where the parameters stay on the host, a chunk
/// goes up before each of its all-gathers instead.
#pragma once

#include <optional>

#include "strategies/strategy.h"

namespace simgrad::strategies {

enum class Offload { none, optimizer, parameters };

struct HostMemory {
  Offload offload = Offload::none;
  std::optional<double> bandwidth_bytes_per_s;

  bool takes_optimizer() const { return offload != Offload::none; }
  bool takes_parameters() const { return offload == Offload::parameters; }

  /// The options `offload` and `host_bandwidth`.
  void describe(base::Describer& d);
  std::optional<Refusal> refusal(const Circumstances& circumstances) const;
  /// One update of this worker's shard, where its optimizer is.  squares: as for Worker::update.
  void update(Worker& worker, State& state, const Tensor& g, const Tensor& squares) const;
};

}  // namespace simgrad::strategies
