#include "models/model_part.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "models/operators.h"

namespace simgrad::models {

namespace {

/// The number of parameters of a chunk, copies included.
std::int64_t all_parameters(const std::vector<Layer>& layers) {
  return layers.empty() ? 0 : layers.back().first + layers.back().count;
}

bool has_first_unit(const Chunk& chunk) { return chunk.first_unit == 0; }

/// Stretches of a chunk's w, in order, cut where the copy begins and ends.
std::vector<ParameterStretch> around_copy(const ParameterStretch& whole, const ParameterStretch& copy) {
  std::vector<ParameterStretch> pieces;
  const std::int64_t end = whole.first + whole.count, copy_end = copy.first + copy.count;
  const auto add = [&](std::int64_t from, std::int64_t to) {
    if (from < to) pieces.push_back({from, to - from});
  };
  add(whole.first, copy.count > 0 ? std::min(end, copy.first) : end);
  if (copy.count == 0) return pieces;
  add(std::max(whole.first, copy.first), std::min(end, copy_end));
  add(std::max(whole.first, copy_end), end);
  return pieces;
}

/// A stretch of a chunk's w, all or none of it in the copy, in the part's w.
ParameterStretch of_part(const PlacedChunk& placed, const ParameterStretch& of_chunk) {
  const ParameterStretch& copy = placed.copy;
  if (of_chunk.first < copy.first || copy.count == 0) return {placed.first + of_chunk.first, of_chunk.count};
  const std::int64_t behind = of_chunk.first - copy.first - copy.count;
  if (behind < 0) return {placed.copy_first + of_chunk.first - copy.first, of_chunk.count};
  return {placed.first + copy.first + behind, of_chunk.count};
}

void add_of_part(const PlacedChunk& placed, const ParameterStretch& of_chunk, std::vector<ParameterStretch>& to) {
  for (const ParameterStretch& piece : around_copy(of_chunk, placed.copy)) to.push_back(of_part(placed, piece));
}

}  // namespace

std::vector<ParameterStretch> PlacedChunk::own_parameters(std::size_t segment) const {
  std::vector<ParameterStretch> own = parameters[segment];
  if (segments[segment].shared.count > 0) own.pop_back();
  if (has_original) std::erase(own, ParameterStretch{copy_first, copy.count});
  return own;
}

ModelPart::ModelPart(std::shared_ptr<const Model> whole, const Problem& problem, const std::vector<Chunk>& chunks,
                     std::int64_t units)
    : whole_(std::move(whole)), cut_(cut_into_operators(*whole_)), problem_(problem) {
  const bool has_original = std::ranges::any_of(chunks, has_first_unit);
  for (const Chunk& chunk : chunks)
    if (!has_original) add_copy(chunk);
  for (const Chunk& chunk : chunks) add(chunk);
  has_loss_ = !chunks.empty() && std::cmp_equal(chunks.back().end_unit, units_of_whole(units));
}

std::int64_t ModelPart::units_of_whole(std::int64_t known) const {
  if (const auto* const dataflow = dynamic_cast<const Dataflow*>(cut_.get()))
    return static_cast<std::int64_t>(dataflow->operators(problem_).size());
  return known > 0 ? known : whole_->layers(problem_).back().unit + 1;
}

/// A chunk with the head, on a rank without the first unit, has a copy of the embedding in its w.
void ModelPart::add_copy(const Chunk& chunk) {
  const ParameterStretch copy = cut_model().tied(problem_, chunk);
  if (copy.count == 0 || has_first_unit(chunk)) return;
  tied_ = {0, copy.count};
  copied_ = parameters_ = copy.count;
  layers_.push_back({.count = copy.count, .name = "copy of the tied embedding"});
}

void ModelPart::add(const Chunk& chunk) {
  std::vector<Layer> layers = cut_model().layers(problem_, chunk);
  PlacedChunk placed{.chunk = chunk,
                     .first = parameters_,
                     .count = all_parameters(layers),
                     .first_layer = layers_.size(),
                     .segments = cut_model().segments(problem_, chunk),
                     .parameters = {}};
  const ParameterStretch tied = cut_model().tied(problem_, chunk);
  if (tied.count > 0 && !has_first_unit(chunk)) {
    placed.copy = tied;
    placed.has_original = copied_ == 0;
    placed.copy_first = placed.has_original ? tied_.first : 0;
    if (placed.has_original) tied_ = {};
    placed.count -= tied.count;
    layers.back().count -= tied.count;
    layers.back().tied = tied.count;
    if (layers.back().rows * layers.back().columns > layers.back().count)
      layers.back().rows = layers.back().columns = 0;
  }
  const std::int64_t units = layers_.empty() ? 0 : layers_.back().unit + 1;
  for (Layer& layer : layers) {
    layer.first += placed.first;
    layer.unit += units;
    layers_.push_back(std::move(layer));
  }
  for (const Segment& segment : placed.segments) {
    std::vector<ParameterStretch>& segment_parts = placed.parameters.emplace_back();
    for (const ParameterStretch& own : around_copy({segment.first, segment.count}, placed.copy))
      segment_parts.push_back(of_part(placed, own));
    if (segment.shared.count > 0) segment_parts.push_back(of_part(placed, segment.shared));
  }
  if (tied.count > 0 && has_first_unit(chunk)) tied_ = of_part(placed, tied);
  for (const Among among : {Among::tensor, Among::context, Among::expert}) {
    for (const ParameterStretch& stretch : cut_model().partial(problem_, chunk, among))
      add_of_part(placed, stretch, partial_[index(among)]);
    for (const ParameterStretch& stretch : cut_model().replicated(problem_, chunk, among))
      add_of_part(placed, stretch, replicated_[index(among)]);
  }
  parameters_ += placed.count;
  chunks_.push_back(std::move(placed));
}

std::vector<ParameterStretch> ModelPart::stretches() const {
  std::vector<ParameterStretch> all, copies;
  for (const PlacedChunk& placed : chunks_) {
    std::int64_t at = 0;  // in the chunk's w
    for (const ParameterStretch& stretch : cut_model().parameters_of(problem_, placed.chunk)) {
      for (const ParameterStretch& piece : around_copy({at, stretch.count}, placed.copy)) {
        const bool copied = piece.first >= placed.copy.first && piece.first < placed.copy.first + placed.copy.count;
        if (copied && placed.has_original) continue;
        (copied ? copies : all).push_back({stretch.first + piece.first - at, piece.count});
      }
      at += stretch.count;
    }
    base::check(at == placed.count + placed.copy.count, "the stretches of a chunk are all of its parameters");
  }
  copies.insert(copies.end(), all.begin(), all.end());
  return copies;
}

void ModelPart::initial_values(const Problem&, std::uint64_t seed, std::span<double> w) const {
  std::vector<double> all(static_cast<std::size_t>(whole_->parameters(problem_)));
  whole_->initial_values(problem_, seed, all);
  auto to = w.begin();
  for (const auto& [first, count] : stretches()) to = std::copy_n(all.begin() + first, count, to);
}

void ModelPart::gradient(const Problem&, const Samples&, std::span<const double>, double, double,
                         std::span<double>) const {
  base::check(false, "a part's gradient is made by passes through its chunks");
}

Score ModelPart::score(const Problem&, const Samples&, std::span<const double>) const {
  base::check(false, "a part by itself has no score");
  return {};
}

}  // namespace simgrad::models
