/// The rows of a large matrix, shared out to threads in blocks.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/in_parallel.h"

namespace simgrad::data {

/// Calls body(first, end) for blocks that hold each row once, on several threads where that pays. Which block a row is
/// in depends on the shape alone.  body: throws nothing.
template <class Body>
void in_blocks_of_rows(int threads, std::size_t rows, std::size_t columns, Body body) {
  constexpr std::size_t numbers = 1 << 16;
  const std::size_t block = std::max<std::size_t>(1, numbers / std::max<std::size_t>(1, columns));
  base::in_parallel(threads, (rows + block - 1) / block,
                    [&](std::size_t k) { body(k * block, std::min(rows, (k + 1) * block)); });
}

}  // namespace simgrad::data
