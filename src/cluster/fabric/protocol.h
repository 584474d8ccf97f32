/// Protocols of messages: factors of latency and bandwidth by a message's size.
///
/// A message of m bytes between two hosts takes l(m) alpha + m / (b(m) B), where l and b are those of the row of the
/// table with the largest size that is at most m. Source: P.-N. Clauss et al., "Single Node On-Line Simulation of MPI
/// Applications with SMPI", IPDPS 2011 (factors piecewise in the size).
#pragma once

#include <span>
#include <vector>

#include "base/describe.h"
#include "base/registry.h"

namespace simgrad::cluster {

/// Messages of at least so many bytes, up to the next row's.
struct ProtocolRow : base::Described {
  double from_bytes = 0.0;
  double latency = 1.0;    ///< factor
  double bandwidth = 1.0;  ///< factor

  ProtocolRow() = default;
  ProtocolRow(double from, double of_latency, double of_bandwidth)
      : from_bytes(from), latency(of_latency), bandwidth(of_bandwidth) {}
  void describe(base::Describer& d) override;
  bool operator==(const ProtocolRow& other) const {
    return from_bytes == other.from_bytes && latency == other.latency && bandwidth == other.bandwidth;
  }
};

class Protocol : public base::Described {
 public:
  void describe(base::Describer&) override {}
  /// Ascending, the first one from 0 bytes on; empty: messages of all sizes are alike.
  virtual std::span<const ProtocolRow> rows() const = 0;

  bool there() const { return !rows().empty(); }
  /// The row of a message of so many bytes; factors of 1 where there is no table.
  ProtocolRow at(double bytes) const;
};

const base::Registry<Protocol>& protocols();

}  // namespace simgrad::cluster
