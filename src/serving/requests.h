/// The requests of a run: drawn, or read from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serving/options.h"

namespace simgrad::serving {

struct Request {
  double arrival_s = 0.0;
  std::int64_t prompt_tokens = 1;
  std::int64_t output_tokens = 1;

  std::int64_t tokens() const { return prompt_tokens + output_tokens; }
};

/// The requests, in the order of their arrival. A request's draws depend on the seed and its number alone.
/// Source: the Poisson process, as in L. Kleinrock, Queueing Systems, volume 1, 1975.
/// Errors: EnvironmentError for a trace that cannot be opened; ScenarioError `file:line:column: ...` for its contents.
std::vector<Request> requests_of(const Options& options, std::uint64_t seed);

/// Facts about them that are known whatever the seed.
struct Expected {
  double rate_per_s = 0.0;                          ///< of arrivals; 0: all come at once
  double prompt_tokens = 0.0, output_tokens = 0.0;  ///< means
  std::int64_t longest_prompt = 0, longest_output = 0;
  std::int64_t longest = 0;  ///< the most tokens of a request, prompt and answer
};
/// Errors: as requests_of.
Expected expected(const Options& options);

}  // namespace simgrad::serving
