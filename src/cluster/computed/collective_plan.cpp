#include "cluster/computed/collective_plan.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

namespace simgrad::cluster {

namespace {

/// Whether the transfers of both cost the same, member by member.
bool cost_the_same(const PlannedPart& a, const PlannedPart& b) {
  if (a.signature != b.signature || a.costs->flows_share_links() || b.costs->flows_share_links()) return false;
  if (a.costs->seconds_per_flop != b.costs->seconds_per_flop) return false;
  if (!a.costs->routes)
    return a.costs->latency_s == b.costs->latency_s && a.costs->bandwidth_bytes_per_s == b.costs->bandwidth_bytes_per_s;
  const std::vector at_once(a.costs->seconds_per_flop.size(), 0.0);
  const SentByPair pairs = a.timing->sent(*a.costs, at_once, Until::never);
  return std::ranges::all_of(pairs, [&](const auto& sent) {
    const MemberRoute& one = a.costs->routes->between(sent.first.first, sent.first.second);
    const MemberRoute& other = b.costs->routes->between(sent.first.first, sent.first.second);
    return one.latency_s == other.latency_s && one.alone_bytes_per_s() == other.alone_bytes_per_s();
  });
}

}  // namespace

void find_alike(PlannedPhase& phase) {
  constexpr std::size_t most = 8;  // kinds that a part is compared with
  std::vector<std::size_t> kinds;
  for (std::size_t p = 0; p < phase.parts.size(); ++p) {
    const auto same =
        std::ranges::find_if(kinds, [&](std::size_t k) { return cost_the_same(phase.parts[k], phase.parts[p]); });
    if (same != kinds.end())
      phase.parts[p].alike = static_cast<int>(*same);
    else if (kinds.size() < most)
      kinds.push_back(p);
  }
}

CollectivePlan::CollectivePlan(std::vector<PlannedPhase> all) : phases(std::move(all)) {
  for (PlannedPart& part : phases.back().parts) part.last = true;
  knows_deaths = std::ranges::all_of(phases, [](const PlannedPhase& phase) {
    return std::ranges::all_of(phase.parts, [](const PlannedPart& part) { return part.timing->knows_deaths(); });
  });
}

namespace {

/// The times at which a part's members leave what they have been through so far.
std::vector<double> ends_of(const PlannedPart& part, const std::vector<MemberTiming>& all) {
  const std::size_t members = part.positions.empty() ? all.size() : part.positions.size();
  std::vector<double> theirs;
  theirs.reserve(members);
  for (std::size_t m = 0; m < members; ++m) theirs.push_back(all[part.position(m)].end_s);
  return theirs;
}

/// As far as the part's times lie before `until`. Members whose part begins later leave it as they come.
std::vector<MemberTiming> timings_until(const PlannedPart& part, const PartTimes& part_times) {
  if (part_times.until.last() >= std::ranges::min(part_times.arrivals))
    return part.timing->timings(part_times.costs(part), part_times.arrivals, part_times.until);
  std::vector<MemberTiming> nothing;
  for (const double arrival_s : part_times.arrivals) nothing.push_back({.end_s = arrival_s});
  return nothing;
}

/// The part's costs where members of it die, or work on blocks; null: none does.
std::shared_ptr<const AlphaBetaGamma> with_own(const PlannedPart& part, const MembersOwn& own) {
  Deaths deaths = own.deaths.of_members(part.positions);
  if (!deaths.any() && own.block_s.empty()) return nullptr;
  AlphaBetaGamma costs = *part.costs;
  if (deaths.any()) costs.deaths = std::make_shared<const Deaths>(std::move(deaths));
  for (std::size_t m = 0; m < costs.seconds_per_flop.size() && !own.block_s.empty(); ++m)
    costs.block_s.push_back(own.block_s[part.position(m)]);
  return std::make_shared<const AlphaBetaGamma>(std::move(costs));
}

}  // namespace

/// The parts of a phase that have been walked, found by their arrivals.
class CollectiveTimes::Walked {
 public:
  explicit Walked(const std::vector<PartTimes>& parts) : parts_(parts) {}

  /// An earlier part, alike, whose members came at the same times; null: there is none, and this one is noted.
  const PartTimes* find(const PlannedPart& part, const PartTimes& part_times) {
    const std::size_t kind = part.alike < 0 ? parts_.size() : static_cast<std::size_t>(part.alike);
    std::size_t hash = kind;
    for (const double arrival_s : part_times.arrivals)
      hash = 0x9e3779b97f4a7c15u * (hash ^ (hash >> 29) ^ std::bit_cast<std::uint64_t>(arrival_s));
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
      const auto& [its_kind, number] = at->second;
      const PartTimes& earlier = parts_[number];
      if (its_kind == kind && earlier.arrivals == part_times.arrivals && earlier.until == part_times.until)
        return &earlier;
    }
    by_hash_.emplace(hash, std::pair(kind, parts_.size()));
    return nullptr;
  }

 private:
  const std::vector<PartTimes>& parts_;                                                ///< grows as parts are added
  std::unordered_multimap<std::size_t, std::pair<std::size_t, std::size_t>> by_hash_;  ///< kinds and numbers
};

CollectiveTimes::CollectiveTimes(const CollectivePlan& plan, std::span<const double> arrivals, const Until& until,
                                 MembersOwn own)
    : plan_(plan), own_(std::move(own)), whole_(arrivals.size()) {
  for (std::size_t m = 0; m < whole_.size(); ++m) whole_[m].end_s = arrivals[m];
  phases_.reserve(plan.phases.size());
  for (const PlannedPhase& phase : plan.phases) {
    phases_.emplace_back().reserve(phase.parts.size());
    Walked walked(phases_.back());
    for (const PlannedPart& part : phase.parts) add(part, ends_of(part, whole_), until, walked);
  }
}

CollectiveTimes::CollectiveTimes(const CollectiveTimes& whole, const Until& until)
    : plan_(whole.plan_), own_(whole.own_), whole_(whole.whole_.size()) {
  for (std::size_t phase = 0; phase < whole.phases(); ++phase) {
    phases_.emplace_back().reserve(whole.phases_[phase].size());
    Walked walked(phases_.back());
    for (std::size_t p = 0; p < whole.phases_[phase].size(); ++p)
      add(plan_.phases[phase].parts[p], whole.part(phase, p).arrivals, until, walked);
  }
}

void CollectiveTimes::add(const PlannedPart& part, std::vector<double> arrivals, const Until& until, Walked& walked) {
  PartTimes part_times{std::move(arrivals), until.of_members(part.positions), {}};
  part_times.own = with_own(part, own_);
  const PartTimes* const same = part_times.own ? nullptr : walked.find(part, part_times);
  part_times.timings = same ? same->timings : timings_until(part, part_times);
  for (std::size_t m = 0; m < part_times.timings.size(); ++m) {
    MemberTiming& all = whole_[part.position(m)];
    all.end_s = part_times.timings[m].end_s;
    all.compute_s += part_times.timings[m].compute_s;
    all.communicate_s += part_times.timings[m].communicate_s;
  }
  phases_.back().push_back(std::move(part_times));
}

const PartTimes* CollectiveTimes::before(std::size_t phase, std::size_t member) const {
  while (phase-- > 0)
    if (const int part = plan_.phases[phase].place(member).part; part != PlannedPhase::nowhere)
      return &phases_[phase][static_cast<std::size_t>(part)];
  return nullptr;
}

void CollectiveTimes::find_lateness(std::span<const SinceCollective> since, std::span<const int> order,
                                    const std::function<Lateness(std::size_t)>& missing) {
  for (std::size_t phase = 0; phase < phases_.size(); ++phase)
    for (std::size_t p = 0; p < phases_[phase].size(); ++p) {
      const PlannedPart& part = plan_.phases[phase].parts[p];
      PartTimes& times = phases_[phase][p];
      const auto ready_s = [&](std::size_t m) { return times.arrivals[m] + times.work_s(m); };
      std::size_t last = 0;
      for (std::size_t m = 1; m < times.arrivals.size(); ++m)
        if (ready_s(m) > ready_s(last) ||
            (ready_s(m) == ready_s(last) && order[part.position(m)] > order[part.position(last)]))
          last = m;
      if (const double last_s = ready_s(last); last_s < Until::never)
        times.lateness = {last_s, (phase == 0 ? since[part.position(last)] : SinceCollective{times.arrivals[last], {}})
                                      .with_work(times.work_s(last))};
      else if (const PartTimes* const earlier = before(phase, part.position(last)))
        times.lateness = earlier->lateness;  // somebody is missing there
      else
        times.lateness = missing(part.position(last));
    }
}

record::TimeParts CollectiveTimes::causes(std::size_t member, const SinceCollective& since, double from_s, double to_s,
                                          const CollectiveTimes* counted) const {
  record::TimeParts all;
  for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
    const PlannedPhase::Place place = plan_.phases[phase].place(member);
    if (place.part == PlannedPhase::nowhere) continue;
    const auto part = static_cast<std::size_t>(place.part), m = static_cast<std::size_t>(place.member);
    const PartTimes& times = phases_[phase][part];
    const double arrival_s = std::max(times.arrivals[m], from_s);
    const double end_s = std::min(times.timings[m].end_s, to_s);
    if (!(end_s > arrival_s)) continue;
    double busy_s = times.timings[m].compute_s + times.timings[m].communicate_s;
    if (counted) {
      const MemberTiming& before = counted->phases_[phase][part].timings[m];
      busy_s -= before.compute_s + before.communicate_s;
    }
    const SinceCollective own =
        (phase == 0 ? since : SinceCollective{times.arrivals[m], {}}).with_work(times.work_s(m));
    const double ready_s = std::max(arrival_s, times.arrivals[m] + times.work_s(m));
    all += times.lateness.causes(ready_s, own, end_s - arrival_s - busy_s);
  }
  return all;
}

}  // namespace simgrad::cluster
