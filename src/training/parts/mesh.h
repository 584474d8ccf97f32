/// The ranks that train one model together, as a mesh: a rank has a place along every dimension.
///
/// Source: M. Shoeybi et al., "Megatron-LM", 2019; D. Narayanan et al., "Efficient Large-Scale Language Model Training
/// on GPU Clusters Using Megatron-LM", SC 2021.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace simgrad::training {

enum class Dimension : unsigned char {
  tensor,    ///< ranks that share the products of one stage
  context,   ///< ranks that share the tokens of each sequence
  expert,    ///< ranks that share experts or tables, and the samples of a micro-batch
  data,      ///< ranks that hold the same part of the model, each with samples of its own
  pipeline,  ///< ranks that hold consecutive stages
  count
};
inline constexpr auto dimensions_of_mesh = static_cast<std::size_t>(Dimension::count);
std::string_view name(Dimension dimension);
std::optional<Dimension> dimension_named(std::string_view name);

/// A number for each dimension.
class PerDimension {
 public:
  constexpr explicit PerDimension(int all = 0) { values_.fill(all); }
  constexpr int& operator[](Dimension dimension) { return values_[static_cast<std::size_t>(dimension)]; }
  constexpr int operator[](Dimension dimension) const { return values_[static_cast<std::size_t>(dimension)]; }
  friend bool operator==(const PerDimension&, const PerDimension&) = default;

 private:
  std::array<int, dimensions_of_mesh> values_{};
};
using MeshPlace = PerDimension;

class Mesh {
 public:
  /// Ranks along one dimension after the other: neighbours along the first of `order` have consecutive numbers.
  using Order = std::array<Dimension, dimensions_of_mesh>;
  static constexpr Order tensor_innermost{Dimension::tensor, Dimension::context, Dimension::expert, Dimension::data,
                                          Dimension::pipeline};

  /// One rank.
  Mesh() = default;
  explicit Mesh(const PerDimension& sizes, const Order& order = tensor_innermost) : sizes_(sizes), order_(order) {}

  /// Stages of so many ranks each, which have consecutive numbers, and nothing else that is shared. Micro-batch m of
  /// the training goes through rank m mod r of each stage, r being the stage's ranks, forward and back.  Source: D.
  /// Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.2
  /// (1F1B-RR).
  static Mesh of_stages(std::vector<int> replicas);

  /// The number of ranks along that dimension; along data, the largest one where stages have ranks of their own.
  int size(Dimension dimension) const { return sizes_[dimension]; }
  int ranks() const;
  MeshPlace place(int rank) const;
  int rank(const MeshPlace& place) const;
  /// The ranks that differ from this one along that dimension alone, in the dimension's order.
  std::vector<int> group(int rank, Dimension along) const;
  /// The ranks that differ from this one along some of these dimensions and no other, ascending.
  std::vector<int> group(int rank, std::span<const Dimension> along) const;
  /// The rank so many places behind this one in that group, behind whose last one is the first.
  int shifted(int rank, std::span<const Dimension> along, int places) const;

  /// The number of different parts of the model, and the part of a rank: ranks that differ along data alone have the
  /// same.
  int parts() const;
  int part(int rank) const;
  /// The first rank of the data group that has that part, and its place.
  int first_rank_of_part(int part) const { return rank(place_of_part(part)); }
  MeshPlace place_of_part(int part) const;

  /// The equal shares that a step's rows are dealt in: one a rank along data; of stages with ranks of their own the
  /// least common multiple of their numbers, so that a step is a whole number of rounds on each of them.
  int shares() const { return shares_ > 0 ? shares_ : size(Dimension::data); }
  /// The updates that a rank makes in a step, one behind each round of its stage.
  int updates_a_step(int rank) const { return shares_ > 0 ? shares_ / ranks_along_data(place(rank)) : 1; }

  // Stages with ranks of their own have these besides.

  bool by_stages() const { return shares_ > 0; }
  /// The number in the training of a rank's n-th micro-batch, from 0 on.
  std::int64_t micro_batch(int rank, std::int64_t nth) const;
  /// The rank of a stage that has that micro-batch.
  int rank_with(int stage, std::int64_t micro_batch) const;

 private:
  /// The ranks along data in the place's stage.
  int ranks_along_data(const MeshPlace& place) const;

  PerDimension sizes_{1};
  Order order_ = tensor_innermost;
  std::vector<int> firsts_;  ///< of stages with ranks of their own: the first rank of each, and the number of ranks
  int shares_ = 0;           ///< likewise; else 0
};

}  // namespace simgrad::training
