/// A message's contents.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "values/tensor.h"

namespace simgrad::cluster {

/// What travels: an array, and a small number beside it (a parameter version) that weighs nothing.
struct Packet {
  values::Tensor tensor;
  std::int64_t version = 0;
  std::int64_t more_bytes = 0;  ///< that travel beside the array: rows of data, say
  /// Of which keys the array holds the numbers, or whose numbers are asked for. Their bytes are in more_bytes.
  std::shared_ptr<const std::vector<std::uint32_t>> keys = {}, wanted = {};

  Packet() = default;
  Packet(values::Tensor carried, std::int64_t its_version = 0)  // NOLINT: a tensor is a packet
      : tensor(std::move(carried)), version(its_version) {}

  std::int64_t bytes() const { return (tensor ? tensor.size_bytes() : 0) + more_bytes; }
};

}  // namespace simgrad::cluster
