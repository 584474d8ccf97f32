#include "strategies/replicas/gradient_groups.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "models/model_part.h"
#include "training/learning/learning.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Communicator;
using training::Dimension;

namespace {

/// Whether expert ranks have parameters in common whose gradients the strategy sums.
bool sums_over_experts(const Worker& worker) {
  return worker.on_mesh() && worker.mesh().size(Dimension::expert) > 1 && worker.sums_along(Dimension::expert);
}

Communicator sharers_of(const Worker& worker) {
  if (!sums_over_experts(worker)) return worker.comm();
  std::vector<Dimension> along;
  for (const Dimension dimension : {Dimension::data, Dimension::context, Dimension::expert})
    if (worker.sums_along(dimension)) along.push_back(dimension);
  const Communicator all = worker.everyone();
  // Channels of their own keep these sums apart from the tokens that the same ranks send to each other's experts.
  return all.subgroup(worker.mesh().group(all.rank(), along)).on_own_channels();
}

}  // namespace

void GroupBucket::add(const models::Layer& layer) {
  if (!stretches_.empty() && stretches_.back().first == layer.first + layer.count)
    stretches_.back() = {layer.first, stretches_.back().count + layer.count};
  else
    stretches_.push_back({layer.first, layer.count});
  count_ += layer.count;
}

GradientGroups::GradientGroups(const Worker& worker)
    : worker_(worker), sharers_(sharers_of(worker)), whole_(sums_over_experts(worker) ? 2 : 1) {
  const std::vector<models::Layer>& layers = worker.learning().layers();
  for (std::size_t i = layers.size(); i-- > 0;) whole_[of(layers[i])].add(layers[i]);
  const Communicator& with_its_experts = worker.comm();
  for (int member = 0; member < sharers_.size(); ++member) {  // both ascend
    const auto place = static_cast<int>(own_.size());
    if (place == with_its_experts.size()) break;
    if (with_its_experts.world_rank(place) == sharers_.world_rank(member)) own_.push_back(member);
  }
  for (std::size_t group = 0; group < count(); ++group) among_.push_back(among(group));
}

std::size_t GradientGroups::of(const models::Layer& layer) const {
  if (count() == 1 || layer.count == 0) return 0;
  const auto has = [&](const models::ParameterStretch& stretch) {
    return stretch.first <= layer.first && layer.first + layer.count <= stretch.first + stretch.count;
  };
  return std::ranges::any_of(worker_.part().partial(models::Among::expert), has) ? 0 : 1;
}

GradientGroups::Find GradientGroups::among(std::size_t group) const {
  if (group == 0) return [](const Communicator& sharers) -> const Communicator& { return sharers; };
  return [own = own_,
          known = std::make_shared<std::optional<Communicator>>()](const Communicator& sharers) -> const Communicator& {
    if (!*known) known->emplace(sharers.subgroup(own));
    return **known;
  };
}

Tensor GradientGroups::summed(const Tensor& g, const Sum& sum) const {
  if (count() == 1 || g.size() == 0) return sum(sharers_, g);
  std::vector<GroupBucket> buckets;
  std::vector<Tensor> sums;
  for (std::size_t group = 0; group < count(); ++group) {
    if (whole_[group].count() == 0) continue;
    buckets.push_back(whole_[group]);
    const auto numbers_at = [&](const Stretch& stretch) { return values::slice(g, stretch.first, stretch.count); };
    sums.push_back(sum(among_[group](sharers_), numbers_of(whole_[group], numbers_at)));
  }
  return put_together(buckets, sums);
}

Tensor numbers_of(const GroupBucket& bucket, const std::function<Tensor(const Stretch&)>& stretch_of) {
  const std::vector<Stretch>& stretches = bucket.stretches();
  if (stretches.size() == 1) return stretch_of(stretches.front());
  std::vector<Tensor> all;
  for (const Stretch& stretch : stretches) all.push_back(stretch_of(stretch));
  return values::concatenate(all);
}

Tensor put_together(const std::vector<GroupBucket>& buckets, const std::vector<Tensor>& numbers) {
  std::vector<std::pair<std::int64_t, Tensor>> all;  // by the place of each stretch
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    std::int64_t at = 0;
    for (const Stretch& stretch : buckets[b].stretches()) {
      const bool whole = stretch.count == buckets[b].count();
      all.emplace_back(stretch.first, whole ? numbers[b] : values::slice(numbers[b], at, stretch.count));
      at += stretch.count;
    }
  }
  std::ranges::stable_sort(all, {}, &std::pair<std::int64_t, Tensor>::first);
  std::vector<Tensor> parts;
  for (auto& [first, part] : all) parts.push_back(std::move(part));
  return values::concatenate(parts);
}

}  // namespace simgrad::strategies
