#include "strategies/mapreduce/split_master.h"

#include <utility>

#include "base/errors.h"
#include "strategies/notes.h"
#include "training/worker.h"

namespace simgrad::strategies {

using cluster::Inbox;
using cluster::Packet;

SplitMaster::SplitMaster(const Server& server, int splits, std::optional<double> slow_factor,
                         const training::Compressor& parameters)
    : server_(server),
      splits_(splits),
      slow_factor_(slow_factor),
      code_(parameters, server),
      mail_(server.comm(), 0, server.workers(), Inbox::OnLoss::reported),
      here_(static_cast<std::size_t>(server.workers()), true) {}

std::vector<Tensor> SplitMaster::mapped(const State& state) {
  begin(state);
  while (missing_ > 0) {
    const auto copy_at = tracker_->next_copy_at();
    auto arrival = copy_at ? mail_.next_until(*copy_at) : mail_.next();
    if (arrival) {
      take(std::move(*arrival), state);
    } else {
      const JobTracker::Copy copy = tracker_->start_copy(server_.now());
      order(copy.worker, copy.split);
    }
  }
  cluster::wait_for_sends(sends_);
  return std::move(results_);
}

void SplitMaster::begin(const State& state) {
  step_ = state.step;
  tracker_.emplace(server_.workers(), splits_, slow_factor_, server_.now());
  results_.assign(static_cast<std::size_t>(splits_), {});
  missing_ = splits_;
  for (int worker = 0; worker < server_.workers(); ++worker) {
    if (here_[static_cast<std::size_t>(worker)] && server_.comm().alive(worker))
      send_parameters(worker, state);
    else
      lose(worker);
  }
}

void SplitMaster::take(Inbox::Arrival arrival, const State& state) {
  const int worker = arrival.source;
  const Packet& packet = arrival.packet;
  if (arrival.lost) {
    lose(worker);
  } else if (packet.find_note<JoinRound>()) {
    here_[static_cast<std::size_t>(worker)] = true;
    send_parameters(worker, state);
    order(worker, tracker_->back(worker, server_.now()));
  } else if (const auto* result = packet.find_note<SplitResult>()) {
    Tensor& place = results_[static_cast<std::size_t>(result->split)];
    base::check(result->step == step_ && !place, "a split has one result");
    place = packet.tensor;
    tracker_->received(static_cast<int>(result->split));
    --missing_;
  } else if (packet.note<SplitReport>().step == step_) {  // else a copy that came too late
    const JobTracker::Order next = tracker_->finished(worker, server_.now());
    order(worker, next.split, next.accepted);
  }
}

void SplitMaster::send_parameters(int worker, const State& state) {
  sends_.push_back(
      server_.comm().start_send_unless_lost(worker, Packet(code_.once(server_.comm(), state.w), Version{state.step})));
}

void SplitMaster::order(int worker, std::optional<int> split, bool accepted) {
  const SplitOrder order{.step = step_, .number = split.value_or(SplitOrder::none), .accepted = accepted};
  sends_.push_back(server_.comm().start_send_unless_lost(worker, Packet({}, order)));
}

void SplitMaster::lose(int worker) {
  here_[static_cast<std::size_t>(worker)] = false;
  for (const JobTracker::Copy& begun : tracker_->lost(worker, server_.now())) order(begun.worker, begun.split);
}

}  // namespace simgrad::strategies
