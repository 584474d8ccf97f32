/// The section [serving]: requests that arrive, and how a trained transformer answers them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/describe.h"
#include "base/registry.h"
#include "collectives/allreduce.h"

namespace simgrad::serving {

/// When requests arrive.
enum class Arrivals : unsigned char {
  poisson,   ///< at random, at a mean rate
  constant,  ///< one every 1 / rate
  at_once    ///< all at 0
};

/// How the lengths of prompts and answers differ between requests.
enum class Lengths : unsigned char {
  fixed,     ///< all alike
  uniform,   ///< each number from 1 to twice the mean less 1 as likely as another
  geometric  ///< each token is the last one with the same probability, up to `longest` times the mean
};

/// The replica that a request goes to.
enum class Router : unsigned char {
  least_tokens,  ///< the one with the fewest tokens still to process, of those that it has; the first of equal ones
  round_robin    ///< one after the other
};

/// The room of the cache that a request takes.
enum class CacheRoom : unsigned char {
  reserved,  ///< of its prompt and its whole answer, as it is admitted
  on_demand  ///< of the tokens that have passed; a full cache interrupts the request that arrived last
};

struct Options : base::Described {
  std::optional<std::int64_t> requests;
  Arrivals arrivals = Arrivals::poisson;
  std::optional<double> rate_per_s;
  std::string model;  ///< a file of trained parameters; empty: the model's initial ones
  std::string trace;  ///< a CSV file in place of arrivals and lengths; empty: none
  std::int64_t prompt_tokens = 512;
  std::int64_t output_tokens = 128;
  Lengths lengths = Lengths::fixed;
  std::int64_t batch_size = 64;               ///< requests that a replica answers at a time
  std::optional<std::int64_t> prefill_chunk;  ///< tokens of an iteration at most; none: prompts are whole
  CacheRoom cache = CacheRoom::reserved;
  Router router = Router::least_tokens;
  base::Slot<collectives::Allreduce> allreduce{collectives::allreduces(), "ring"};
  double memory_share = 0.9;
  std::optional<double> memory_bandwidth_bytes_per_s;  ///< of hosts without a device
  double warm_up_s = 0.0;
  std::optional<double> ttft_limit_s, tpot_limit_s;
  bool keep_requests = true;

  void describe(base::Describer& d) override;
  /// Whether the scenario serves; else it trains.
  bool any() const { return requests.has_value() || !trace.empty(); }

  static constexpr std::int64_t longest = 4;
  /// The longest prompt or answer whose mean is this.
  std::int64_t most(std::int64_t mean) const;
  /// Its mean number of tokens as they are drawn.
  double mean(std::int64_t tokens) const;
};

}  // namespace simgrad::serving
