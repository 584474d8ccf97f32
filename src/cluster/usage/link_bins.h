/// Bytes between hosts over time, in bins whose width doubles whenever they would be too many.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace simgrad::cluster {

class LinkBins {
 public:
  using Ends = std::pair<int, int>;  ///< hosts: from, to

  explicit LinkBins(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Adds bytes that went evenly from `start_s` to `end_s`. The bins of two ends add up to all bytes added.
  void add(Ends ends, double start_s, double end_s, double bytes);

  double width_s() const { return width_s_; }
  /// Bytes in [i width, (i + 1) width).
  const std::map<Ends, std::vector<double>>& bytes() const { return bytes_; }

 private:
  void widen(double until_s);

  std::size_t most_;
  double width_s_ = 1e-6;
  std::map<Ends, std::vector<double>> bytes_;
};

}  // namespace simgrad::cluster
