#include "training/memory/formula.h"

#include <algorithm>
#include <cmath>

#include "training/memory/pass_memory.h"

namespace simgrad::training {

using record::MemoryPart;
using record::MemoryParts;

namespace {

double largest_micro_batch(std::int64_t rows, std::int64_t micro_batches) {
  return std::ceil(static_cast<double>(rows) / static_cast<double>(micro_batches));
}

/// The activations in memory while the backward pass is in each layer.
std::vector<double> activations_in_backward(const MemoryTerms& terms, std::int64_t micro_batches) {
  const std::vector<models::Layer>& layers = terms.layers;
  const double rows = largest_micro_batch(terms.rows, micro_batches);
  const auto kept = [&](std::size_t i, Recompute recompute) {
    return rows * kept_bytes(layers, i, recompute, terms.bytes);
  };
  std::vector<double> held(layers.size());
  double below = 0.0;  // kept by the units below, or by the layers below
  for (std::size_t i = 0; i < layers.size();) {
    std::size_t end = i + 1;
    while (terms.recompute == Recompute::full && end < layers.size() && layers[end].unit == layers[i].unit) ++end;
    double within = 0.0, keeps = 0.0;
    for (std::size_t j = i; j < end; ++j) {
      held[j] = below + (within += kept(j, Recompute::none));
      keeps += kept(j, terms.recompute);
    }
    below += keeps;
    i = end;
  }
  return held;
}

void take_larger(MemoryParts& peak, const MemoryParts& now) {
  if (now.sum() > peak.sum()) peak = now;
}

double chunk(double numbers, std::int64_t members) { return std::ceil(numbers / static_cast<double>(members)); }

/// Parameters of the units of passes first .. end - 1; pass k as UnitStream counts them.
double in_passes(const std::vector<ModelUnit>& units, std::size_t first, std::size_t end) {
  const std::size_t U = units.size();
  double numbers = 0.0;
  for (std::size_t k = first; k < std::min(end, 2 * U); ++k)
    numbers += static_cast<double>(units[k < U ? k : 2 * U - 1 - k].count);
  return numbers;
}

/// Gradients while the backward pass makes that of the layer whose parameters begin at `first`, where pieces are
/// dropped once they are reduced: the piece of the layer, the one before it, which is being reduced, and shards of
/// both. When a piece is complete, its shard takes the place of the piece before.
void drop_reduced(const MemoryTerms& terms, const ReplicaMemory& its, double first, MemoryParts& now,
                  MemoryParts& peak) {
  double piece_first = terms.parameters(), own = 0.0, before = 0.0, reduced = 0.0;
  for (std::size_t piece = its.dropped.size(); piece-- > 0 && first < piece_first;) {
    reduced += chunk(before = own, terms.workers);
    own = static_cast<double>(its.dropped[piece]);
    piece_first -= own;
  }
  const auto gradients = [&](double shard) {
    return terms.bytes.gradient * (its.micro_batches > 1 ? chunk(terms.parameters(), terms.workers) : shard);
  };
  if (first == piece_first) {
    now[MemoryPart::buckets] = terms.bytes.gradient * own;
    now[MemoryPart::gradients] = gradients(reduced + chunk(own, terms.workers));
    take_larger(peak, now);
  }
  now[MemoryPart::buckets] = terms.bytes.gradient * (before + piece_first + own - first);
  now[MemoryPart::gradients] = gradients(reduced);
}

}  // namespace

double MemoryTerms::parameters() const {
  return layers.empty() ? 0.0 : static_cast<double>(layers.back().first + layers.back().count);
}

MemoryParts replica_memory(const MemoryTerms& terms, const ReplicaMemory& its) {
  const double N = terms.parameters();
  MemoryParts now, peak;
  now[MemoryPart::parameters] = N * terms.bytes.parameter;
  now[MemoryPart::optimizer] = N * terms.optimizer_bytes() * its.optimizer_share;
  now[MemoryPart::buckets] = its.bucket_numbers * terms.bytes.gradient;
  const std::vector<double> activations = activations_in_backward(terms, its.micro_batches);
  double made = 0.0;  // numbers of gradients
  for (std::size_t i = terms.layers.size(); i-- > 0;) {
    made += static_cast<double>(terms.layers[i].count);
    now[MemoryPart::activations] = activations[i];
    if (its.dropped.empty())
      now[MemoryPart::gradients] = terms.bytes.gradient * (its.accumulates || terms.accumulates ? N : made);
    else
      drop_reduced(terms, its, N - made, now, peak);
    take_larger(peak, now);
  }
  return peak;
}

MemoryParts shard_memory(const MemoryTerms& terms, const ShardMemory& its) {
  const std::vector<ModelUnit> units = units_of(terms.layers);
  const std::size_t U = units.size();
  const double N = terms.parameters(), g = terms.bytes.gradient;
  const bool whole_gradient = its.no_sync && its.micro_batches > 1;
  MemoryParts now, peak;
  now[MemoryPart::parameters] = its.parameters_on_host ? 0.0 : chunk(N, its.group) * terms.bytes.parameter;
  now[MemoryPart::optimizer] = its.optimizer_on_host ? 0.0 : chunk(N, its.group) * terms.optimizer_bytes();
  const std::vector<double> activations = activations_in_backward(terms, its.micro_batches);
  double reduced = 0.0;
  for (std::size_t k = U; k < 2 * U; ++k) {
    const std::size_t u = 2 * U - 1 - k;
    const double gathered = its.reshard_after_forward ? in_passes(units, k, k + static_cast<std::size_t>(its.limit))
                                                      : static_cast<double>(units[u].first + units[u].count);
    now[MemoryPart::gathered] = its.group > 1 ? terms.bytes.parameter * gathered : 0.0;
    const auto own = static_cast<double>(units[u].count);
    const double above = u + 1 < U ? static_cast<double>(units[u + 1].count) : 0.0;
    now[MemoryPart::buckets] = whole_gradient ? 0.0 : g * (own + above);
    const double shard = its.micro_batches > 1 && !its.no_sync ? chunk(N, its.group) : reduced;
    now[MemoryPart::gradients] = g * (shard + (whole_gradient ? N : 0.0));
    for (std::size_t i = units[u].first_layer; i < units[u].first_layer + units[u].layers; ++i) {
      now[MemoryPart::activations] = activations[i];
      take_larger(peak, now);
    }
    reduced += chunk(own, its.group);
  }
  return peak;
}

MemoryParts server_memory(const MemoryTerms& terms, double share) {
  MemoryParts parts;
  const double N = terms.parameters() * share;
  parts[MemoryPart::parameters] = N * terms.bytes.parameter;
  parts[MemoryPart::gradients] = N * terms.bytes.gradient;
  parts[MemoryPart::optimizer] = N * terms.optimizer_bytes();
  return parts;
}

}  // namespace simgrad::training
