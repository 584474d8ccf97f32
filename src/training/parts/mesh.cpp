#include "training/parts/mesh.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace simgrad::training {

namespace {

/// The ranks along these train one replica; parts count along them, the first one fastest.
constexpr std::array dimensions_of_a_replica{Dimension::tensor, Dimension::context, Dimension::expert,
                                             Dimension::pipeline};

}  // namespace

std::string_view name(Dimension dimension) {
  constexpr std::array<std::string_view, dimensions_of_mesh> names{"tensor", "context", "expert", "data", "pipeline"};
  return names.at(static_cast<std::size_t>(dimension));
}

std::optional<Dimension> dimension_named(std::string_view text) {
  for (std::size_t k = 0; k < dimensions_of_mesh; ++k)
    if (const auto dimension = static_cast<Dimension>(k); name(dimension) == text) return dimension;
  return {};
}

Mesh Mesh::of_stages(std::vector<int> replicas) {
  Mesh mesh;
  mesh.sizes_[Dimension::pipeline] = static_cast<int>(replicas.size());
  mesh.sizes_[Dimension::data] = *std::ranges::max_element(replicas);
  mesh.firsts_.push_back(0);
  mesh.shares_ = 1;
  for (const int ranks : replicas) {
    mesh.firsts_.push_back(mesh.firsts_.back() + ranks);
    mesh.shares_ = std::lcm(mesh.shares_, ranks);
  }
  return mesh;
}

int Mesh::ranks_along_data(const MeshPlace& place) const {
  if (!by_stages()) return size(Dimension::data);
  const auto stage = static_cast<std::size_t>(place[Dimension::pipeline]);
  return firsts_[stage + 1] - firsts_[stage];
}

std::int64_t Mesh::micro_batch(int rank, std::int64_t nth) const {
  const MeshPlace mesh_place = place(rank);
  return nth * ranks_along_data(mesh_place) + mesh_place[Dimension::data];
}

int Mesh::rank_with(int stage, std::int64_t micro_batch) const {
  MeshPlace mesh_place;
  mesh_place[Dimension::pipeline] = stage;
  return firsts_[static_cast<std::size_t>(stage)] + static_cast<int>(micro_batch % ranks_along_data(mesh_place));
}

int Mesh::ranks() const {
  if (by_stages()) return firsts_.back();
  int product = 1;
  for (const Dimension dimension : order_) product *= size(dimension);
  return product;
}

int Mesh::parts() const {
  int product = 1;
  for (const Dimension dimension : dimensions_of_a_replica) product *= size(dimension);
  return product;
}

MeshPlace Mesh::place(int rank) const {
  MeshPlace place;
  if (by_stages()) {
    const auto stage = std::ranges::upper_bound(firsts_, rank) - firsts_.begin() - 1;
    place[Dimension::pipeline] = static_cast<int>(stage);
    place[Dimension::data] = rank - firsts_[static_cast<std::size_t>(stage)];
    return place;
  }
  for (const Dimension dimension : order_) {
    place[dimension] = rank % size(dimension);
    rank /= size(dimension);
  }
  return place;
}

int Mesh::rank(const MeshPlace& place) const {
  if (by_stages()) return rank_with(place[Dimension::pipeline], place[Dimension::data]);
  int rank = 0, stride = 1;
  for (const Dimension dimension : order_) {
    rank += stride * place[dimension];
    stride *= size(dimension);
  }
  return rank;
}

std::vector<int> Mesh::group(int rank, Dimension along) const {
  std::vector<int> members;
  MeshPlace place = this->place(rank);
  const int count = along == Dimension::data ? ranks_along_data(place) : size(along);
  for (place[along] = 0; place[along] < count; ++place[along]) members.push_back(this->rank(place));
  return members;
}

std::vector<int> Mesh::group(int rank, std::span<const Dimension> along) const {
  std::vector<int> members{rank};
  for (const Dimension dimension : along) {
    std::vector<int> all;
    for (const int member : members) std::ranges::copy(group(member, dimension), std::back_inserter(all));
    members = std::move(all);
  }
  std::ranges::sort(members);
  return members;
}

int Mesh::shifted(int rank, std::span<const Dimension> along, int places) const {
  MeshPlace place = this->place(rank);
  // A group's ranks ascend as a number does whose digits are their places, the innermost dimension's the lowest.
  for (const Dimension dimension : order_) {
    if (std::ranges::find(along, dimension) == along.end()) continue;
    const int sum = place[dimension] + places;
    place[dimension] = sum % size(dimension);
    places = sum / size(dimension);
  }
  return this->rank(place);
}

int Mesh::part(int rank) const {
  const MeshPlace at = place(rank);
  int part = 0;
  for (std::size_t k = dimensions_of_a_replica.size(); k-- > 0;)
    part = part * size(dimensions_of_a_replica[k]) + at[dimensions_of_a_replica[k]];
  return part;
}

MeshPlace Mesh::place_of_part(int part) const {
  MeshPlace place;
  for (const Dimension dimension : dimensions_of_a_replica) {
    place[dimension] = part % size(dimension);
    part /= size(dimension);
  }
  return place;
}

}  // namespace simgrad::training
