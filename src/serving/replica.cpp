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
    Running its = next_waiting();
    const std::int64_t tokens = on_demand() ? its.first : requests_[its.request].tokens();
    if (reserved_ + static_cast<double>(tokens) > room_) return;
    take_room(its, tokens);
    slot.running.push_back(its);
    if (got_so_far_.erase(its.request) == 0) iteration.admitted.push_back(its.request);
    waiting_.pop_front();
    ++running_;
  }
}

Replica::Running Replica::next_waiting() const {
  Running its{.request = waiting_.front()};
  if (const auto before = got_so_far_.find(its.request); before != got_so_far_.end()) its.produced = before->second;
  its.first = requests_[its.request].prompt_tokens + its.produced;
  return its;
}

void Replica::take_room(Running& its, std::int64_t tokens) {
  its.held += tokens;
  reserved_ += static_cast<double>(tokens);
  reserved_most_ = std::max(reserved_most_, reserved_);
}

/// The next token of each of the slot's requests gets room, if need be from requests that arrived later.
void Replica::make_room(Slot& slot) {
  const auto gets_a_token = [](const Running& its) { return its.passed >= its.first; };
  while (reserved_ + static_cast<double>(std::ranges::count_if(slot.running, gets_a_token)) > room_)
    base::check(interrupt_last(), "a request by itself has room");
  for (Running& its : slot.running)
    if (gets_a_token(its)) take_room(its, 1);
}

/// Interrupts the request that arrived last, of those in no iteration.  Returns whether there was one.
bool Replica::interrupt_last() {
  Slot* of = nullptr;
  std::size_t last = 0;
  for (Slot& slot : slots_)
    for (std::size_t i = 0; i < slot.running.size() && !slot.under_way; ++i)
      if (!of || slot.running[i].request > of->running[last].request) {
        of = &slot;
        last = i;
      }
  if (!of) return false;
  const Running its = of->running[last];
  of->running.erase(of->running.begin() + static_cast<std::ptrdiff_t>(last));
  --running_;
  reserved_ -= static_cast<double>(its.held);
  const std::int64_t still = its.first - std::min(its.passed, its.first);
  outstanding_ += requests_[its.request].prompt_tokens + its.produced - still;
  passed_again_ += its.passed;
  got_so_far_[its.request] = its.produced;
  waiting_.insert(std::ranges::lower_bound(waiting_, its.request), its.request);
  interrupted_.push_back(its.request);
  return true;
}

/// Single tokens come first; what is left of `prefill_chunk` goes to prompts, in the order of their admission.
void Replica::fill(const Slot& slot, Iteration& iteration) const {
  const auto add = [&](const Running& its, std::int64_t tokens) {
    const bool answers = its.passed + tokens >= its.first;
    iteration.slices.push_back({.request = its.request, .first = its.passed, .tokens = tokens, .answers = answers});
    iteration.load += load_of(its.passed, tokens, answers);
  };
  const auto in_prompt = [&](const Running& its) { return its.passed < its.first; };
  for (const Running& its : slot.running)
    if (!in_prompt(its)) add(its, 1);
  std::int64_t left = options_.prefill_chunk
                          ? std::max<std::int64_t>(*options_.prefill_chunk - std::ssize(iteration.slices), 0)
                          : std::int64_t{1} << 60;
  for (const Running& its : slot.running) {
    if (!in_prompt(its) || left == 0) continue;
    const std::int64_t tokens = std::min(left, its.first - its.passed);
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
    if (on_demand()) make_room(slot);
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
    outstanding_ -= std::clamp<std::int64_t>(at->first - at->passed, 0, slice.tokens);
    at->passed += slice.tokens;
    if (!slice.answers) continue;
    --outstanding_;
    if (++at->produced < requests_[slice.request].output_tokens) continue;
    reserved_ -= static_cast<double>(at->held);
    slot.running.erase(at);
    --running_;
    done.push_back(slice.request);
  }
  return done;
}

}  // namespace simgrad::serving
