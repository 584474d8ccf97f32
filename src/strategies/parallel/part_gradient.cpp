#include "strategies/parallel/part_gradient.h"

#include <algorithm>
#include <cmath>

#include "base/errors.h"
#include "training/learning/learning.h"

namespace simgrad::strategies {

using models::ParameterStretch;
using values::Tensor;

PartGradient::PartGradient(const training::Worker& worker, bool followed)
    : worker_(worker), part_(worker.part()), followed_(followed) {
  if (!followed) return;
  for (const models::PlacedChunk& chunk : part_.chunks())
    for (std::size_t s = 0; s < chunk.segments.size(); ++s)
      for (const ParameterStretch& own : chunk.own_parameters(s)) pieces_.push_back({own, {}});
  std::ranges::sort(pieces_, {}, [](const Piece& piece) { return piece.place.first; });
}

Tensor zeros_on_the_wire(const training::Learning& learning, double numbers, double bytes) {
  const values::Format format = travels_as(learning.precision());
  const double all = numbers + bytes / learning.number_bytes().wire;
  return values::rounded(learning.dispatcher().zeros(std::llround(all)), format);
}

Tensor PartGradient::of_length(std::int64_t numbers) const {
  return zeros_on_the_wire(worker_.learning(), static_cast<double>(numbers));
}

std::size_t PartGradient::piece_of(const ParameterStretch& stretch) const {
  const auto behind =
      std::ranges::upper_bound(pieces_, stretch.first, {}, [](const Piece& p) { return p.place.first; });
  base::check(behind != pieces_.begin(), "every stretch of a part is a segment's");
  const Piece& piece = *(behind - 1);
  base::check(stretch.first + stretch.count <= piece.place.first + piece.place.count, "a stretch is of one segment");
  return static_cast<std::size_t>(behind - pieces_.begin()) - 1;
}

void PartGradient::add_to(const ParameterStretch& stretch, const Tensor& g) {
  Piece& piece = pieces_[piece_of(stretch)];
  if (!piece.sum && piece.place == stretch) {
    piece.sum = g;
    return;
  }
  if (!piece.sum) piece.sum = of_length(piece.place.count);
  if (piece.place == stretch) {
    piece.sum = piece.sum + g;
    return;
  }
  const std::int64_t first = stretch.first - piece.place.first, end = first + stretch.count;
  const std::vector<Tensor> parts{values::slice(piece.sum, 0, first),
                                  values::slice(piece.sum, first, stretch.count) + g,
                                  values::slice(piece.sum, end, piece.place.count - end)};
  piece.sum = values::concatenate(parts);
}

void PartGradient::add(std::size_t chunk, std::size_t segment, const Tensor& g) {
  std::int64_t at = 0;
  for (const ParameterStretch& stretch : part_.chunks()[chunk].parameters[segment]) {
    if (stretch.count > 0) add_to(stretch, values::slice(g, at, stretch.count));
    at += stretch.count;
  }
}

void PartGradient::replace(const ParameterStretch& stretch, const Tensor& g) {
  if (!followed_) return;
  Piece& piece = pieces_[piece_of(stretch)];
  const std::int64_t first = stretch.first - piece.place.first, end = first + stretch.count;
  const std::vector<Tensor> parts{values::slice(piece.sum, 0, first), g,
                                  values::slice(piece.sum, end, piece.place.count - end)};
  piece.sum = values::concatenate(parts);
}

void PartGradient::drop(std::size_t chunk, std::size_t segment) {
  if (!followed_) return;
  for (const ParameterStretch& own : part_.chunks()[chunk].own_parameters(segment)) pieces_[piece_of(own)].sum = {};
}

Tensor PartGradient::stretch(const ParameterStretch& stretch) const {
  if (!followed_) return of_length(stretch.count);
  const Piece& piece = pieces_[piece_of(stretch)];
  return values::slice(piece.sum, stretch.first - piece.place.first, stretch.count);
}

Tensor PartGradient::whole() const {
  if (!followed_ || pieces_.empty()) return of_length(worker_.learning().parameters());
  std::vector<Tensor> all;
  for (const Piece& piece : pieces_) all.push_back(piece.sum ? piece.sum : of_length(piece.place.count));
  return values::concatenate(all);
}

}  // namespace simgrad::strategies
