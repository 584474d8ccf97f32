/// The memory of a rank, by what it is needed for.
#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>

namespace simgrad::record {

enum class MemoryPart : unsigned char {
  parameters,   ///< those that the rank keeps
  gradients,    ///< until the update
  optimizer,    ///< its vectors, and master copies of the parameters
  activations,  ///< kept for the backward pass, or computed again for it
  gathered,     ///< parameters of others, while a pass needs them
  buckets,      ///< gradients that are being reduced
  workspace,    ///< the strategy's own vectors
  count
};
inline constexpr auto memory_parts = static_cast<std::size_t>(MemoryPart::count);

/// Bytes by part.
class MemoryParts {
 public:
  double operator[](MemoryPart part) const { return bytes_[static_cast<std::size_t>(part)]; }
  double& operator[](MemoryPart part) { return bytes_[static_cast<std::size_t>(part)]; }
  double sum() const { return std::accumulate(bytes_.begin(), bytes_.end(), 0.0); }
  friend bool operator==(const MemoryParts&, const MemoryParts&) = default;

 private:
  std::array<double, memory_parts> bytes_{};
};

/// "parameters"
constexpr std::string_view name(MemoryPart part) {
  constexpr std::array<std::string_view, memory_parts> names{"parameters", "gradients", "optimizer", "activations",
                                                             "gathered",   "buckets",   "workspace"};
  return names.at(static_cast<std::size_t>(part));
}
/// "memory_parameters_bytes"
constexpr std::string_view field_name(MemoryPart part) {
  constexpr std::array<std::string_view, memory_parts> names{
      "memory_parameters_bytes", "memory_gradients_bytes", "memory_optimizer_bytes", "memory_activations_bytes",
      "memory_gathered_bytes",   "memory_buckets_bytes",   "memory_workspace_bytes"};
  return names.at(static_cast<std::size_t>(part));
}

}  // namespace simgrad::record
