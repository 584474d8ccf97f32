// Compressors as options of strategies.
#pragma once

#include <string>
#include <vector>

#include "strategies/compression.h"
#include "strategies/programs.h"
#include "training/compressors/power_sgd.h"
#include "training/compressors/random_k.h"
#include "training/compressors/sign.h"
#include "training/compressors/top_k.h"

namespace simgrad::tests {

/// A kind with some of its options set.
struct Compressor {
  struct Options {
    bool error_feedback = false;
    std::optional<std::int64_t> k = {};
    std::int64_t rank = 2;
    bool majority = false;
  };
  explicit Compressor(std::string_view its_kind, Options its_options) : kind(its_kind), options(its_options) {}
  explicit Compressor(std::string_view its_kind) : Compressor(its_kind, Options()) {}

  strategies::Compression slot() const {
    strategies::Compression made = strategies::no_compression();
    REQUIRE(made.choose(kind));
    auto& chosen = dynamic_cast<training::Compressor&>(*made.object());
    chosen.error_feedback = chosen.error_feedback || options.error_feedback;
    if (auto* top = dynamic_cast<training::TopK*>(&chosen)) top->kept.k = options.k;
    if (auto* random = dynamic_cast<training::RandomK*>(&chosen)) random->kept.k = options.k;
    if (auto* low = dynamic_cast<training::PowerSgd*>(&chosen)) low->rank = options.rank;
    if (auto* sign = dynamic_cast<training::Sign*>(&chosen); sign && options.majority)
      sign->scale = training::Scale::majority;
    return made;
  }

  std::string kind;
  Options options;
};

/// One that leaves nothing out of d parameters, and how far apart two runs may be that should be the same.
struct Exact {
  std::string name;
  Compressor compression;
  double within = 0.0;
};
inline std::vector<Exact> exact_compressors(std::int64_t d) {
  return {{"float64", Compressor("float64"), 0.0},
          {"top_k, k = d", Compressor("top_k", {.k = d}), 1e-12},  // added in another order
          {"random_k, k = d", Compressor("random_k", {.k = d}), 0.0},
          {"power_sgd, full rank", Compressor("power_sgd", {.rank = 1000}), 1e-9}};
}

inline double norm_squared(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double each : x) sum += each * each;
  return sum;
}

}  // namespace simgrad::tests
