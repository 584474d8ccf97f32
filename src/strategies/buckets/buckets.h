/// Buckets: layers whose gradients travel together, as soon as the backward pass has them.
///
/// Source: H. Zhang et al., "Poseidon: An Efficient Communication Architecture for Distributed Deep Learning on GPU
/// Clusters", USENIX ATC 2017 (wait-free backpropagation); S. Li et al., "PyTorch Distributed: Experiences on
/// Accelerating Data Parallel Training", VLDB 2020 (buckets).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/split.h"
#include "strategies/compression.h"
#include "strategies/strategy.h"
#include "training/learning/units.h"

namespace simgrad::strategies {

using collectives::Stretch;

/// Layers from the last on, in pieces of at least so many bytes of gradients; none: one piece.
std::vector<Stretch> buckets_of(std::span<const models::Layer> layers, std::optional<double> bytes,
                                double number_bytes);

/// The option `bucket_size`: a size, or "none".
void describe_bucket_size(base::Describer& d, std::optional<double>& bucket_bytes, std::string_view meaning);
/// The option `credits`: buckets of a rank that are under way at a time.
void describe_credits(base::Describer& d, std::int64_t& credits, const std::optional<double>& bucket_bytes);
inline constexpr std::int64_t default_credits = 1;

/// The bytes of a number of a gradient on the wire: its code's where that is a format of numbers, else those of
/// training.wire.
double bytes_on_wire(const training::NumberBytes& bytes, const training::Compressor& compressor);

/// The reason why buckets cannot be updated one by one, or nothing.
std::optional<Refusal> bucket_updates_refusal(const Circumstances& circumstances);

/// Counts a unit's gradient in the worker's memory, which a pass is about to make. Returns its bytes.
double hold_gradient(const Worker& worker, std::size_t unit);

/// Says where buckets cannot overlap with anything, because the model is one piece.
void note_single_bucket(Worker& worker);

/// Buckets of whole units of a model, in the order of the parameters.
class UnitBuckets {
 public:
  /// bytes: a bucket has at least so many, but for that of the first layers.  number_bytes: of a number on the wire.
  UnitBuckets(const std::vector<training::ModelUnit>& units, double bytes, double number_bytes);

  std::size_t count() const { return stretches_.size(); }
  const Stretch& operator[](std::size_t bucket) const { return stretches_[bucket]; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  std::size_t of_unit(std::size_t unit) const { return of_unit_[unit]; }
  /// Whether the backward pass through that unit completes its bucket.
  bool completes(std::size_t unit) const { return completes_[unit]; }

 private:
  std::vector<Stretch> stretches_;
  std::vector<std::size_t> of_unit_;
  std::vector<bool> completes_;
};

}  // namespace simgrad::strategies
