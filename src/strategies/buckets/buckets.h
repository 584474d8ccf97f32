/// Buckets: layers whose gradients travel together, as soon as the backward pass has them.
///
/// Source: H. Zhang et al., "Poseidon: An Efficient Communication Architecture for Distributed Deep Learning on GPU
/// Clusters", USENIX ATC 2017 (wait-free backpropagation); S. Li et al., "PyTorch Distributed: Experiences on
/// Accelerating Data Parallel Training", VLDB 2020 (buckets).
#pragma once

#include <cstdint>
#include <functional>
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

/// The number of parameters of each bucket.
std::vector<std::int64_t> lengths_of(std::span<const Stretch> buckets);

/// The option `bucket_size`: a size, or "none".
void describe_bucket_size(base::Describer& d, std::optional<double>& bucket_bytes, std::string_view meaning);
/// The bytes of a number of a gradient on the wire: its code's where that is a format of numbers, else those of
/// training.wire.
double bytes_on_wire(const training::NumberBytes& bytes, const training::Compressor& compressor);

/// The reason why buckets cannot be updated one by one, or nothing.
std::optional<Refusal> bucket_updates_refusal(const Circumstances& circumstances);

/// Counts a unit's gradient in the worker's memory, which a pass is about to make. Returns its bytes.
double hold_gradient(const Worker& worker, std::size_t unit);

/// Says where buckets cannot overlap with anything, because the model is one piece.
void note_single_bucket(Worker& worker);

/// Buckets of a model's units, in the order of the parameters.
class UnitBuckets {
 public:
  /// bytes: a bucket of whole units has at least so many, but for that of the first layers.  number_bytes: of a number
  /// on the wire.  split: a bucket of more bytes is cut into equal ones that have at most so many.
  UnitBuckets(const std::vector<training::ModelUnit>& units, double bytes, double number_bytes, bool split);

  /// Buckets that stand one behind the other.
  struct Run {
    std::size_t first = 0;
    std::size_t end = 0;
  };

  std::size_t count() const { return stretches_.size(); }
  const Stretch& operator[](std::size_t bucket) const { return stretches_[bucket]; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  /// The buckets that hold the unit's parameters; one at least.
  Run of_unit(std::size_t unit) const { return of_unit_[unit]; }
  /// The buckets that the backward pass through that unit completes.
  Run completed_by(std::size_t unit) const { return completed_by_[unit]; }
  /// The parameters of a unit, out of those of the buckets that hold them.
  Tensor parameters(const training::ModelUnit& unit, std::size_t number,
                    const std::function<Tensor(std::size_t bucket)>& of_bucket) const;

 private:
  std::vector<Stretch> stretches_;
  std::vector<Run> of_unit_;
  std::vector<Run> completed_by_;
};

}  // namespace simgrad::strategies
