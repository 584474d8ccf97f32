#include "cluster/ranks/communicator.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

#include "base/errors.h"
#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace communicator_test {

using namespace simgrad;
using cluster::Cluster;
using cluster::Communicator;
using cluster::Packet;
using cluster::Pending;
using cluster::World;

namespace {

constexpr double alpha = 50e-6;
constexpr double B = 1.25e9;  // 10 Gb/s

cluster::Options star(int workers) {
  cluster::Options options;
  options.workers = workers;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = alpha};
  return options;
}

/// A world of `ranks` workers, each running `body(communicator)`; the result is the numbers that the ranks push,
/// then each rank's times and the totals of the record.
struct Stage {
  using Body = std::function<void(const Communicator&, values::Dispatcher&, std::vector<double>&)>;

  static std::vector<double> run(int ranks, const Body& body, const cluster::Options& options) {
    return tests::numbers_of_child([&] {
      Cluster cluster(options, ranks);
      World world(cluster, "w", ranks, 0);
      values::Dispatcher timing({.numbers = false, .label = {}});
      std::vector<double> pushed;
      const auto members = std::make_shared<const std::vector<int>>([&] {
        std::vector<int> all(static_cast<std::size_t>(ranks));
        std::iota(all.begin(), all.end(), 0);
        return all;
      }());
      for (int r = 0; r < ranks; ++r)
        world.ranks().start(r, [&, r] {
          const Communicator comm(world, members, r, 0);
          body(comm, timing, pushed);
        });
      cluster.run();
      world.end();
      record::Record record;
      world.fill(record);
      for (const auto& use : record.ranks)
        pushed.insert(pushed.end(), {use.compute_s, use.communicate_s, use.wait_s, use.down_s});
      pushed.push_back(static_cast<double>(record.bytes));
      pushed.push_back(static_cast<double>(record.messages));
      return pushed;
    });
  }
  static std::vector<double> run(int ranks, const Body& body) { return run(ranks, body, star(ranks)); }
};

}  // namespace

TEST_CASE("flows from several hosts to several share both ends, one's last number included, where many send to many") {
  // Two receive from three: 6, 5 and 5 units. All at a third of B until 15 units are in; then the one that is left of
  // the first sender's two flows at half of B each, for its own link is full: 17 in all.
  constexpr double unit = 1e6;
  const auto pushed = tests::numbers_of_child([] {
    Cluster cluster(star(5), 5, true);
    World world(cluster, "w", 5, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    const auto members = std::make_shared<const std::vector<int>>(std::vector<int>{0, 1, 2, 3, 4});
    std::vector<double> at;
    for (int r = 0; r < 5; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        std::vector<Pending> transfers;
        if (r < 2)
          for (int sender = 2; sender < 5; ++sender) transfers.push_back(comm.start_receive(sender));
        else
          for (int target = 0; target < 2; ++target)
            transfers.push_back(
                comm.start_send(target, timing.zeros((r == 2 ? 6 : 5) * static_cast<std::int64_t>(unit) / 8)));
        for (Pending& transfer : transfers) transfer.wait();
        at.push_back(comm.now());
      });
    cluster.run();
    world.end();
    std::ranges::sort(at);
    return at;
  });
  CHECK(pushed.front() == Approx(alpha + 15 * unit / B).epsilon(1e-9));
  CHECK(pushed.back() == Approx(alpha + 17 * unit / B).epsilon(1e-9));
}

TEST_CASE("ranks of one host tell each other for free, and go down together") {
  const auto pushed = tests::numbers_of_child([] {
    Cluster cluster(star(2), 2);
    World world(cluster, "w", 2, 1, {0, 1, 1});
    values::Dispatcher timing({.numbers = false, .label = {}});
    const auto members = std::make_shared<const std::vector<int>>(std::vector<int>{0, 1, 2});
    std::vector<double> at;
    for (int r = 0; r < 3; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        if (r == 1) comm.send(2, timing.zeros(1'000'000));
        if (r == 2) comm.receive(1);
        if (r == 2) at.push_back(comm.now());
      });
    cluster.at(1.0, [&] {
      world.membership().crash(1);
      at.insert(at.end(), {world.alive(0) ? 1.0 : 0.0, world.alive(1) ? 1.0 : 0.0, world.alive(2) ? 1.0 : 0.0});
    });
    world.ranks().start(0, [&] { world.ranks().compute(0, 2e9); });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    at.insert(at.end(), {static_cast<double>(record.bytes), static_cast<double>(record.messages)});
    return at;
  });
  CHECK(pushed == std::vector<double>{0.0, 1.0, 0.0, 0.0, 0.0, 0.0});
}

TEST_CASE("bytes that travel beside an array count as its own do") {
  const auto pushed = Stage::run(2, [&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    Packet rows(d.zeros(1000));
    rows.extra_bytes = 42'000;
    if (comm.rank() == 0) comm.send(1, rows);
    if (comm.rank() == 1) {
      CHECK(comm.receive(0).tensor.size() == 1000);
      out.push_back(comm.now());
    }
  });
  CHECK(pushed[0] == Approx(alpha + 50'000 / B).epsilon(1e-9));
  CHECK(pushed[pushed.size() - 2] == 50'000);
}

TEST_CASE("a part of a group counts its members anew") {
  const auto pushed = Stage::run(5, [&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    const std::vector<int> chosen{4, 1, 3};
    if (comm.rank() == 0 || comm.rank() == 2) {
      try {
        comm.subgroup(chosen);
      } catch (const base::InvariantError&) {
        out.push_back(-1);
      }
      return;
    }
    const Communicator part = comm.subgroup(chosen);
    REQUIRE(part.size() == 3);
    REQUIRE(part.world_rank(part.rank()) == comm.rank());
    if (part.rank() == 0) part.send(2, d.zeros(1000));
    if (part.rank() == 2) {
      part.receive(0);
      out.push_back(comm.rank());
    }
  });
  CHECK(std::vector<double>(pushed.begin(), pushed.begin() + 3) == std::vector<double>{-1, -1, 3});
}

TEST_CASE("a message takes latency + bytes / bandwidth") {
  for (const std::int64_t n : {0, 1, 1000, 12'500'000}) {
    const auto pushed = Stage::run(2, [&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
      if (comm.rank() == 0) comm.send(1, d.zeros(n));
      if (comm.rank() == 1) {
        comm.receive(0);
        out.push_back(comm.now());
      }
    });
    const double expected = alpha + 8.0 * static_cast<double>(n) / B;
    CHECK(pushed[0] == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("a receiver waits until the transfer starts and communicates from then on") {
  const auto pushed = Stage::run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>&) {
    if (comm.rank() == 0) {
      comm.world().ranks().compute(0, 3e9);
      comm.send(1, d.zeros(12'500'000));
    } else {
      comm.receive(0);
    }
  });
  const double transfer = alpha + 1e8 / B;
  CHECK(pushed[0] == Approx(3.0).epsilon(1e-12));      // rank 0 computes,
  CHECK(pushed[1] == Approx(transfer).epsilon(1e-9));  // communicates,
  CHECK(pushed[2] == Approx(0.0).margin(1e-12));       // and never waits
  CHECK(pushed[4] == 0.0);
  CHECK(pushed[5] == Approx(transfer).epsilon(1e-9));
  CHECK(pushed[6] == Approx(3.0).epsilon(1e-12));
  CHECK(pushed[8] == 1e8);
  CHECK(pushed[9] == 1.0);
}

TEST_CASE("a sender whose receiver is absent waits") {
  const auto pushed = Stage::run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>&) {
    if (comm.rank() == 0) comm.send(1, d.zeros(125));
    if (comm.rank() == 1) {
      comm.world().ranks().compute(1, 1e9);
      comm.receive(0);
    }
  });
  CHECK(pushed[2] == Approx(1.0).epsilon(1e-12));
  CHECK(pushed[1] == Approx(alpha + 1000 / B).epsilon(1e-9));
}

TEST_CASE("transfers that overlap computing count only while they block") {
  const auto pushed = Stage::run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>&) {
    if (comm.rank() == 0) {
      Pending sending = comm.start_send(1, d.zeros(12'500'000));
      comm.world().ranks().compute(0, 0.05e9);
      sending.wait();
    } else {
      Pending receiving = comm.start_receive(0);
      comm.world().ranks().compute(1, 0.2e9);
      receiving.wait();
    }
  });
  const double transfer = alpha + 1e8 / B;  // 0.08005 s
  CHECK(pushed[1] == Approx(transfer - 0.05).epsilon(1e-9));
  CHECK(pushed[5] == 0.0);
  CHECK(pushed[6] == Approx(0.0).margin(1e-12));
}

TEST_CASE("sending and receiving at once runs at full rate both ways") {
  const auto pushed = Stage::run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    comm.exchange(d.zeros(12'500'000), 1 - comm.rank(), 1 - comm.rank());
    out.push_back(comm.now());
  });
  const double expected = alpha + 1e8 / B;
  CHECK(pushed[0] == Approx(expected).epsilon(1e-9));
  CHECK(pushed[1] == Approx(expected).epsilon(1e-9));
}

TEST_CASE("a gather ends at alpha + max_j (t_j + (n - j) M / B) for unequal arrivals") {
  const std::vector<double> arrival{0.0, 0.1, 0.5, 0.55};
  const auto pushed = Stage::run(5, [&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    if (comm.rank() < 4) {
      comm.world().ranks().compute(comm.rank(), 1e9 * arrival[static_cast<std::size_t>(comm.rank())]);
      comm.send(4, d.zeros(12'500'000));
    } else {
      std::vector<Pending> receives;
      for (int r = 0; r < 4; ++r) receives.push_back(comm.start_receive(r));
      for (Pending& receive : receives) receive.wait();
      out.push_back(comm.now());
    }
  });
  CHECK(pushed[0] == Approx(0.66005).epsilon(1e-9));
}

TEST_CASE("messages between two ranks arrive in the order sent") {
  const auto pushed = Stage::run(2, [](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    if (comm.rank() == 0) {
      std::vector<Pending> sends;
      for (int i = 0; i < 3; ++i) sends.push_back(comm.start_send(1, Packet(d.zeros(1000 - 400 * i), i)));
      for (Pending& send : sends) send.wait();
    } else {
      for (int i = 0; i < 3; ++i) out.push_back(static_cast<double>(comm.receive(0).note<int>()));
    }
  });
  CHECK(std::vector<double>(pushed.begin(), pushed.begin() + 3) == std::vector<double>{0, 1, 2});
}

TEST_CASE("a deadlock ends the run and names who waits for whom") {
  const auto ring = [](const Communicator& comm, values::Dispatcher&, std::vector<double>&) {
    comm.world().ranks().set_step(comm.rank(), 7);
    comm.receive((comm.rank() + 1) % comm.size());
  };
  CHECK_THROWS_WITH(Stage::run(2, ring),
                    "deadlock at 0 s of simulated time: rank 0 (step 7) waits to receive from rank 1; "
                    "rank 1 (step 7) waits to receive from rank 0");
}

TEST_CASE("an exception in an actor ends the run with rank, step and virtual time") {
  const auto failing = [](const Communicator& comm, values::Dispatcher&, std::vector<double>&) {
    comm.world().ranks().set_step(comm.rank(), 3);
    comm.world().ranks().compute(comm.rank(), 1e9);
    if (comm.rank() == 1) throw std::runtime_error("out of cheese");
    comm.world().ranks().compute(comm.rank(), 1e9);
  };
  CHECK_THROWS_WITH(Stage::run(3, failing), "rank 1 (step 3, at 1 s): out of cheese");
}

TEST_CASE("communication with a rank whose host is down throws PeerLost") {
  const auto pushed = tests::numbers_of_child([] {
    Cluster cluster(star(2), 2);
    World world(cluster, "w", 2, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<double> lost;
    world.ranks().on_peer_lost = [&](int rank) { lost.insert(lost.end(), {static_cast<double>(rank), world.now()}); };
    const auto members = std::make_shared<const std::vector<int>>(std::vector<int>{0, 1});
    for (int r = 0; r < 2; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        if (r == 0) comm.send(1, timing.zeros(125'000'000));  // 0.8 s
        if (r == 1) comm.receive(0);
      });
    cluster.at(0.25, [&] { world.membership().crash(1); });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    lost.push_back(record.ranks[0].communicate_s);
    lost.push_back(record.ranks[1].communicate_s);
    return lost;
  });
  CHECK(pushed == std::vector<double>{1.0, 0.25, 0.25, 0.25});
}

TEST_CASE("the watchdog gives up a run on simulated time") {
  auto options = star(1);
  options.watchdog.simulated_s = 5.0;
  const auto endless = [](const Communicator& comm, values::Dispatcher&, std::vector<double>&) {
    for (;;) {
      comm.world().ranks().compute(0, 1e9);
      comm.world().cluster().watch();
    }
  };
  CHECK_THROWS_WITH(Stage::run(1, endless, options),
                    "rank 0 (step -1, at 6 s): given up: simulated time has passed watchdog.simulated = 5 s");
}

TEST_CASE("the watchdog gives up a run whose background flow sends more bursts between two steps than it allows") {
  auto options = star(2);
  options.watchdog.events = 100;
  options.background.resize(1);
  options.background[0].on_s = 1e-3;
  options.background[0].off_s = 1e-3;
  const auto steps = [](double work_flops) {  // at 1e9 flop/s
    return [work_flops](const Communicator& comm, values::Dispatcher&, std::vector<double>&) {
      for (int step = 0; step < 5; ++step) {
        comm.world().ranks().compute(comm.rank(), work_flops);
        comm.world().cluster().step();
      }
    };
  };
  // A burst every 2 ms: 90 of them in a step of 180 ms, 110 in one of 220 ms.
  CHECK_NOTHROW(Stage::run(2, steps(1.8e8), options));
  CHECK_THROWS_WITH(Stage::run(2, steps(2.2e8), options),
                    "given up: 100 bursts of background flows, failures or changes of speed have happened since the "
                    "last step; make them rarer, or raise watchdog.events");
}

}  // namespace communicator_test
