#include "training/parts/mesh.h"

namespace simgrad::training {

std::string_view name(Dimension dimension) {
  constexpr std::array<std::string_view, dimensions_of_mesh> names{"tensor", "data", "pipeline"};
  return names.at(static_cast<std::size_t>(dimension));
}

int Mesh::ranks() const {
  int product = 1;
  for (const Dimension dimension : order_) product *= size(dimension);
  return product;
}

MeshPlace Mesh::place(int rank) const {
  MeshPlace place;
  for (const Dimension dimension : order_) {
    place[dimension] = rank % size(dimension);
    rank /= size(dimension);
  }
  return place;
}

int Mesh::rank(const MeshPlace& place) const {
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
  for (place[along] = 0; place[along] < size(along); ++place[along]) members.push_back(this->rank(place));
  return members;
}

int Mesh::part(int rank) const {
  const MeshPlace at = place(rank);
  return at[Dimension::pipeline] * size(Dimension::tensor) + at[Dimension::tensor];
}

int Mesh::first_rank_of_part(int part) const {
  MeshPlace place;
  place[Dimension::tensor] = part % size(Dimension::tensor);
  place[Dimension::pipeline] = part / size(Dimension::tensor);
  return rank(place);
}

}  // namespace simgrad::training
