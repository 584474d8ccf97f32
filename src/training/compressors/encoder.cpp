#include "training/compressors/encoder.h"

#include <algorithm>

#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "training/compressors/formats.h"
#include "training/learning/learning.h"
#include "training/worker.h"
#include "values/shapes.h"

namespace simgrad::training {

using cluster::Communicator;
using values::Tensor;

namespace {

const None nothing;

void add(CodingWork& sum, const CodingWork& more) {
  sum.flops += more.flops;
  sum.bytes += more.bytes;
}

void charge(const Communicator& comm, const CodingWork& work) {
  if (work.flops > 0.0 || work.bytes > 0.0) comm.charge_memory(work.bytes, work.flops, record::Work::encode);
}

}  // namespace

Encoder::Encoder(const Compressor& compressor, const Participant& rank)
    : compressor_(rank.comm().size() == 1 ? nothing : compressor), learning_(rank.learning()) {}

Occasion Encoder::occasion(std::int64_t n, std::int64_t first) const {
  Occasion occasion{.dispatcher = learning_.dispatcher(),
                    .draws = {},
                    .shared_draws = {},
                    .parameters = learning_.parameters(),
                    .first = first};
  std::int64_t left = n;
  const auto add = [&](std::int64_t begin, std::int64_t count, std::int64_t columns) {
    const std::int64_t from = std::max(first, begin);
    const std::int64_t to = std::min(first + n, begin + count);
    if (from >= to) return;
    occasion.pieces.push_back({to - from, columns, columns > 0 ? (from - begin) % columns : 0});
    left -= to - from;
  };
  for (const models::Layer& layer : learning_.layers()) {
    const std::int64_t matrix = layer.rows * layer.columns;
    add(layer.first, matrix, layer.columns);
    add(layer.first + matrix, layer.count - matrix, 0);
  }
  if (left > 0)
    occasion.pieces.push_back({.count = left});  // parts of layers that were not adjacent, one behind the other
  return occasion;
}

Occasion Encoder::begin(Path& path, const Communicator& comm, std::int64_t n, std::int64_t first) const {
  Occasion now = occasion(n, first);
  const int self = comm.world_rank(comm.rank());
  if (const std::int64_t step = comm.world().ranks().step(self); path.step != step) {
    path.step = step;
    path.vectors = 0;
  }
  const std::uint64_t vector = path.vectors++;
  now.shared_draws = {
      .seed = learning_.seed(),
      .purpose = base::Purpose::compression,
      .step = (static_cast<std::uint64_t>(path.step) + (vector >> 16)) | static_cast<std::uint64_t>(first) << 32,
      .rank = 0,
      .attempt = static_cast<std::uint16_t>(vector)};
  now.draws = now.shared_draws;
  now.draws.rank = 1 + static_cast<std::uint32_t>(self);
  return now;
}

double Encoder::number_bytes() const { return learning_.precision() == Precision::float64 ? 8.0 : 4.0; }

CodingWork Encoder::encode_work(std::int64_t n, const Occasion& occasion) const {
  return compressor_.encode_work(n, occasion, number_bytes());
}

CodingWork Encoder::decode_work(std::int64_t n, std::int64_t first) const {
  return compressor_.exact() ? CodingWork() : compressor_.decode_work(n, occasion(n, first), number_bytes());
}

double Encoder::decode_flops(const Communicator& comm, std::int64_t n, std::int64_t first) const {
  const CodingWork work = decode_work(n, first);
  return comm.reduction_of_memory(work.bytes, work.flops);
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
  charge(comm, encode_work(x.size(), now));
  const Tensor wanted = corrected(path, x);
  const Tensor code = compressor_.encode(wanted, now, path.memory);
  remember(path, wanted, code);
  return code;
}

Tensor Encoder::in_pieces(const Communicator& comm, const Tensor& x, std::int64_t first,
                          std::span<const std::int64_t> counts) {
  if (compressor_.exact() || x.size() == 0) return x;
  if (values::is_shape_alone(x)) return shape_in_pieces(comm, x, first, counts);
  std::vector<Tensor> codes;
  CodingWork work;
  std::int64_t at = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    Path& path = paths_[first + at];
    const Occasion now = begin(path, comm, count, first + at);
    const Tensor wanted = corrected(path, values::slice(x, at, count));
    codes.push_back(compressor_.encode(wanted, now, path.memory));
    remember(path, wanted, codes.back());
    add(work, encode_work(count, now));
    at += count;
  }
  charge(comm, work);
  return values::concatenate(codes);
}

Tensor Encoder::shape_in_pieces(const Communicator& comm, const Tensor& x, std::int64_t first,
                                std::span<const std::int64_t> counts) const {
  const auto find = [&] {
    Learning::CodedShape all;
    std::int64_t at = first;
    for (const std::int64_t count : counts) {
      if (count == 0) continue;
      const Occasion now = occasion(count, at);
      CompressorMemory memory;
      all.bytes += compressor_.encode(values::slice(x, at - first, count), now, memory).size_bytes();
      add(all.work, encode_work(count, now));
      at += count;
    }
    return all;
  };
  const Learning::CodedShape& shape = learning_.coded_shape(compressor_, first, x.size(), counts.size(), find);
  charge(comm, shape.work);
  return values::encoded(x, shape.bytes);
}

Tensor Encoder::once(const Communicator& comm, const Tensor& x, std::int64_t first) {
  if (compressor_.exact() || x.size() == 0) return x;
  Path& path = paths_[first];
  if (path.last_code && path.last_identity == x.identity()) return path.last_code;
  path.last_code = (*this)(comm, x, first);
  path.last_identity = x.identity();
  return path.last_code;
}

Tensor Encoder::sum(const Communicator& comm, const Tensor& x, std::int64_t first,
                    const Compressor::SumOverRanks& all) {
  if (x.size() == 0) return x;
  Path& path = paths_[first];
  const Occasion now = begin(path, comm, x.size(), first);
  charge(comm, encode_work(x.size(), now));
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
  const CodingWork one = decode_work(n, first);
  const auto times = static_cast<double>(codes);
  charge(comm, {.flops = times * one.flops, .bytes = times * one.bytes});
}

}  // namespace simgrad::training
