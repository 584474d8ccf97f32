/// The scheduler of a replica: which requests are in an iteration, and how many of their tokens.
///
/// Iterations are batched continuously: a request joins between two iterations and leaves as soon as its answer is
/// complete, and the tokens of a prompt pass in an iteration beside the single tokens of others. A request is admitted
/// when the cache has room for its prompt and its whole answer, in the order of arrival, so that none is ever
/// interrupted. With cache = "on_demand" room for its prompt is enough. Each later token takes its own; when there is
/// none, the request that arrived last, of those in no iteration, gives its room up and waits before all others. It is
/// admitted again when its prompt and the tokens that it has got fit, which pass anew. The requests of a replica of
/// several stages are dealt to as many slots; the iterations of two slots are in the stages at one time. Source: G.-I.
/// Yu et al., "Orca: A Distributed Serving System for Transformer-Based Generative Models", OSDI 2022 (iterations); A.
/// Agrawal et al., "SARATHI: Efficient LLM Inference by Piggybacking Decodes with Chunked Prefills", 2023
/// (prefill_chunk); W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention",
/// SOSP 2023 (on_demand: pre-emption by recomputation).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "serving/options.h"
#include "serving/requests.h"
#include "serving/stage.h"

namespace simgrad::serving {

/// A request's tokens in an iteration.
struct Slice {
  std::size_t request = 0;
  std::int64_t first = 0, tokens = 0;
  bool answers = false;  ///< the token behind them is chosen
};

struct Iteration {
  int slot = 0;
  std::vector<Slice> slices;
  std::vector<std::size_t> admitted;  ///< requests whose first iteration it is
  Load load;
};

class Replica {
 public:
  /// requests: outlive this object.  room_tokens: of the cache; infinite if that is not known.
  Replica(const std::vector<Request>& requests, const Options& options, double room_tokens, int slots);

  void arrive(std::size_t request);
  /// Tokens that its requests still need.
  std::int64_t outstanding() const { return outstanding_; }
  /// The next iteration of a slot that has none under way; nothing if there is no work for any.
  std::optional<Iteration> next();
  /// The iteration is over. Returns the requests whose answers are complete.
  std::vector<std::size_t> complete(const Iteration& iteration);

  /// The requests that were interrupted since the last call: their keys and values are gone.
  std::vector<std::size_t> take_interrupted() { return std::exchange(interrupted_, {}); }
  /// Tokens that pass again because of interruptions.
  std::int64_t passed_again() const { return passed_again_; }

  double reserved_most() const { return reserved_most_; }  ///< tokens of the cache

 private:
  struct Running {
    std::size_t request;
    std::int64_t first = 0;     ///< tokens that pass before it gets one: the prompt, and those of its answer so far
    std::int64_t held = 0;      ///< tokens of the cache that are its own
    std::int64_t passed = 0;    ///< tokens in the cache
    std::int64_t produced = 0;  ///< tokens of the answer
  };
  struct Slot {
    std::vector<Running> running;
    bool under_way = false;
  };

  bool on_demand() const { return options_.cache == CacheRoom::on_demand; }
  Running next_waiting() const;
  void take_room(Running& running, std::int64_t tokens);
  void make_room(Slot& slot);
  bool interrupt_last();
  void admit(Slot& slot, Iteration& iteration);
  void fill(const Slot& slot, Iteration& iteration) const;

  const std::vector<Request>& requests_;
  const Options& options_;
  double room_, reserved_ = 0.0, reserved_most_ = 0.0;
  std::int64_t outstanding_ = 0, running_ = 0;
  std::deque<std::size_t> waiting_;                 ///< ascending
  std::map<std::size_t, std::int64_t> got_so_far_;  ///< tokens of the answers of interrupted requests
  std::vector<std::size_t> interrupted_;
  std::int64_t passed_again_ = 0;
  std::vector<Slot> slots_;
  std::size_t last_slot_;
};

}  // namespace simgrad::serving
