// Rows of tokens for tests of cut transformers.
#pragma once

#include <cstdint>
#include <vector>

#include "models/model.h"

namespace simgrad::models::test {

/// x_it = (7 i + 5 t + (i t mod 3) + t^2) mod vocabulary, with the row's next token as its target.
struct Text {
  Problem problem;
  std::int64_t rows;
  std::vector<double> x = {}, y = {};

  Text(std::int64_t count, std::int64_t tokens, std::int64_t vocabulary)
      : problem{.features = tokens, .vocabulary = vocabulary}, rows(count) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t t = 0; t <= tokens; ++t)
        (t < tokens ? x : y).push_back(static_cast<double>((7 * i + 5 * t + (i * t) % 3 + t * t) % vocabulary));
  }
  Samples all() const {
    return {.features = x.data(), .targets = y.data(), .columns = problem.features, .first = 0, .count = rows};
  }
};

}  // namespace simgrad::models::test
