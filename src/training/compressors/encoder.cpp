#include "training/compressors/encoder.h"

#include <algorithm>

#include "training/worker.h"

namespace simgrad::training {

using cluster::Communicator;
using values::Tensor;

Encoder::Encoder(const Compressor& compressor, const Participant& rank) : compressor_(compressor), training_(rank.training()) {}

Occasion Encoder::occasion(std::int64_t n, std::int64_t first) const {
  const Learning& learning = training_.learning();
  Occasion occasion{.dispatcher = learning.dispatcher(), .draws = {}, .shared_draws = {},
                    .parameters = learning.parameters()};
  std::int64_t left = n;
  for (const models::Layer& layer : learning.layers()) {
    const std::int64_t from = std::max(first, layer.first);
    const std::int64_t to = std::min(first + n, layer.first + layer.count);
    if (from >= to) continue;
    occasion.layers.push_back(to - from);
    left -= to - from;
  }
  if (left > 0) occasion.layers.push_back(left);  // parts of a layer that lay apart, one behind the other
  return occasion;
}

Occasion Encoder::begin(Path& path, const Communicator& comm, std::int64_t n, std::int64_t first) {
  Occasion now = occasion(n, first);
  now.shared_draws = {.seed = training_.learning().seed(),
                      .purpose = base::Purpose::compression,
                      .step = path.vectors++ | static_cast<std::uint64_t>(first) << 32,
                      .rank = 0,
                      .attempt = static_cast<std::uint16_t>(training_.generation())};
  now.draws = now.shared_draws;
  now.draws.rank = 1 + static_cast<std::uint32_t>(comm.world_rank(comm.rank()));
  const double flops = compressor_.encode_flops(n, now) + (compressor_.error_feedback ? 2.0 * static_cast<double>(n) : 0.0);
  if (flops > 0.0) comm.charge_reduction(flops);
  return now;
}

Tensor Encoder::corrected(const Path& path, const Tensor& x) const {
  return compressor_.error_feedback && path.memory.error ? path.memory.error + x : x;
}

void Encoder::remember(Path& path, const Tensor& wanted, const Tensor& sent) const {
  if (compressor_.error_feedback) path.memory.error = wanted - values::decoded(sent);
}

Tensor Encoder::operator()(const Communicator& comm, const Tensor& x, std::int64_t first) {
  if (compressor_.exact() || x.size() == 0) return x;
  Path& path = paths_[first];
  const Occasion now = begin(path, comm, x.size(), first);
  const Tensor wanted = corrected(path, x);
  const Tensor code = compressor_.encode(wanted, now, path.memory);
  remember(path, wanted, code);
  return code;
}

Tensor Encoder::once(const Communicator& comm, const Tensor& x, std::int64_t first) {
  if (compressor_.exact() || x.size() == 0) return x;
  Path& path = paths_[first];
  if (path.last_code && path.last_identity == x.identity()) return path.last_code;
  path.last_code = (*this)(comm, x, first);
  path.last_identity = x.identity();
  return path.last_code;
}

Tensor Encoder::sum(const Communicator& comm, const Tensor& x, std::int64_t first, const Compressor::SumOverRanks& all) {
  if (x.size() == 0) return x;
  Path& path = paths_[first];
  const Occasion now = begin(path, comm, x.size(), first);
  const Tensor wanted = corrected(path, x);
  const Compressor::Summed summed = compressor_.summed(wanted, now, path.memory, all);
  remember(path, wanted, summed.own);
  charge_decoding(comm, x.size(), 1, first);
  return summed.sum;
}

Tensor Encoder::decoded(const Communicator& comm, const Tensor& code, std::int64_t first) const {
  if (compressor_.exact()) return code;
  charge_decoding(comm, code.size(), 1, first);
  return values::decoded(code);
}

void Encoder::charge_decoding(const Communicator& comm, std::int64_t n, std::int64_t codes, std::int64_t first) const {
  if (compressor_.exact()) return;
  const double flops = compressor_.decode_flops(n, occasion(n, first)) * static_cast<double>(codes);
  if (flops > 0.0) comm.charge_reduction(flops);
}

}  // namespace simgrad::training
