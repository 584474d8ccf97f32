#include "training/learning/shards.h"

#include <algorithm>
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

/// Range `server` of so many numbers: the ranges' lengths differ by at most one, the longer ones first.
Shards::Stretch range(std::int64_t numbers, int servers, int server) {
  const std::int64_t each = numbers / servers, longer = numbers % servers;
  return {server * each + std::min<std::int64_t>(server, longer), each + (server < longer ? 1 : 0)};
}

}  // namespace

Shards::Shards(Sharding sharding, int servers, std::int64_t parameters, values::Dispatcher& dispatcher)
    : dispatcher_(&dispatcher), first_(static_cast<std::size_t>(servers) + 1) {
  if (sharding == Sharding::range || servers == 1) {
    for (int j = 0; j < servers; ++j) {
      const Stretch server_range = range(parameters, servers, j);
      first_[static_cast<std::size_t>(j) + 1] = server_range.first + server_range.count;
    }
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

Shards::Shards(int servers, const std::vector<std::int64_t>& lengths, values::Dispatcher& dispatcher)
    : dispatcher_(&dispatcher), first_(static_cast<std::size_t>(servers) + 1), pieces_(lengths.size() + 1) {
  std::partial_sum(lengths.begin(), lengths.end(), pieces_.begin() + 1);
  for (int j = 0; j < servers; ++j) {
    std::int64_t& end = first_[static_cast<std::size_t>(j) + 1];
    end = first(j);
    for (const std::int64_t length : lengths) end += range(length, servers, j).count;
  }
}

Shards::Stretch Shards::stretch(int server, std::size_t piece) const {
  const std::int64_t begin = pieces_.at(piece);
  const Stretch server_range = range(pieces_.at(piece + 1) - begin, servers(), server);
  return {begin + server_range.first, server_range.count};
}

Shards::Stretch Shards::in_part(int server, std::size_t piece) const {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < piece; ++i) begin += stretch(server, i).count;
  return {begin, stretch(server, piece).count};
}

std::vector<Tensor> Shards::split_pieces(const Tensor& x) const {
  std::vector<Tensor> parts;
  for (int j = 0; j < servers(); ++j) {
    std::vector<Tensor> server_pieces;
    for (std::size_t piece = 0; piece + 1 < pieces_.size(); ++piece)
      server_pieces.push_back(values::slice(x, stretch(j, piece).first, stretch(j, piece).count));
    parts.push_back(values::concatenate(server_pieces));
  }
  return parts;
}

Tensor Shards::whole_of_pieces(std::span<const Tensor> parts) const {
  std::vector<Tensor> all;
  std::vector<std::int64_t> next(parts.size());
  for (std::size_t piece = 0; piece + 1 < pieces_.size(); ++piece)
    for (std::size_t j = 0; j < parts.size(); ++j) {
      const std::int64_t count = stretch(static_cast<int>(j), piece).count;
      all.push_back(values::slice(parts[j], next[j], count));
      next[j] += count;
    }
  return values::concatenate(all);
}

std::int64_t Shards::count(int server) const {
  return first_.at(static_cast<std::size_t>(server) + 1) - first_.at(static_cast<std::size_t>(server));
}

std::vector<Tensor> Shards::split(const Tensor& x) const {
  if (servers() == 1) return {x};
  if (!pieces_.empty()) return split_pieces(x);
  const Tensor dealt = dealt_ ? permuted("deal", x, dealt_) : x;
  std::vector<Tensor> parts;
  for (int j = 0; j < servers(); ++j)
    parts.push_back(values::slice(dealt, first_[static_cast<std::size_t>(j)], count(j)));
  return parts;
}

Tensor Shards::whole(std::span<const Tensor> parts) const {
  if (servers() == 1) return parts.front();
  if (!pieces_.empty()) return whole_of_pieces(parts);
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
