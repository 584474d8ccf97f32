/// The units of a model that each stage of a pipeline has.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strategies/parallel/parallel.h"
#include "training/parts/model_parts.h"

namespace simgrad::strategies {

/// The first unit of each of `pieces` stretches of consecutive units, and behind the last one the number of units.  The
/// stretch with the largest cost has as little as possible; every stretch has a unit at least.  costs: by unit.
std::vector<std::int64_t> balanced(std::span<const double> costs, std::int64_t pieces);
/// Flops of the units, or seconds where these were measured.
std::vector<double> costs_of_units(std::span<const models::Layer> layers);

/// The first unit of each piece of the model, and behind the last one the number of units, where `stages` says so, or
/// `balance` by flops or blocks.  layers: of the whole model.
std::vector<std::int64_t> firsts_of_pieces(const Parallel& parallel, std::span<const models::Layer> layers);

/// The reason why a model with so many units cannot be cut so, or empty.
std::string stages_refusal(const Parallel& parallel, std::int64_t units);

/// The weights of each stage's tensor ranks, by stage; empty: equal shares.
using TensorWeights = std::vector<std::vector<double>>;

/// The chunks of a place in the mesh: piece c x pipeline + i of the model is chunk c of stage i.  firsts: of the
/// pieces.  weights: of the stage's tensor ranks.
std::vector<models::Chunk> chunks_at(const Parallel& parallel, const std::vector<std::int64_t>& firsts,
                                     const training::MeshPlace& place, const std::vector<double>& weights);
/// The chunks of every part.
std::vector<std::vector<models::Chunk>> chunks_of_parts(const Parallel& parallel,
                                                        const std::vector<std::int64_t>& firsts,
                                                        const TensorWeights& weights = {});

}  // namespace simgrad::strategies
