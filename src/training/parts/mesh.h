/// The ranks that train one model together, as a mesh: a rank has a place along every dimension.
///
/// Source: M. Shoeybi et al., "Megatron-LM", 2019; D. Narayanan et al., "Efficient Large-Scale Language Model Training
/// on GPU Clusters Using Megatron-LM", SC 2021.
#pragma once

#include <array>
#include <cstddef>
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
  int parts() const { return ranks() / size(Dimension::data); }
  int part(int rank) const;
  /// The first rank of the data group that has that part, and its place.
  int first_rank_of_part(int part) const { return rank(place_of_part(part)); }
  MeshPlace place_of_part(int part) const;

 private:
  PerDimension sizes_{1};
  Order order_ = tensor_innermost;
};

}  // namespace simgrad::training
