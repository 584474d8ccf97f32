#include "serving/engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/errors.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/scopes.h"
#include "cluster/ranks/signal.h"
#include "cluster/ranks/timekeeper.h"
#include "cluster/ranks/world.h"
#include "cluster/recording/timeline_recording.h"
#include "serving/group.h"
#include "serving/replica.h"
#include "serving/summary.h"
#include "values/dispatcher.h"

namespace simgrad::serving {

using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using record::TimePart;
using record::Work;

/// An iteration on its way through the stages.
struct Flight {
  std::int64_t number = 0;
  int replica = 0;
  Iteration iteration;
  Passing passing = {};
};

constexpr double token_bytes = 4.0;  ///< of a chosen token in a message

struct FlightNumber {
  std::int64_t number = 0;
};

/// A rank's seconds.
struct RankSeconds {
  double compute_s = 0.0, communicate_s = 0.0, memory_s = 0.0;
};

class Engine::Parts {
 public:
  Parts(cluster::Cluster& cluster, Setup setup);

  void start();
  cluster::World& world() { return world_; }
  bool complete() const { return std::cmp_equal(done_, setup_.requests.size()); }
  record::Record take_record();
  double capacity() const;

 private:
  const Layout& layout() const { return setup_.fleet.layout; }
  Group& group(int replica, int stage) { return groups_[place(replica, stage)]; }
  const Group& group(int replica, int stage) const { return groups_[place(replica, stage)]; }
  std::size_t place(int replica, int stage) const {
    return static_cast<std::size_t>(replica * layout().pipeline + stage);
  }
  StageLines lines(int replica, int stage) const;
  Replica& replica(int r) { return replicas_[static_cast<std::size_t>(r)]; }
  cluster::Signal& signal(int r) { return *signals_[static_cast<std::size_t>(r)]; }
  RankSeconds& spent(int rank) { return spent_[static_cast<std::size_t>(rank)]; }
  double elapsed_s() const { return world_.now() - world_.start_s(); }
  Communicator leaders_of(int replica, int stage);

  void front_end();
  int route(std::size_t request);
  void first_stage(int replica);
  void later_stage(int replica, int stage);
  void take_tokens(const Communicator& comm, int replica);
  Flight& begin(int replica, Iteration iteration);
  void pass(Flight& flight, int stage);
  double compute_s(int rank, const PassTime& nominal, std::int64_t iteration);
  double exchange_s(Group& group, int stage, const Load& load);
  void finish(std::int64_t flight);

  void fill_ranks(record::Record& record) const;
  void fill_serving(record::Record& record);

  cluster::Cluster& cluster_;
  Setup setup_;
  values::Dispatcher dispatcher_;
  cluster::World world_;
  std::vector<Group> groups_;  ///< by replica, then stage
  std::vector<Replica> replicas_;
  std::vector<std::unique_ptr<cluster::Signal>> signals_;  ///< there may be work for the replica's first stage
  std::vector<RankSeconds> spent_;
  std::vector<record::ServedRequest> served_;
  std::map<std::int64_t, Flight> flights_;
  std::int64_t iterations_ = 0, slices_ = 0;
  TokensChosen tokens_;
  std::size_t done_ = 0, routed_ = 0;
};

Engine::Parts::Parts(cluster::Cluster& cluster, Setup setup)
    : cluster_(cluster),
      setup_(std::move(setup)),
      dispatcher_({.numbers = false}),
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
    signals_.push_back(std::make_unique<cluster::Signal>());
  }
}

void Engine::Parts::start() {
  world_.begin();
  for (int r = 0; r < layout().replicas(); ++r) {
    world_.ranks().start(group(r, 0).leader(), [this, r] { first_stage(r); });
    for (int stage = 1; stage < layout().pipeline; ++stage)
      world_.ranks().start(group(r, stage).leader(), [this, r, stage] { later_stage(r, stage); });
  }
  world_.ranks().start_side_actor(group(0, 0).leader(), [this] { front_end(); });
}

/// The first ranks of a replica's stages.
Communicator Engine::Parts::leaders_of(int replica, int stage) {
  auto leaders = std::make_shared<std::vector<int>>();
  for (int s = 0; s < layout().pipeline; ++s) leaders->push_back(group(replica, s).leader());
  return {world_, std::move(leaders), stage, 0};
}

void Engine::Parts::front_end() {
  for (std::size_t i = 0; i < setup_.requests.size();) {
    const double arrival_s = setup_.requests[i].arrival_s;
    cluster::pause(arrival_s - elapsed_s());
    std::set<int> got;
    for (; i < setup_.requests.size() && setup_.requests[i].arrival_s == arrival_s; ++i) got.insert(route(i));
    for (const int r : got) signal(r).give();
  }
}

int Engine::Parts::route(std::size_t request) {
  int chosen = static_cast<int>(routed_++ % replicas_.size());
  if (setup_.options.router == Router::least_tokens) {
    const auto least = std::ranges::min_element(replicas_, {}, &Replica::outstanding);
    chosen = static_cast<int>(least - replicas_.begin());
  }
  const Request& its = setup_.requests[request];
  record::ServedRequest& served = served_[request];
  served.arrival_s = its.arrival_s;
  served.prompt_tokens = its.prompt_tokens;
  served.output_tokens = its.output_tokens;
  served.replica = chosen;
  replica(chosen).arrive(request);
  return chosen;
}

Flight& Engine::Parts::begin(int of_replica, Iteration iteration) {
  cluster_.step();
  for (const std::size_t request : iteration.admitted) served_[request].start_s = elapsed_s();
  slices_ += std::ssize(iteration.slices);
  const std::int64_t number = iterations_++;
  return flights_.emplace(number, Flight{.number = number, .replica = of_replica, .iteration = std::move(iteration)})
      .first->second;
}

void Engine::Parts::first_stage(int of_replica) {
  const Communicator comm = leaders_of(of_replica, 0);
  std::vector<Pending> sent;
  if (layout().pipeline > 1)
    world_.ranks().start_side_actor(group(of_replica, 0).leader(), [this, comm = comm.for_side_actor(), of_replica] {
      take_tokens(comm, of_replica);
    });
  while (!world_.ended()) {
    std::optional<Iteration> iteration = replica(of_replica).next();
    if (!iteration) {
      signal(of_replica).wait();
      continue;
    }
    Flight& flight = begin(of_replica, std::move(*iteration));
    const std::int64_t number = flight.number;
    pass(flight, 0);
    if (layout().pipeline == 1) {
      finish(number);
      continue;
    }
    std::erase_if(sent, [](Pending& each) { return each.over() && (each.wait(), true); });
    const std::int64_t count = std::llround(flight.iteration.load.tokens) * setup_.fleet.shape.hidden;
    sent.push_back(comm.start_send(1, Packet(comm.on_wire(dispatcher_.zeros(count)), FlightNumber{number})));
  }
}

/// The replica's first stage takes the tokens that the last one has chosen.
void Engine::Parts::take_tokens(const Communicator& comm, int of_replica) {
  while (!world_.ended()) {
    const Packet packet = comm.receive(layout().pipeline - 1);
    finish(packet.note<FlightNumber>().number);
    if (!world_.ended()) signal(of_replica).give();
  }
}

void Engine::Parts::later_stage(int of_replica, int stage) {
  const Communicator comm = leaders_of(of_replica, stage);
  const bool last = stage + 1 == layout().pipeline;
  std::vector<Pending> sent;
  Pending coming = comm.start_receive(stage - 1);
  while (!world_.ended()) {
    const double asked_s = world_.now();
    const Packet packet = coming.wait();
    spent(group(of_replica, stage).leader()).communicate_s += world_.now() - std::max(asked_s, coming.start_s());
    coming = comm.start_receive(stage - 1);
    Flight& flight = flights_.at(packet.note<FlightNumber>().number);
    pass(flight, stage);
    std::erase_if(sent, [](Pending& each) { return each.over() && (each.wait(), true); });
    Packet on(last ? values::Tensor() : packet.tensor, FlightNumber{flight.number});
    if (last) on.extra_bytes = std::llround(token_bytes * flight.iteration.load.answers);
    sent.push_back(comm.start_send(last ? 0 : stage + 1, std::move(on)));
  }
}

/// Seconds of a rank's pass, as its speed and the scenario's stragglers have them.
double Engine::Parts::compute_s(int rank, const PassTime& nominal, std::int64_t iteration) {
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
double Engine::Parts::exchange_s(Group& group, int stage, const Load& load) {
  const StageWork& work = setup_.fleet.costs[static_cast<std::size_t>(group.leader())].work();
  const std::int64_t hidden = std::llround(load.tokens) * setup_.fleet.shape.hidden;
  double seconds = group.sum_s(hidden, work.sums);
  if (work.of_answers) seconds += group.sum_s(2 * std::llround(load.answers), 1.0);
  if (stage > 0) seconds += group.spread_s(hidden);
  return seconds;
}

StageLines Engine::Parts::lines(int of_replica, int stage) const {
  const Group& ranks = group(of_replica, stage);
  StageLines its{.sum = ranks.sum_line(), .spread = ranks.spread_line()};
  if (layout().pipeline == 1) return its;
  const bool last = stage + 1 == layout().pipeline;
  const int target = group(of_replica, last ? 0 : stage + 1).leader();
  its.message = ranks.message_line(target, last ? token_bytes : ranks.number_bytes());
  return its;
}

double Engine::Parts::capacity() const {
  return serving::capacity_requests_per_s(setup_.fleet, setup_.options, expected(setup_.options),
                                          [this](int r, int stage) { return lines(r, stage); });
}

void Engine::Parts::pass(Flight& flight, int stage) {
  Group& ranks = group(flight.replica, stage);
  const Load& load = flight.iteration.load;
  const int leader = ranks.leader();
  world_.ranks().set_step(leader, flight.number);
  if (setup_.answers) setup_.answers->pass(stage, flight.iteration, flight.passing);
  double slowest_s = 0.0;
  const StageCosts& first = setup_.fleet.costs[static_cast<std::size_t>(leader)];
  const PassTime of_first = first.pass(load);
  for (const int rank : ranks.ranks()) {
    const StageCosts& its = setup_.fleet.costs[static_cast<std::size_t>(rank)];
    slowest_s = std::max(slowest_s, compute_s(rank, its.as_fast_as(first) ? of_first : its.pass(load), flight.number));
  }
  const double exchanged_s = exchange_s(ranks, stage, load);
  for (const int rank : ranks.ranks()) spent(rank).communicate_s += exchanged_s;
  cluster::ActorState* const actor = &world_.timekeeper().main(leader);
  {
    const cluster::BusyScope computing(cluster_, actor, TimePart::compute_other, {.work = Work::forward});
    cluster::pause(slowest_s);
  }
  const cluster::BusyScope summing(cluster_, actor, TimePart::communicate_transfer, {.work = Work::allreduce});
  cluster::pause(exchanged_s);
}

/// The iteration is through all stages, and its tokens are where its requests are.
void Engine::Parts::finish(std::int64_t number) {
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
    served_[request].answer = setup_.answers->text(request);
    setup_.answers->forget(request);
  }
  if (!complete()) return;
  for (const Group& each : groups_) each.post();
  world_.end();
}

/// The time of every rank of a group is known from its passes, though only the first one has an actor.
void Engine::Parts::fill_ranks(record::Record& record) const {
  double most = 0.0;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const RankSeconds& its = spent_[rank];
    record::RankUse& use = record.ranks[rank];
    use.compute_s = its.compute_s;
    use.communicate_s = std::min(its.communicate_s, record.simulated_s - its.compute_s);
    use.wait_s = record.simulated_s - use.compute_s - use.communicate_s;
    use.parts = {};
    use.parts[TimePart::compute_other] = use.compute_s;
    use.parts[TimePart::communicate_transfer] = use.communicate_s;
    use.parts[TimePart::wait_other] = use.wait_s;
    record.hosts[static_cast<std::size_t>(use.host)].busy_s = use.compute_s;
    use.memory_limit_bytes = setup_.fleet.memory_bytes[rank];
    use.memory[static_cast<std::size_t>(record::MemoryPart::parameters)] = setup_.fleet.costs[rank].parameter_bytes();
  }
  for (int r = 0; r < layout().replicas(); ++r) {
    const double tokens = replicas_[static_cast<std::size_t>(r)].reserved_most();
    for (int stage = 0; stage < layout().pipeline; ++stage)
      for (const int rank : layout().ranks[static_cast<std::size_t>(r)][static_cast<std::size_t>(stage)]) {
        record::RankUse& use = record.ranks[static_cast<std::size_t>(rank)];
        const StageCosts& costs = setup_.fleet.costs[static_cast<std::size_t>(rank)];
        const double cache = tokens * costs.cache_bytes_a_token();
        use.memory[static_cast<std::size_t>(record::MemoryPart::workspace)] = cache;
        use.memory_bytes = costs.parameter_bytes() + cache;
        record.serving.cache_bytes_max = std::max(record.serving.cache_bytes_max.value_or(0.0), cache);
        most = std::max(most, *use.memory_bytes);
      }
  }
  record.memory_bytes_max = most;
}

void Engine::Parts::fill_serving(record::Record& record) {
  record::Serving& serving = record.serving;
  double busy = 0.0, memory = 0.0;
  for (const RankSeconds& its : spent_) {
    busy += its.compute_s;
    memory += its.memory_s;
  }
  serving.iterations = iterations_;
  serving.batch_mean = static_cast<double>(slices_) / static_cast<double>(iterations_);
  serving.device_utilisation = busy / (record.simulated_s * static_cast<double>(spent_.size()));
  if (busy > 0.0) serving.memory_bound_share = memory / busy;
  double most = 0.0;
  for (int r = 0; r < layout().replicas(); ++r)
    most = std::max(most, replica(r).reserved_most() / room_tokens(setup_.fleet, r, setup_.options.memory_share));
  if (most > 0.0) serving.cache_share_max = most;
  serving.capacity_requests_per_s = capacity();
}

record::Record Engine::Parts::take_record() {
  record::Record record;
  world_.end();
  world_.fill(record);
  record.network_model = name(cluster_.options().network_model);
  record.steps = iterations_;
  if (!complete()) return record;
  fill_ranks(record);
  fill_serving(record);
  record.requests = std::move(served_);
  summarise(record, setup_.options, tokens_, record.simulated_s);
  if (!setup_.options.keep_requests) record.requests.clear();
  return record;
}

Engine::Engine(cluster::Cluster& cluster, Setup setup) : parts_(std::make_unique<Parts>(cluster, std::move(setup))) {}
Engine::~Engine() = default;
void Engine::start() { parts_->start(); }
cluster::World& Engine::world() { return parts_->world(); }
double Engine::capacity_requests_per_s() const { return parts_->capacity(); }
bool Engine::complete() const { return parts_->complete(); }
record::Record Engine::take_record() { return parts_->take_record(); }

}  // namespace simgrad::serving
