#include "cluster/usage/link_bins.h"

#include <algorithm>

namespace simgrad::cluster {

void LinkBins::widen(double until_s) {
  while (until_s > width_s_ * static_cast<double>(most_)) {
    width_s_ *= 2.0;
    for (auto& [ends, bins] : bytes_) {
      for (std::size_t i = 0; i < bins.size(); ++i) {
        const double moved = std::exchange(bins[i], 0.0);
        bins[i / 2] += moved;
      }
    }
  }
}

void LinkBins::add(Ends ends, double start_s, double end_s, double bytes) {
  if (!(bytes > 0.0)) return;
  widen(end_s);
  auto& bins = bytes_.try_emplace(ends, std::vector<double>(most_, 0.0)).first->second;
  const auto bin = [&](double at) { return std::min(static_cast<std::size_t>(at / width_s_), most_ - 1); };
  const std::size_t first = bin(start_s), last = bin(end_s);
  double left = bytes;
  for (std::size_t i = first; i < last; ++i) {
    const double from = std::max(start_s, static_cast<double>(i) * width_s_);
    const double part = bytes * (static_cast<double>(i + 1) * width_s_ - from) / (end_s - start_s);
    bins[i] += part;
    left -= part;
  }
  bins[last] += left;
}

}  // namespace simgrad::cluster
