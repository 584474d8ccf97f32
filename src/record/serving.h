/// The record of a run that answers requests: [serving].
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace simgrad::record {

/// Mean and quantiles of a duration over the requests that count.
struct Spread {
  std::optional<double> mean = {}, median = {}, p95 = {}, p99 = {};
};

/// All is null in a run that trains. Requests that arrive in the warm-up do not count.
struct Serving {
  std::optional<std::int64_t> requests = {};              ///< that count
  std::optional<double> requests_per_s = {};              ///< answered between the warm-up and the last arrival
  std::optional<double> output_tokens_per_s = {};         ///< likewise
  std::optional<double> output_tokens = {};               ///< of all requests
  std::optional<double> prompt_tokens = {};               ///< of all requests
  Spread ttft_s = {};                                     ///< from a request's arrival to its first token
  Spread tpot_s = {};                                     ///< between two tokens of a request, after the first one
  Spread latency_s = {};                                  ///< from a request's arrival to its last token
  Spread queue_s = {};                                    ///< from its arrival to the iteration that admits it
  std::optional<double> device_utilisation = {};          ///< share of the run in which devices compute, mean
  std::optional<double> memory_bound_share = {};          ///< share of computing that the memory's bandwidth decides
  std::optional<std::int64_t> iterations = {};            ///< of all replicas
  std::optional<double> batch_mean = {};                  ///< requests in an iteration
  std::optional<double> cache_share_max = {};             ///< the most of a replica's cache that was reserved
  std::optional<double> cache_bytes_max = {};             ///< likewise, on the device with most of it
  std::optional<double> capacity_requests_per_s = {};     ///< above this rate of arrivals the queue grows for ever
  std::optional<double> within_limits = {};               ///< share of requests within ttft_limit and tpot_limit
  std::optional<double> dollars_per_million_tokens = {};  ///< of output tokens, at the scenario's prices
  std::optional<double> joules_per_token = {};            ///< likewise
};

/// One request, as it was answered.
struct ServedRequest {
  double arrival_s = 0.0;
  double start_s = 0.0;  ///< of the iteration that admits it
  double first_token_s = 0.0;
  double end_s = 0.0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t replica = 0;
  std::string prompt = {};  ///< a line of text, or its tokens where they are numbers; empty in a timing-only run
  std::string answer = {};  ///< as the prompt
};

}  // namespace simgrad::record
