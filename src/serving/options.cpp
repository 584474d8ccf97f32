#include "serving/options.h"

#include <array>
#include <cmath>

namespace simgrad::serving {

using base::Bounds;
using base::Choice;
using base::Unit;

namespace {

constexpr std::array arrival_kinds{
    Choice{"poisson", "at random: times between arrivals are exponential, with mean 1 / rate"},
    Choice{"constant", "one request every 1 / rate"}, Choice{"at_once", "all requests at time 0"}};
constexpr std::array length_kinds{
    Choice{"fixed", "all prompts and all answers are of the lengths given"},
    Choice{"uniform", "each number of tokens from 1 to twice the length given less 1 is as likely as another"},
    Choice{"geometric",
           "each token is the last one with probability 1 / the length given, but for the last of four times as many"}};
constexpr std::array cache_rooms{
    Choice{"reserved", "a request is admitted when its prompt and whole answer fit, and is never interrupted"},
    Choice{"on_demand",
           "a request is admitted when its prompt fits; when the cache is full the request that arrived last gives its "
           "room up, and passes all of its tokens again later (W. Kwon et al., 2023)"}};
constexpr std::array routers{Choice{"least_tokens", "the replica whose requests need the fewest further tokens"},
                             Choice{"round_robin", "the replicas in turn"}};

constexpr Bounds durations{.least = 0.0, .most = 1e9, .positive = true};
constexpr Bounds token_numbers{.least = 1, .most = 1e7};

}  // namespace

void Options::describe(base::Describer& d) {
  d.integer("requests", requests, "the requests that arrive; default with a trace: all of its rows",
            Bounds::between(1, 1e7));
  d.choice("arrivals", arrivals, arrival_kinds, "when requests arrive");
  d.number("rate", rate_per_s, "mean number of requests that arrive in a second, at all replicas together",
           Bounds{.least = 0.0, .most = 1e9, .positive = true});
  d.path("trace", trace,
         "a CSV file of requests in place of arrivals and lengths: arrival_s,prompt_tokens,output_tokens, ascending");
  d.path(
      "model", model,
      "a file of trained parameters, as a run with save_model = true leaves it in models/, with which the answers are "
      "computed; default: the initial parameters of [model]");
  d.integer("prompt_tokens", prompt_tokens, "the length of a prompt, or its mean", token_numbers);
  d.integer("output_tokens", output_tokens, "the length of an answer, or its mean", token_numbers);
  d.choice("lengths", lengths, length_kinds, "how lengths differ between requests");
  d.integer("batch_size", batch_size, "the most requests that a replica answers at a time", Bounds::between(1, 1e6));
  d.integer("prefill_chunk", prefill_chunk,
            "the most tokens of an iteration, so that a long prompt is read in several iterations, together with "
            "tokens of other requests; default: a prompt is read in one iteration",
            token_numbers);
  d.choice("cache", cache, cache_rooms, "the room of the cache of keys and values that a request takes");
  d.choice("router", router, routers, "the replica that a request goes to as it arrives");
  d.component("allreduce", allreduce, "how tensor ranks sum the results of their products");
  d.number("memory_share", memory_share, "the share of a device's memory that parameters and the cache may take",
           Bounds{.least = 0.0, .most = 1.0, .positive = true});
  d.quantity(
      "memory_bandwidth", memory_bandwidth_bytes_per_s, Unit::bytes_per_second,
      "the bandwidth at which a host without a device reads parameters and cache; default: reading takes no time",
      Bounds{.least = 0.0, .most = 1e18, .positive = true});
  d.quantity(
      "warm_up", warm_up_s, Unit::seconds,
      "requests that arrive earlier do not count in durations; rates and dollars are those from here to the last "
      "arrival",
      Bounds::between(0, 1e9));
  d.quantity("ttft_limit", ttft_limit_s, Unit::seconds,
             "the longest time to the first token that counts as good service", durations);
  d.quantity("tpot_limit", tpot_limit_s, Unit::seconds,
             "the longest mean time between two tokens of a request that counts as good service", durations);
  d.flag("keep_requests", keep_requests, "whether results have a row for each request");
  const bool traced = !trace.empty();
  if (requests && !traced && arrivals != Arrivals::at_once && !rate_per_s)
    d.refuse("rate", "requests need a rate of arrivals; give rate, arrivals = \"at_once\", or a trace");
  if (arrivals == Arrivals::at_once && rate_per_s)
    d.refuse("rate", "arrivals = \"at_once\" brings all requests at 0; leave rate out");
  for (const char* key : {"arrivals", "rate", "prompt_tokens", "output_tokens", "lengths"})
    if (traced && d.given(key))
      d.refuse(key, "the trace says when requests arrive and how long they are; leave this out, or the trace");
}

std::int64_t Options::most(std::int64_t mean) const {
  switch (lengths) {
    case Lengths::fixed:
      break;
    case Lengths::uniform:
      return 2 * mean - 1;
    case Lengths::geometric:
      return longest * mean;
  }
  return mean;
}

double Options::mean(std::int64_t tokens) const {
  const auto m = static_cast<double>(tokens);
  if (lengths != Lengths::geometric) return m;
  // The sum of P(length > k) = (1 - 1/m)^k over k below the longest.
  return m * (1.0 - std::pow(1.0 - 1.0 / m, static_cast<double>(most(tokens))));
}

}  // namespace simgrad::serving
