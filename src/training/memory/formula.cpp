#include "training/memory/formula.h"

#include <algorithm>
#include <cmath>
#include <functional>

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
      held[j] = below + (within += kept(j, Recompute::none)) + rows * layers[j].backward_bytes;
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

/// The parameters of units that are gathered at a time.
class GatheredUnits {
 public:
  GatheredUnits(const UnitVisits& visits, const std::vector<ModelUnit>& units, const ShardMemory& shard)
      : ends_(visits.ends_of_gathers(static_cast<std::size_t>(shard.limit), shard.reshard_after_forward, units)),
        gathered_(visits.count() + 1),
        dropped_(visits.count() + 1) {
    for (std::size_t k = 0; k < visits.count(); ++k) {
      const auto count = static_cast<double>(visits.gathered(k, shard.reshard_after_forward, units));
      gathered_[k + 1] = gathered_[k] + (shard.reshard_after_forward || visits.first(k) ? count : 0.0);
      dropped_[k + 1] = dropped_[k] + (shard.reshard_after_forward || visits.last(k) ? count : 0.0);
    }
  }
  /// begun: visits.  in_use: units of the last ones.
  double numbers(std::size_t begun, std::size_t in_use) const {
    return begun == 0 ? 0.0 : gathered_[ends_[begun - 1]] - dropped_[begun - in_use];
  }

 private:
  std::vector<std::size_t> ends_;
  std::vector<double> gathered_, dropped_;  ///< parameters until a visit
};

/// Gradients while the backward pass makes that of the layer, where pieces are dropped once they are reduced: the piece
/// of the layer, the one before it, which is being reduced, and shards of both, and a tied embedding's, until the
/// first layer has it. When a piece is complete, its shard takes the place of the piece before.
void drop_reduced(const MemoryTerms& terms, const ReplicaMemory& replica, std::size_t layer, MemoryParts& now,
                  MemoryParts& peak) {
  const auto first = static_cast<double>(terms.layers[layer].first);
  const auto tied = static_cast<double>(layer > 0 ? terms.layers.back().tied : 0);
  double piece_first = terms.parameters(), own = 0.0, before = 0.0, reduced = 0.0;
  for (std::size_t piece = replica.dropped.size(); piece-- > 0 && first < piece_first;) {
    reduced += chunk(before = own, terms.workers);
    own = static_cast<double>(replica.dropped[piece]);
    piece_first -= own;
  }
  const auto gradients = [&](double shard) {
    return terms.bytes.kept_gradient * (replica.micro_batches > 1 ? chunk(terms.parameters(), terms.workers) : shard);
  };
  if (first == piece_first) {
    now[MemoryPart::buckets] = terms.bytes.gradient * (own + tied);
    now[MemoryPart::gradients] = gradients(reduced + chunk(own, terms.workers));
    take_larger(peak, now);
  }
  now[MemoryPart::buckets] = terms.bytes.gradient * (before + piece_first + own - first + tied);
  now[MemoryPart::gradients] = gradients(reduced);
}

/// Whether micro-batches are reduced together: the first one makes the gradient unit by unit, all of it is in memory
/// until the last one's backward pass, and that gives up what it has reduced.
bool keeps_whole(const ShardMemory& shard) { return shard.no_sync && shard.micro_batches > 1; }

/// Activations when the forward pass has been through the layers of each unit.
std::vector<double> activations_in_forward(const MemoryTerms& terms, const std::vector<ModelUnit>& units,
                                           std::int64_t micro_batches) {
  const double rows = largest_micro_batch(terms.rows, micro_batches);
  std::vector<double> held;
  double sum = 0.0;
  for (const ModelUnit& unit : units) {
    for (std::size_t i = unit.first_layer; i < unit.first_layer + unit.layers; ++i)
      sum += rows * kept_bytes(terms.layers, i, terms.recompute, terms.bytes);
    held.push_back(sum);
  }
  return held;
}

/// Bytes of gradients, not counting the buckets of units that make theirs as they are reduced.
/// complete: parameters whose gradients are complete; of those, `reducing` are being reduced, and the others are
/// reduced. whole: gradients that are not reduced are in memory, too, of all parameters.
using GradientBytes = std::function<double(double complete, double reducing, bool whole)>;

MemoryParts shards_of_whole(const MemoryTerms& terms, const ShardMemory& shard, MemoryParts now,
                            const GradientBytes& gradients) {
  const std::vector<ModelUnit> units = units_of(terms.layers);
  const std::size_t U = units.size();
  const GatheredUnits gathered(UnitVisits::there_and_back(U), units, shard);
  const std::vector<double> activations = activations_in_backward(terms, shard.micro_batches);
  const std::vector<double> in_forward = activations_in_forward(terms, units, shard.micro_batches);
  const bool whole = keeps_whole(shard);
  const auto gathered_bytes = [&](std::size_t visits) {
    return shard.group > 1 ? terms.bytes.parameter * gathered.numbers(visits, 1) : 0.0;
  };
  MemoryParts peak;
  for (std::size_t u = 0; whole && u < U; ++u) {  // of the last micro-batch
    now[MemoryPart::gathered] = gathered_bytes(u + 1);
    now[MemoryPart::gradients] = gradients(0.0, 0.0, whole);
    now[MemoryPart::activations] = in_forward[u];
    take_larger(peak, now);
  }
  double begun = 0.0, complete = 0.0, reducing = 0.0;
  for (std::size_t u = U; u-- > 0;) {
    now[MemoryPart::gathered] = gathered_bytes(2 * U - u);
    const auto own = static_cast<double>(units[u].count);
    begun += static_cast<double>(units[u].begins);
    now[MemoryPart::buckets] = whole ? 0.0 : terms.bytes.gradient * (begun - complete + reducing);
    std::vector<double> of_gradients{gradients(complete, reducing, whole)};  // in unlike micro-batches
    if (whole) of_gradients.push_back(terms.bytes.kept_gradient * begun);
    if (whole && shard.micro_batches > 2) of_gradients.push_back(gradients(0.0, 0.0, whole));
    for (std::size_t i = units[u].first_layer; i < units[u].first_layer + units[u].layers; ++i)
      for (const double bytes : of_gradients) {
        now[MemoryPart::activations] = activations[i];
        now[MemoryPart::gradients] = bytes;
        take_larger(peak, now);
      }
    complete += own;
    if (own > 0.0) reducing = own;
  }
  return peak;
}

MemoryParts shards_on_mesh(const MemoryTerms& terms, const ShardMemory& shard, MemoryParts now,
                           const GradientBytes& gradients) {
  const GatheredUnits gathered(terms.mesh->visits, units_of(terms.layers), shard);
  const bool whole = shard.no_sync && terms.mesh->several;
  MemoryParts peak;
  for (const PassMoment& moment : terms.mesh->moments) {
    now[MemoryPart::activations] = moment.activations;
    now[MemoryPart::gathered] =
        shard.group > 1 ? terms.bytes.parameter * gathered.numbers(moment.visits, moment.in_use) : 0.0;
    now[MemoryPart::buckets] = whole ? 0.0 : terms.bytes.gradient * moment.under_way;
    now[MemoryPart::gradients] =
        whole ? gradients(moment.complete, moment.reducing, true) : gradients(moment.reduced, 0.0, false);
    take_larger(peak, now);
  }
  return peak;
}

}  // namespace

double MemoryTerms::parameters() const {
  return layers.empty() ? 0.0 : static_cast<double>(layers.back().first + layers.back().count);
}

MemoryParts replica_memory(const MemoryTerms& terms, const ReplicaMemory& replica) {
  const double N = terms.parameters();
  const MainGradients main = terms.mesh ? MainGradients::by_default : replica.main_gradients;
  const NumberBytes bytes = terms.bytes.of_gradients(main);
  const bool buffer = bytes.in_buffer(main);
  MemoryParts now, peak;
  now[MemoryPart::parameters] = N * bytes.parameter;
  now[MemoryPart::optimizer] = N * terms.optimizer_bytes() * replica.optimizer_share;
  now[MemoryPart::buckets] = buffer ? 0.0 : replica.bucket_numbers * bytes.gradient;
  if (terms.mesh) {
    for (const PassMoment& moment : terms.mesh->moments) {
      now[MemoryPart::activations] = moment.activations;
      now[MemoryPart::gradients] = bytes.kept_gradient * N * (replica.accumulates || buffer ? 1.0 : moment.made);
      take_larger(peak, now);
    }
    return peak;
  }
  const std::vector<double> activations = activations_in_backward(terms, replica.micro_batches);
  double made = 0.0;  // numbers of gradients
  for (std::size_t i = terms.layers.size(); i-- > 0;) {
    made += static_cast<double>(gradients_begun(terms.layers, i));
    now[MemoryPart::activations] = activations[i];
    if (replica.dropped.empty())
      now[MemoryPart::gradients] = bytes.kept_gradient * (replica.accumulates || buffer ? N : made);
    else
      drop_reduced(terms, replica, i, now, peak);
    take_larger(peak, now);
  }
  return peak;
}

MemoryParts shard_memory(const MemoryTerms& terms, const ShardMemory& shard) {
  const double N = terms.parameters(), g = terms.bytes.kept_gradient;
  MemoryParts states;
  states[MemoryPart::parameters] = shard.parameters_on_host ? 0.0 : chunk(N, shard.group) * terms.bytes.parameter;
  states[MemoryPart::optimizer] = shard.optimizer_on_host ? 0.0 : chunk(N, shard.group) * terms.optimizer_bytes();
  const auto gradients = [&](double complete, double reducing, bool whole) {
    const bool all_shards = shard.micro_batches > 1 && !shard.no_sync;
    if (whole && shard.group == 1 && !all_shards) return g * N;  // the shard is the gradient
    const double waiting = whole ? N - std::max(0.0, complete - reducing) : 0.0;
    return g * (chunk(all_shards ? N : complete, shard.group) + waiting);
  };
  return terms.mesh ? shards_on_mesh(terms, shard, states, gradients)
                    : shards_of_whole(terms, shard, states, gradients);
}

MemoryParts server_memory(const MemoryTerms& terms, double share, std::int64_t gradients) {
  MemoryParts parts;
  const double N = terms.parameters() * share;
  parts[MemoryPart::parameters] = N * terms.bytes.parameter;
  parts[MemoryPart::gradients] = N * terms.bytes.kept_gradient * static_cast<double>(gradients);
  parts[MemoryPart::optimizer] = N * terms.optimizer_bytes();
  return parts;
}

}  // namespace simgrad::training
