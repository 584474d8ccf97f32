#include "serving/replica.h"

#include <algorithm>

#include "base/errors.h"

namespace simgrad::serving {

Replica::Replica(const std::vector<Request>& requests, const Options& options, double room_tokens, int slots)
    : requests_(requests),
      options_(options),
      room_(room_tokens),
      slots_(static_cast<std::size_t>(slots)),
      last_slot_(slots_.size() - 1) {}

void Replica::arrive(std::size_t request) {
  waiting_.push_back(request);
  outstanding_ += requests_[request].tokens();
}

/// Admits requests into the slot's iteration: as many as the slot's share of the batch, while the cache has room.
void Replica::admit(Slot& slot, Iteration& iteration) {
  const auto slots = static_cast<std::int64_t>(slots_.size());
  const std::int64_t at_a_time = std::min(options_.batch_size, running_ + std::ssize(waiting_));
  const std::int64_t share = (at_a_time + slots - 1) / slots;
  while (!waiting_.empty() && running_ < options_.batch_size && std::ssize(slot.running) < share) {
    const auto tokens = static_cast<double>(requests_[waiting_.front()].tokens());
    if (reserved_ + tokens > room_) return;
    reserved_ += tokens;
    reserved_most_ = std::max(reserved_most_, reserved_);
    slot.running.push_back({.request = waiting_.front()});
    iteration.admitted.push_back(waiting_.front());
    waiting_.pop_front();
    ++running_;
  }
}

/// Single tokens come first; what is left of `prefill_chunk` goes to prompts, in the order of their admission.
void Replica::fill(const Slot& slot, Iteration& iteration) const {
  const auto add = [&](const Running& its, std::int64_t tokens) {
    const bool answers = its.passed + tokens >= requests_[its.request].prompt_tokens;
    iteration.slices.push_back({.request = its.request, .first = its.passed, .tokens = tokens, .answers = answers});
    iteration.load += load_of(its.passed, tokens, answers);
  };
  const auto in_prompt = [&](const Running& its) { return its.passed < requests_[its.request].prompt_tokens; };
  for (const Running& its : slot.running)
    if (!in_prompt(its)) add(its, 1);
  std::int64_t left = options_.prefill_chunk
                          ? std::max<std::int64_t>(*options_.prefill_chunk - std::ssize(iteration.slices), 0)
                          : std::int64_t{1} << 60;
  for (const Running& its : slot.running) {
    if (!in_prompt(its) || left == 0) continue;
    const std::int64_t tokens = std::min(left, requests_[its.request].prompt_tokens - its.passed);
    add(its, tokens);
    left -= tokens;
  }
}

std::optional<Iteration> Replica::next() {
  for (std::size_t k = 1; k <= slots_.size(); ++k) {
    const std::size_t s = (last_slot_ + k) % slots_.size();
    Slot& slot = slots_[s];
    if (slot.under_way) continue;
    Iteration iteration{.slot = static_cast<int>(s), .slices = {}, .admitted = {}, .load = {}};
    admit(slot, iteration);
    if (slot.running.empty()) continue;
    fill(slot, iteration);
    slot.under_way = true;
    last_slot_ = s;
    return iteration;
  }
  return {};
}

std::vector<std::size_t> Replica::complete(const Iteration& iteration) {
  Slot& slot = slots_[static_cast<std::size_t>(iteration.slot)];
  base::check(slot.under_way, "an iteration ends once");
  slot.under_way = false;
  std::vector<std::size_t> done;
  for (const Slice& slice : iteration.slices) {
    const auto at = std::ranges::find(slot.running, slice.request, &Running::request);
    const std::int64_t prompt = requests_[slice.request].prompt_tokens;
    outstanding_ -= std::clamp<std::int64_t>(prompt - at->passed, 0, slice.tokens);
    at->passed += slice.tokens;
    if (!slice.answers) continue;
    --outstanding_;
    if (++at->produced < requests_[slice.request].output_tokens) continue;
    reserved_ -= static_cast<double>(requests_[slice.request].tokens());
    slot.running.erase(at);
    --running_;
    done.push_back(slice.request);
  }
  return done;
}

}  // namespace simgrad::serving
