#include <numeric>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/side_stream.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace overlap_test {

using namespace simgrad;
using cluster::Communicator;
using cluster::SideStream;

namespace {

constexpr double alpha = 50e-6;
constexpr double B = 1.25e9;
constexpr double speed = 1e9;

double transfer_s(std::int64_t n) { return alpha + 8.0 * static_cast<double>(n) / B; }

/// Two ranks; what the body pushes, then each rank's compute, communicate and wait.
std::vector<double> run(const std::function<void(const Communicator&, values::Dispatcher&, std::vector<double>&)>& body,
                        double end_s = 0.0) {
  return tests::numbers_of_child([&] {
    cluster::Options options;
    options.workers = 2;
    options.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = B, .latency_s = alpha};
    cluster::Cluster cluster(options, 2);
    cluster::World world(cluster, "w", 2, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<double> pushed;
    const auto members = std::make_shared<const std::vector<int>>(std::vector<int>{0, 1});
    for (int r = 0; r < 2; ++r)
      world.ranks().start(r, [&, r] {
        const Communicator comm(world, members, r, 0);
        body(comm, timing, pushed);
      });
    if (end_s > 0.0) cluster.at(end_s, [&] { world.end(); });
    cluster.run();
    world.end();
    record::Record record;
    world.fill(record);
    for (const auto& use : record.ranks) pushed.insert(pushed.end(), {use.compute_s, use.communicate_s, use.wait_s});
    return pushed;
  });
}

SideStream::Task exchange(const values::Tensor& x) {
  return [x](const Communicator& comm) { return comm.exchange(x, 1 - comm.rank(), 1 - comm.rank()).tensor; };
}

}  // namespace

TEST_CASE("a piece beside goes on while its rank computes, and only the rest of it counts") {
  constexpr std::int64_t n = 1'000'000;
  const double transfer = transfer_s(n);
  const auto pushed = run([&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    SideStream overlap(comm);
    const int piece = overlap.start(exchange(d.zeros(n)));
    comm.world().ranks().compute(comm.rank(), speed * 0.25 * transfer);
    CHECK(overlap.wait(piece).size() == n);
    if (comm.rank() == 0) out.push_back(comm.now());
  });
  CHECK(pushed[0] == Approx(transfer).epsilon(1e-9));
  for (const std::size_t rank : {1, 4}) {
    CHECK(pushed[rank] == Approx(0.25 * transfer).epsilon(1e-9));
    CHECK(pushed[rank + 1] == Approx(0.75 * transfer).epsilon(1e-9));
    CHECK(pushed[rank + 2] == Approx(0.0).margin(1e-12));
  }
}

TEST_CASE("a rank that is blocked on a piece beside waits as long as that one waits for its peer") {
  constexpr std::int64_t n = 1000;
  const auto pushed = run([&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    SideStream overlap(comm);
    if (comm.rank() == 1) comm.world().ranks().compute(1, speed * 0.01);
    overlap.wait(overlap.start(exchange(d.zeros(n))));
    if (comm.rank() == 0) out.push_back(comm.now());
  });
  CHECK(pushed[0] == Approx(0.01 + transfer_s(n)).epsilon(1e-9));
  CHECK(pushed[2] == Approx(transfer_s(n)).epsilon(1e-9));
  CHECK(pushed[3] == Approx(0.01).epsilon(1e-9));
}

TEST_CASE("what a piece beside computes while its rank is blocked on it is the rank's computing") {
  const auto pushed = run([&](const Communicator& comm, values::Dispatcher& d, std::vector<double>&) {
    SideStream overlap(comm);
    const values::Tensor x = d.zeros(10);
    overlap.wait(overlap.start([x](const Communicator& beside) {
      beside.charge_reduction(speed * 0.5);
      return x;
    }));
  });
  CHECK(pushed[0] == Approx(0.5).epsilon(1e-12));
  CHECK(pushed[2] == Approx(0.0).margin(1e-12));
}

TEST_CASE("pieces run in their order, one at a time, and are asked for one by one") {
  constexpr std::int64_t n = 1000;
  const auto pushed = run([&](const Communicator& comm, values::Dispatcher& d, std::vector<double>& out) {
    SideStream overlap(comm);
    for (int i = 0; i < 3; ++i) REQUIRE(overlap.start(exchange(d.zeros(n + i))) == i);
    for (int i = 0; i < 3; ++i) {
      CHECK(overlap.wait(i).size() == n + i);
      if (comm.rank() == 0) out.push_back(comm.now());
    }
  });
  double expected = 0.0;
  for (int i = 0; i < 3; ++i) {
    expected += transfer_s(n + i);
    CHECK(pushed[static_cast<std::size_t>(i)] == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("a world that ends while a rank is blocked on a piece beside cuts its time there") {
  constexpr std::int64_t n = 1'000'000;
  const double transfer = transfer_s(n);
  const auto pushed = run(
      [&](const Communicator& comm, values::Dispatcher& d, std::vector<double>&) {
        SideStream overlap(comm);
        const int piece = overlap.start(exchange(d.zeros(n)));
        comm.world().ranks().compute(comm.rank(), speed * 0.25 * transfer);
        overlap.wait(piece);
      },
      0.5 * transfer);
  CHECK(pushed[0] == Approx(0.25 * transfer).epsilon(1e-9));
  CHECK(pushed[1] == Approx(0.25 * transfer).epsilon(1e-9));
  CHECK(pushed[2] == Approx(0.0).margin(1e-12));
}

}  // namespace overlap_test
