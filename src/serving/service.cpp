#include "serving/service.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cluster/ranks/ranks.h"

namespace simgrad::serving {

namespace {

constexpr double token_bytes = 4.0;  ///< of a chosen token in a message

}  // namespace

Service::Service(cluster::Cluster& cluster, Setup setup)
    : cluster_(cluster),
      setup_(std::move(setup)),
      world_(cluster, "serve", layout().count(), 0),
      spent_(static_cast<std::size_t>(layout().count())),
      served_(setup_.requests.size()) {
  const values::Format format = training::travels_as(setup_.precision);
  world_.set_travels_as(format);
  world_.ranks().set_number_bytes(training::number_bytes(setup_.precision).activation);
  const std::vector<double>& speeds = cluster.options().relative_speeds;
  for (int rank = 0; rank < world_.size() && std::cmp_less(rank, speeds.size()); ++rank)
    world_.ranks().set_relative_speed(rank, speeds[static_cast<std::size_t>(rank)]);
  for (int r = 0; r < layout().replicas(); ++r) {
    for (const std::vector<int>& ranks : layout().ranks[static_cast<std::size_t>(r)])
      groups_.emplace_back(world_, ranks, *setup_.options.allreduce, values::wire_format(format));
    replicas_.emplace_back(setup_.requests, setup_.options, room_tokens(setup_.fleet, r, setup_.options.memory_share),
                           layout().pipeline);
  }
}

int Service::route(std::size_t request) {
  int chosen = static_cast<int>(routed_++ % replicas_.size());
  if (setup_.options.router == Router::least_tokens) {
    const auto least = std::ranges::min_element(replicas_, {}, &Replica::outstanding);
    chosen = static_cast<int>(least - replicas_.begin());
  }
  const Request& new_request = setup_.requests[request];
  record::ServedRequest& served = served_[request];
  served.arrival_s = new_request.arrival_s;
  served.prompt_tokens = new_request.prompt_tokens;
  served.output_tokens = new_request.output_tokens;
  served.replica = chosen;
  replica(chosen).arrive(request);
  return chosen;
}

Flight* Service::next(int of_replica) {
  std::optional<Iteration> iteration = replica(of_replica).next();
  for (const std::size_t request : replica(of_replica).take_interrupted()) {
    ++interruptions_;
    if (setup_.answers) setup_.answers->forget(request);
  }
  if (!iteration) return nullptr;
  cluster_.step();
  for (const std::size_t request : iteration->admitted) served_[request].start_s = elapsed_s();
  slices_ += std::ssize(iteration->slices);
  const std::int64_t number = iterations_++;
  Flight flight{.number = number, .replica = of_replica, .iteration = std::move(*iteration)};
  return &flights_.emplace_hint(flights_.end(), number, std::move(flight))->second;
}

/// Seconds of a rank's pass, as its speed and the scenario's stragglers have them.
double Service::compute_s(int rank, const PassTime& nominal, std::int64_t iteration) {
  if (!(nominal.seconds > 0.0)) return 0.0;
  double seconds = nominal.seconds;
  const cluster::Stragglers& stragglers = *cluster_.options().stragglers;
  if (stragglers.draws() && stragglers.concerns(rank)) {
    base::Stream stream({.seed = setup_.seed,
                         .purpose = base::Purpose::straggler,
                         .step = static_cast<std::uint64_t>(iteration),
                         .rank = static_cast<std::uint32_t>(rank)});
    const cluster::Slowdown slower = stragglers.draw(stream);
    seconds = slower.factor * seconds + slower.more_s;
  }
  seconds = cluster_.duration(world_.host(rank), seconds);
  spent(rank).compute_s += seconds;
  spent(rank).memory_s += nominal.memory_s / nominal.seconds * seconds;
  return seconds;
}

/// Seconds of the exchanges among a stage's tensor ranks.
double Service::exchange_s(Group& group, int stage, const Load& load) {
  const StageWork& work = setup_.fleet.costs[static_cast<std::size_t>(group.leader())].work();
  const std::int64_t hidden = std::llround(load.tokens) * setup_.fleet.shape.hidden;
  double seconds = group.sum_s(hidden, work.sums);
  if (work.of_answers) seconds += group.sum_s(2 * std::llround(load.answers), 1.0);
  if (stage > 0) seconds += group.spread_s(hidden);
  return seconds;
}

PassSeconds Service::pass(Flight& flight, int stage) {
  Group& ranks = group(flight.replica, stage);
  const Load& load = flight.iteration.load;
  const int leader = ranks.leader();
  world_.ranks().set_step(leader, flight.number);
  if (setup_.answers) setup_.answers->pass(stage, flight.iteration, flight.passing);
  double slowest_s = 0.0;
  const StageCosts& first = setup_.fleet.costs[static_cast<std::size_t>(leader)];
  const PassTime of_first = first.pass(load);
  for (const int rank : ranks.ranks()) {
    const StageCosts& rank_costs = setup_.fleet.costs[static_cast<std::size_t>(rank)];
    slowest_s = std::max(
        slowest_s, compute_s(rank, rank_costs.as_fast_as(first) ? of_first : rank_costs.pass(load), flight.number));
  }
  const double exchanged_s = exchange_s(ranks, stage, load);
  for (const int rank : ranks.ranks()) spent(rank).communicate_s += exchanged_s;
  return {.compute_s = slowest_s, .exchange_s = exchanged_s};
}

std::int64_t Service::message_bytes(const Flight& flight, int stage) const {
  const Load& load = flight.iteration.load;
  if (stage + 1 == layout().pipeline) return std::llround(token_bytes * load.answers);
  return values::wire_format(world_.travels_as()).bytes(std::llround(load.tokens) * setup_.fleet.shape.hidden);
}

void Service::finish(std::int64_t number) {
  const auto at = flights_.find(number);
  const Flight flight = std::move(at->second);
  flights_.erase(at);
  const double now_s = elapsed_s();
  if (setup_.answers) setup_.answers->take(flight.iteration, flight.passing);
  for (const Slice& slice : flight.iteration.slices) {
    if (!slice.answers) continue;
    record::ServedRequest& served = served_[slice.request];
    if (slice.first + slice.tokens == served.prompt_tokens) served.first_token_s = now_s;
    served.end_s = now_s;
    if (now_s < setup_.options.warm_up_s) continue;
    ++tokens_.after_warm_up;
    if (now_s <= setup_.requests.back().arrival_s) ++tokens_.in_window;
  }
  for (const std::size_t request : replica(flight.replica).complete(flight.iteration)) {
    ++done_;
    if (!setup_.answers) continue;
    served_[request].prompt = setup_.answers->prompt(request);
    served_[request].answer = setup_.answers->answer(request);
    setup_.answers->forget(request);
  }
  if (complete()) completed_.give();
}

void Service::await_completion() {
  while (!complete()) completed_.wait();
}

void Service::end() {
  for (const Group& each : groups_) each.post();
  world_.end();
}

StageLines Service::lines(int of_replica, int stage) const {
  const Group& ranks = group(of_replica, stage);
  StageLines stage_lines{.sum = ranks.sum_line(), .spread = ranks.spread_line()};
  if (layout().pipeline == 1) return stage_lines;
  const bool last = stage + 1 == layout().pipeline;
  const int target = group(of_replica, last ? 0 : stage + 1).leader();
  stage_lines.message = ranks.message_line(target, last ? token_bytes : ranks.number_bytes());
  return stage_lines;
}

double Service::capacity_requests_per_s() const {
  return serving::capacity_requests_per_s(setup_.fleet, setup_.options, expected(setup_.options),
                                          [this](int r, int stage) { return lines(r, stage); });
}

}  // namespace simgrad::serving
