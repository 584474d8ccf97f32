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
    Running running = next_waiting();
    const std::int64_t tokens = on_demand() ? running.first : requests_[running.request].tokens();
    if (reserved_ + static_cast<double>(tokens) > room_) return;
    take_room(running, tokens);
    slot.running.push_back(running);
    if (got_so_far_.erase(running.request) == 0) iteration.admitted.push_back(running.request);
    waiting_.pop_front();
    ++running_;
  }
}

Replica::Running Replica::next_waiting() const {
  Running running{.request = waiting_.front()};
  if (const auto before = got_so_far_.find(running.request); before != got_so_far_.end())
    running.produced = before->second;
  running.first = requests_[running.request].prompt_tokens + running.produced;
  return running;
}

void Replica::take_room(Running& running, std::int64_t tokens) {
  running.held += tokens;
  reserved_ += static_cast<double>(tokens);
  reserved_most_ = std::max(reserved_most_, reserved_);
}

/// The next token of each of the slot's requests gets room, if need be from requests that arrived later.
void Replica::make_room(Slot& slot) {
  const auto gets_a_token = [](const Running& running) { return running.passed >= running.first; };
  while (reserved_ + static_cast<double>(std::ranges::count_if(slot.running, gets_a_token)) > room_)
    base::check(interrupt_last(), "a request by itself has room");
  for (Running& running : slot.running)
    if (gets_a_token(running)) take_room(running, 1);
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
  const Running interrupted = of->running[last];
  of->running.erase(of->running.begin() + static_cast<std::ptrdiff_t>(last));
  --running_;
  reserved_ -= static_cast<double>(interrupted.held);
  const std::int64_t still = interrupted.first - std::min(interrupted.passed, interrupted.first);
  outstanding_ += requests_[interrupted.request].prompt_tokens + interrupted.produced - still;
  passed_again_ += interrupted.passed;
  got_so_far_[interrupted.request] = interrupted.produced;
  waiting_.insert(std::ranges::lower_bound(waiting_, interrupted.request), interrupted.request);
  interrupted_.push_back(interrupted.request);
  return true;
}

/// Single tokens come first; what is left of `prefill_chunk` goes to prompts, in the order of their admission.
void Replica::fill(const Slot& slot, Iteration& iteration) const {
  const auto add = [&](const Running& running, std::int64_t tokens) {
    const bool answers = running.passed + tokens >= running.first;
    iteration.slices.push_back(
        {.request = running.request, .first = running.passed, .tokens = tokens, .answers = answers});
    iteration.load += load_of(running.passed, tokens, answers);
  };
  const auto in_prompt = [&](const Running& running) { return running.passed < running.first; };
  for (const Running& running : slot.running)
    if (!in_prompt(running)) add(running, 1);
  std::int64_t left = options_.prefill_chunk
                          ? std::max<std::int64_t>(*options_.prefill_chunk - std::ssize(iteration.slices), 0)
                          : std::int64_t{1} << 60;
  for (const Running& running : slot.running) {
    if (!in_prompt(running) || left == 0) continue;
    const std::int64_t tokens = std::min(left, running.first - running.passed);
    add(running, tokens);
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
