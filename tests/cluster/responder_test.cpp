#include "cluster/ranks/responder.h"

#include <simgrid/s4u.hpp>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace responder_test {

using namespace simgrad;
using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::Responder;

namespace {

constexpr double alpha = 50e-6;
constexpr double B = 1.25e9;
constexpr double speed = 1e9;
constexpr std::int64_t n = 100'000;
const double transfer = alpha + 8.0 * n / B;

double sg_actors() { return static_cast<double>(simgrid::s4u::Engine::get_instance()->get_actor_count()); }

using Body = std::function<void(const Communicator&, values::Dispatcher&, std::vector<double>&)>;

/// Returns the numbers that the bodies push, then each rank's compute, communicate and wait.
/// many_to_many: on a network of the cluster's own.
std::vector<double> run(int ranks, const Body& body, bool many_to_many = false) {
  return tests::numbers_of_child([&] {
    cluster::Options options;
    options.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = B, .latency_s = alpha};
    cluster::Cluster cluster(options, ranks, many_to_many);
    cluster::World world(cluster, "w", ranks, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<double> pushed;
    std::vector<int> all;
    for (int r = 0; r < ranks; ++r) all.push_back(r);
    const auto members = std::make_shared<const std::vector<int>>(all);
    int left = ranks;
    for (int r = 0; r < ranks; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        body(comm, timing, pushed);
        if (--left == 0)
          world.end();  // listeners never end by themselves
        else
          cluster::pause(1e3);
      });
    cluster.run();
    record::Record record;
    world.fill(record);
    for (const auto& use : record.ranks) pushed.insert(pushed.end(), {use.compute_s, use.communicate_s, use.wait_s});
    return pushed;
  });
}

}  // namespace

TEST_CASE("a question is answered while the rank that is asked computes, and takes none of its time") {
  const auto out = run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>& pushed) {
    const Responder responder(comm, {1 - comm.rank()}, [](const Communicator&, int, Packet packet) {
      return std::optional(Packet(std::move(packet.tensor), 7));
    });
    if (comm.rank() == 1) return comm.world().ranks().compute(1, 10.0 * speed * transfer);
    Pending answer = comm.start_receive(1);
    Pending question = responder.start_send(1, d.zeros(n));
    question.wait();
    const Packet packet = answer.wait();
    pushed = {comm.now(), static_cast<double>(packet.note<int>())};
    comm.world().ranks().compute(0, 8.0 * speed * transfer);
  });
  CHECK(out[0] == Approx(2 * transfer).epsilon(1e-9));
  CHECK(out[1] == 7.0);
  CHECK(out[5] == Approx(10 * transfer).epsilon(1e-9));  // rank 1 computed all the time
  CHECK(out[6] == 0.0);
}

TEST_CASE("ranks that all ask each other at one time, around an odd ring, are all answered") {
  const auto out = run(3, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>& pushed) {
    const int next = (comm.rank() + 1) % 3, before = (comm.rank() + 2) % 3;
    const Responder responder(comm, {next, before}, [](const Communicator&, int, Packet packet) {
      return std::optional(Packet(std::move(packet.tensor)));
    });
    for (int round = 0; round < 5; ++round) {
      Pending answer = comm.start_receive(next);
      Pending question = responder.start_send(next, d.zeros(n));
      question.wait();
      answer.wait();
    }
    pushed.push_back(comm.now());
  });
  for (int r = 0; r < 3; ++r) CHECK(out[static_cast<std::size_t>(r)] == Approx(10 * transfer).epsilon(1e-9));
}

TEST_CASE("what no answer is given to ends with the question") {
  const auto out = run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>& pushed) {
    const Responder responder(
        comm, {1 - comm.rank()},
        [&pushed](const Communicator& beside, int source, const Packet&) -> std::optional<Packet> {
          if (beside.rank() == 0) pushed.push_back(beside.now() + 1000.0 * source);
          return {};
        });
    if (comm.rank() == 0) return comm.world().ranks().compute(0, 5.0 * speed * transfer);
    responder.start_send(0, d.zeros(n)).wait();
    responder.start_send(0, d.zeros(n)).wait();
  });
  REQUIRE(out.size() >= 8);
  CHECK(out[0] == Approx(1000.0 + transfer).epsilon(1e-9));
  CHECK(out[1] == Approx(1000.0 + 2 * transfer).epsilon(1e-9));
}

TEST_CASE("messages that are not answered are each taken in their own time, by one actor a rank or by one a member") {
  const double taking_s = 3 * transfer, two_at_once_s = transfer + 8.0 * n / B;
  const auto times = [&](bool many_to_many) {
    return run(
        3,
        [&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& pushed) {
          const auto take = [&, own = comm.rank()](int source) {
            if (own == 0) pushed.push_back(comm.now() + 1000.0 * source);
          };
          const Responder responder(
              comm, {(comm.rank() + 1) % 3, (comm.rank() + 2) % 3},
              [=](const Communicator& beside, int source, const Packet&) -> std::optional<Packet> {
                beside.charge_reduction(taking_s * speed);
                take(source);
                return {};
              },
              {.flops = [=](const Packet&) { return taking_s * speed; },
               .take = [=](int source, const Packet&) { take(source); }});
          if (comm.rank() == 0) return comm.world().ranks().compute(0, 20.0 * speed * transfer);
          responder.start_send(0, d.zeros(n)).wait();
          responder.start_send(0, d.zeros(n)).wait();
          if (comm.rank() == 1) pushed.push_back(sg_actors());
          cluster::pause(10 * transfer);
        },
        many_to_many);
  };
  for (const bool many_to_many : {false, true}) {
    const auto out = times(many_to_many);
    CAPTURE(many_to_many);
    REQUIRE(out.size() == 5 + 9);
    // Two messages at once share rank 0's card. Each sender's next one starts when its first has been taken.
    const double first_s = two_at_once_s + taking_s, second_s = first_s + two_at_once_s + taking_s;
    CHECK(out[0] == Approx(1000.0 + first_s).epsilon(1e-9));
    CHECK(out[1] == Approx(2000.0 + first_s).epsilon(1e-9));
    CHECK(out[2] == (many_to_many ? 3 + 3 : 3 + 6));  // one actor a rank beside it, or one a pair
    CHECK(out[3] == Approx(1000.0 + second_s).epsilon(1e-9));
    CHECK(out[4] == Approx(2000.0 + second_s).epsilon(1e-9));
    for (const std::size_t sender : {1, 2}) {  // its second message waits while rank 0's actor takes the first
      CHECK(out[5 + 3 * sender + 1] == Approx(2 * two_at_once_s).epsilon(1e-9));
      CHECK(out[5 + 3 * sender + 2] > taking_s);
    }
  }
}

}  // namespace responder_test
