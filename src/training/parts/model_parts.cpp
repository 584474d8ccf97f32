#include "training/parts/model_parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"

namespace simgrad::training {

using models::ParameterStretch;
using values::Tensor;

namespace {

using Stretches = std::shared_ptr<const std::vector<ParameterStretch>>;

std::array<std::uint64_t, 2> key_of(const std::vector<ParameterStretch>& stretches) {
  std::vector<std::uint64_t> words;
  for (const auto& [first, count] : stretches)
    words.insert(words.end(), {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(count)});
  const base::Digest digest = base::digest(words);
  return {digest.high, digest.low};
}

}  // namespace

ModelParts::ModelParts(const Learning& whole, MeshLayout layout) : whole_(whole), layout_(std::move(layout)) {
  const bool places = whole.dispatcher().numbers() || whole.dispatcher().lineages();
  for (int part = 0; part < layout_.mesh.parts(); ++part) {
    auto model = std::make_shared<const models::ModelPart>(whole.shared_model(), whole.problem(),
                                                           layout_.chunks[static_cast<std::size_t>(part)]);
    const int first = layout_.mesh.first_rank_of_part(part);
    parts_.push_back(
        {.model = model,
         .learning = whole.of_part(model),
         .ranks = std::make_shared<const std::vector<int>>(layout_.mesh.group(first, layout_.workers_along)),
         .stretches =
             places ? std::make_shared<const std::vector<ParameterStretch>>(model->stretches()) : Stretches()});
  }
}

Tensor ModelParts::of_whole(int rank, const Tensor& w) const {
  const Part& model_part = part(rank);
  const std::int64_t size = model_part.learning->parameters();
  if (!model_part.stretches) return whole_.dispatcher().zeros(size);
  const std::array<std::uint64_t, 2> key = key_of(*model_part.stretches);
  const values::Operation operation{
      .name = "part of the parameters", .key = key, .seconds = 2e-9 * static_cast<double>(size)};
  return whole_.dispatcher().dispatch(
      operation, size, {&w, 1},
      [stretches = model_part.stretches](std::span<const std::span<const double>> in, std::span<double> out) {
        auto to = out.begin();
        for (const auto& [first, count] : *stretches) to = std::copy_n(in[0].begin() + first, count, to);
      });
}

bool ModelParts::tensor_ranks_are_alike() const {
  for (int rank = 0; rank < mesh().ranks(); ++rank) {
    MeshPlace first = mesh().place(rank);
    first[Dimension::tensor] = 0;
    if (learning(rank).parameters() != learning(mesh().rank(first)).parameters()) return false;
  }
  return true;
}

Tensor ModelParts::whole(std::span<const Tensor> states, const OfPart& of_part) const {
  if (!parts_.front().stretches) return whole_.dispatcher().zeros(whole_.parameters());
  std::vector<Tensor> w;
  std::vector<Stretches> stretches;
  std::vector<std::uint64_t> key;
  for (const Part& model_part : parts_) {
    std::vector<Tensor> group;
    for (const int rank : *model_part.ranks) group.push_back(states[static_cast<std::size_t>(rank)]);
    w.push_back(of_part(group, *model_part.learning));
    stretches.push_back(model_part.stretches);
    for (const std::uint64_t word : key_of(*model_part.stretches)) key.push_back(word);
  }
  const values::Operation operation{
      .name = "parameters of all parts", .key = key, .seconds = 2e-9 * static_cast<double>(whole_.parameters())};
  return whole_.dispatcher().dispatch(operation, whole_.parameters(), w,
                                      [stretches](std::span<const std::span<const double>> in, std::span<double> out) {
                                        for (std::size_t part = 0; part < in.size(); ++part) {
                                          auto from = in[part].begin();
                                          for (const auto& [first, count] : *stretches[part]) {
                                            std::copy_n(from, count, out.begin() + first);
                                            from += count;
                                          }
                                        }
                                      });
}

std::vector<Tensor> ModelParts::replicas(std::span<const Tensor> states) const {
  // One of the ranks that share sequences is enough: they hold the same.
  const std::vector<int>& ranks = *parts_.front().ranks;
  std::vector<std::size_t> replicas;
  for (std::size_t k = 0; k < ranks.size(); ++k)
    if (mesh().place(ranks[k])[Dimension::context] == 0) replicas.push_back(k);
  std::vector<Tensor> all;
  for (const std::size_t k : replicas.size() > 1 ? replicas : std::vector<std::size_t>())
    all.push_back(
        whole(states, [k](const std::vector<Tensor>& group, const Learning&) { return group[k % group.size()]; }));
  return all;
}

}  // namespace simgrad::training
