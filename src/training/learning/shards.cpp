#include "training/learning/shards.h"

#include <array>
#include <numeric>

#include "base/random.h"

namespace simgrad::training {

using values::Tensor;

namespace {

/// The server of every parameter: a hash knows nothing of the run's seed, so that a key always lives in one place.
std::vector<int> hashed(std::int64_t parameters, int servers) {
  std::vector<int> owner(static_cast<std::size_t>(parameters));
  base::Stream hash({.seed = 0, .purpose = base::Purpose::sharding});
  for (int& server : owner) server = static_cast<int>(hash.below(static_cast<std::uint64_t>(servers)));
  return owner;
}

}  // namespace

Shards::Shards(Sharding sharding, int servers, std::int64_t parameters, values::Dispatcher& dispatcher)
    : dispatcher_(&dispatcher), first_(static_cast<std::size_t>(servers) + 1) {
  if (sharding == Sharding::range || servers == 1) {
    for (int j = 0; j < servers; ++j)
      first_[static_cast<std::size_t>(j) + 1] =
          first_[static_cast<std::size_t>(j)] + parameters / servers + (j < parameters % servers ? 1 : 0);
    return;
  }
  const std::vector<int> owner = hashed(parameters, servers);
  for (const int server : owner) ++first_[static_cast<std::size_t>(server) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  if (!dispatcher.numbers() && !dispatcher.lineages()) return;
  std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
  auto dealt = std::make_shared<std::vector<std::int64_t>>(owner.size());
  auto place = std::make_shared<std::vector<std::int64_t>>(owner.size());
  for (std::size_t i = 0; i < owner.size(); ++i) {
    (*place)[i] = next[static_cast<std::size_t>(owner[i])]++;
    (*dealt)[static_cast<std::size_t>((*place)[i])] = static_cast<std::int64_t>(i);
  }
  dealt_ = std::move(dealt);
  place_ = std::move(place);
}

std::int64_t Shards::count(int server) const {
  return first_.at(static_cast<std::size_t>(server) + 1) - first_.at(static_cast<std::size_t>(server));
}

std::vector<Tensor> Shards::split(const Tensor& x) const {
  if (servers() == 1) return {x};
  const Tensor dealt = dealt_ ? permuted("deal", x, dealt_) : x;
  std::vector<Tensor> parts;
  for (int j = 0; j < servers(); ++j)
    parts.push_back(values::slice(dealt, first_[static_cast<std::size_t>(j)], count(j)));
  return parts;
}

Tensor Shards::whole(std::span<const Tensor> parts) const {
  if (servers() == 1) return parts.front();
  const Tensor dealt = values::concatenate(parts);
  return place_ ? permuted("undeal", dealt, place_) : dealt;
}

Tensor Shards::permuted(const char* name, const Tensor& x, const Order& order) const {
  const std::array<std::uint64_t, 1> key{static_cast<std::uint64_t>(servers())};
  const values::Operation operation{.name = name, .key = key, .seconds = 2e-9 * static_cast<double>(x.size())};
  return dispatcher_->dispatch(operation, x.size(), {&x, 1},
                               [order](std::span<const std::span<const double>> in, std::span<double> out) {
                                 for (std::size_t i = 0; i < out.size(); ++i)
                                   out[i] = in[0][static_cast<std::size_t>((*order)[i])];
                               });
}

}  // namespace simgrad::training
