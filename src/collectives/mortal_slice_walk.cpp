#include "collectives/mortal_slice_walk.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace simgrad::collectives {

using cluster::MemberTiming;

MortalSliceWalk::MortalSliceWalk(const RingOfChunks& ring, const cluster::AlphaBetaGamma& costs,
                                 std::span<const double> arrivals, const cluster::Until& until)
    : ring_(ring),
      P_(static_cast<int>(arrivals.size())),
      hops_(costs),
      deaths_(*costs.deaths),
      until_(until),
      arrivals_(arrivals.begin(), arrivals.end()),
      before_(arrivals.size() * static_cast<std::size_t>(ring.slices)),
      now_(before_.size()),
      posted_s_(arrivals.size()),
      posted_bytes_(arrivals.size()),
      timings_(arrivals.size()) {
  for (int m = 0; m < P_; ++m) now(m) = arrivals_[static_cast<std::size_t>(m)];
}

std::vector<MemberTiming> MortalSliceWalk::timings() {
  walk();
  return std::move(timings_);
}

cluster::SentByPair MortalSliceWalk::sent() {
  cluster::SentByPair sent;
  sent_ = &sent;
  walk();
  return sent;
}

double MortalSliceWalk::show(cluster::TimingObserver& observer) {
  observer_ = &observer;
  return walk();
}

double MortalSliceWalk::walk() {
  begin();
  for (int number = 0; number < ring_.rounds * ring_.slices; ++number) {
    if (number % ring_.slices == 0 && nobody_moves()) return until_.last();
    if (observer_ && observer_->enough()) return std::ranges::min(timings_, {}, &MemberTiming::end_s).end_s;
    step(number);
  }
  for (int m = 0; m < P_; ++m) finish(m);
  return until_.last();
}

bool MortalSliceWalk::nobody_moves() const {
  return std::ranges::all_of(timings_,
                             [&](const MemberTiming& m) { return m.end_s > until_.last() || !std::isfinite(m.end_s); });
}

/// Every member posts all its receives.
void MortalSliceWalk::begin() {
  for (int m = 0; m < P_; ++m)
    if (now(m) >= deaths_.at_s(m))
      now(m) = never;
    else if (now(m) < never && deaths_.is_down(left_of(m), now(m)))
      stand_still(m);
}

void MortalSliceWalk::step(int number) {
  const int round = number / ring_.slices;
  const auto place = static_cast<std::size_t>(number % ring_.slices);
  if (place == 0) std::swap(before_, now_);
  for (int m = 0; m < P_; ++m) {
    Flight& sending = now_[at(place, m)];
    const Flight last = number == 0 ? Flight()
                        : place > 0 ? now_[at(place - 1, m)]
                                    : before_[at(static_cast<std::size_t>(ring_.slices) - 1, m)];
    sending = {};
    if (!(now(m) < never)) continue;
    const Stretch slice = ring_.slice(ring_.chunk(round, m), static_cast<int>(place));
    if (round > 0 && !receive(m, before_[at(place, left_of(m))], slice, round - 1 < ring_.reducing)) continue;
    if (number > 0 && !pace(m, last)) continue;
    send(m, slice, place);
  }
}

bool MortalSliceWalk::receive(int member, const Flight& in, const Stretch& slice, bool reduces) {
  const auto m = static_cast<std::size_t>(member);
  if (!wait(member, left_of(member), in, ring_.split.bytes(slice))) return false;
  if (!reduces) return true;
  const double combined = now(member) + static_cast<double>(slice.count) * hops_.seconds_per_flop[m];
  const double over = std::min(combined, deaths_.at_s(member));
  timings_[m].compute_s += until_.part_s(member, now(member), over);
  if (observer_ && now(member) < until_.last()) observer_->computes(member, now(member), std::min(over, until_.last()));
  now(member) = deaths_.at_s(member) <= combined ? never : combined;
  return now(member) < never;
}

/// Waits until the bytes of its last slice have left.
bool MortalSliceWalk::pace(int member, const Flight& sending) {
  const auto m = static_cast<std::size_t>(member);
  const std::int64_t bytes = posted_bytes_[m];
  const double leaves_s = static_cast<double>(bytes) / hops_.bandwidth_bytes_per_s[m];
  if (bytes == 0 || leaves_s == 0.0) return true;
  const int right = right_of(member);
  const double come_s = arrivals_[static_cast<std::size_t>(right)];
  if (!wait_until(member, right, sending, bytes, posted_s_[m] + leaves_s)) return false;
  if (come_s < posted_s_[m] + leaves_s)
    return wait_until(member, right, sending, bytes, std::max(posted_s_[m], come_s) + leaves_s);
  return wait(member, right, sending, bytes);
}

bool MortalSliceWalk::send(int member, const Stretch& slice, std::size_t place) {
  const auto m = static_cast<std::size_t>(member);
  const int right = right_of(member);
  if (deaths_.is_down(right, now(member))) return stand_still(member);
  const std::int64_t bytes = ring_.split.bytes(slice);
  posted_s_[m] = now(member);
  posted_bytes_[m] = bytes;
  const double start_s = std::max(now(member), arrivals_[static_cast<std::size_t>(right)]);
  const double death_s = std::min(deaths_.at_s(member), deaths_.at_s(right));
  if (!(start_s < death_s)) return true;
  const double end_s = start_s + hops_.latency_s[m] + static_cast<double>(bytes) / hops_.bandwidth_bytes_per_s[m];
  const Flight& flight = now_[at(place, member)] = {start_s, std::min(end_s, death_s), death_s <= end_s};
  if (start_s > until_.last()) return true;
  if (sent_) (*sent_)[{member, right}] += {bytes, 1};
  if (observer_) observer_->sends(member, right, bytes, start_s, std::min(flight.over_s, until_.last()));
  return true;
}

/// Receives the last round, and waits for its own last slice.
void MortalSliceWalk::finish(int member) {
  if (!(now(member) < never)) return;
  const int left = left_of(member);
  for (int place = 0; place < ring_.slices; ++place)
    if (!receive(member, now_[at(static_cast<std::size_t>(place), left)],
                 ring_.slice(ring_.chunk(ring_.rounds - 1, left), place), ring_.rounds <= ring_.reducing))
      return;
  wait(member, right_of(member), now_[at(static_cast<std::size_t>(ring_.slices) - 1, member)],
       posted_bytes_[static_cast<std::size_t>(member)]);
}

bool MortalSliceWalk::wait(int member, int peer, const Flight& flight, std::int64_t bytes) {
  if (flight.over_s > now(member) && !block(member, peer, flight.start_s, flight.over_s, bytes)) return false;
  return flight.broken ? stand_still(member) : true;
}

bool MortalSliceWalk::wait_until(int member, int peer, const Flight& flight, std::int64_t bytes, double at_s) {
  return at_s > now(member) ? block(member, peer, std::min(flight.start_s, at_s), at_s, bytes) : true;
}

bool MortalSliceWalk::block(int member, int peer, double start_s, double end_s, std::int64_t bytes) {
  const double from_s = std::max(now(member), start_s), over_s = std::min(end_s, deaths_.at_s(member));
  if (observer_) observer_->blocks(member, peer, now(member), start_s, over_s);
  if (from_s < over_s) {
    timings_[static_cast<std::size_t>(member)].communicate_s += until_.part_s(member, from_s, over_s);
    if (observer_ && from_s < until_.last())
      observer_->communicates(member, peer, bytes, from_s, std::min(over_s, until_.last()));
  }
  now(member) = deaths_.at_s(member) <= end_s ? never : end_s;
  return now(member) < never;
}

bool MortalSliceWalk::stand_still(int member) {
  if (observer_) observer_->loses_peer(member, now(member));
  now(member) = never;
  return false;
}

}  // namespace simgrad::collectives
