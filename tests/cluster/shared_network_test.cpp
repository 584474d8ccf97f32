// Jitter, other traffic, and the use of links over time.
#include <cmath>
#include <functional>
#include <numeric>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/inbox.h"
#include "cluster/ranks/membership.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "cluster/usage/link_bins.h"
#include "record/record.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace shared_network_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

constexpr double alpha = 1e-3;
constexpr double B = 1e9;

Options star(int workers) {
  Options options;
  options.workers = workers;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = B, .latency_s = alpha};
  return options;
}

/// Returns the numbers that the ranks push, then each link's bytes, bytes of others, utilisation and bins.
std::vector<double> stage(
    const Options& options,
    const std::function<void(const Communicator&, values::Dispatcher&, std::vector<double>&)>& body) {
  return tests::numbers_of_child([&] {
    alarm(60);
    const auto ranks = static_cast<int>(options.workers);
    Cluster cluster(options, ranks);
    World world(cluster, "w", ranks, 0);
    values::Dispatcher timing({.numbers = false, .label = {}});
    std::vector<double> pushed;
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    const auto members = std::make_shared<const std::vector<int>>(all);
    int working = ranks;
    for (int r = 0; r < ranks; ++r)
      world.ranks().start(r, [&, r] {
        body(Communicator(world, members, r, 0), timing, pushed);
        if (--working == 0) world.end();
      });
    cluster.run();
    record::Record record;
    world.fill(record);
    for (const auto& link : record.links) {
      pushed.push_back(static_cast<double>(link.bytes));
      pushed.push_back(static_cast<double>(link.background_bytes.value_or(-1)));
      pushed.push_back(link.utilisation);
    }
    for (const auto& bin : record.link_bins)
      pushed.insert(pushed.end(), {bin.from_s, bin.to_s, bin.bytes, bin.utilisation});
    return pushed;
  });
}

/// Rank 0 sends so many messages of so many numbers to rank 1, one after the other; the time at the end is pushed.
auto messages(int count, std::int64_t numbers) {
  return [=](const Communicator& comm, values::Dispatcher& timing, std::vector<double>& pushed) {
    if (comm.rank() > 1) return;
    for (int i = 0; i < count; ++i)
      if (comm.rank() == 0)
        comm.send(1, timing.zeros(numbers));
      else
        comm.receive(0);
    if (comm.rank() == 1) pushed.push_back(comm.now());
  };
}

template <class Kind>
base::Slot<Jitter> jitter(double latency, double transfer) {
  auto kind = std::make_unique<Kind>();
  kind->latency = latency;
  kind->transfer = transfer;
  return {jitters(), std::move(kind)};
}

/// The draws of messages 0 .. count - 1 from host 0 to host 1.
std::vector<double> draws(const Jitter& kind, double variation, std::uint16_t what, int count) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    base::Stream stream({.seed = 1,
                         .purpose = base::Purpose::jitter,
                         .step = static_cast<std::uint64_t>(i),
                         .rank = 1,
                         .attempt = what});
    all.push_back(kind.multiple(variation, stream));
  }
  return all;
}

}  // namespace

TEST_CASE("a message under jitter takes multiples of its latency and of its bytes' time, of mean 1") {
  constexpr int count = 2000;
  constexpr double M = 8e6;  // 8 ms of bytes
  Options options = star(2);
  options.jitter = jitter<LogNormalJitter>(0.5, 0.3);
  const double end = stage(options, messages(count, 1'000'000))[0];
  const auto latency = draws(*options.jitter, 0.5, 0, count), transfer = draws(*options.jitter, 0.3, 1, count);
  const double sum = std::accumulate(latency.begin(), latency.end(), 0.0) * alpha +
                     std::accumulate(transfer.begin(), transfer.end(), 0.0) * M / B;
  CHECK(end == Approx(sum).epsilon(1e-9));
  const double variance = alpha * alpha * (std::exp(0.25) - 1) + M / B * M / B * (std::exp(0.09) - 1);
  CHECK(std::abs(end / count - (alpha + M / B)) < 4 * std::sqrt(variance / count));
}

TEST_CASE("exponential jitter comes on top of the nominal time") {
  constexpr int count = 2000;
  Options options = star(2);
  options.jitter = jitter<ExponentialJitter>(2.0, 0.0);
  const double end = stage(options, messages(count, 1000))[0];
  CHECK(std::abs(end / count - (3 * alpha + 8e3 / B)) < 4 * 2 * alpha / std::sqrt(double{count}));
  options.jitter = {jitters(), "none"};
  CHECK(stage(options, messages(count, 1000))[0] == Approx(count * (alpha + 8e3 / B)).epsilon(1e-9));
}

TEST_CASE("two messages under jitter share a link fairly once both are under way") {
  Options options = star(3);
  options.jitter = jitter<LogNormalJitter>(0.5, 0.0);
  const auto end =
      stage(options, [](const Communicator& comm, values::Dispatcher& timing, std::vector<double>& pushed) {
        if (comm.rank() < 2) return comm.send(2, timing.zeros(12'500'000));  // 0.1 s alone
        Pending one = comm.start_receive(0), other = comm.start_receive(1);
        one.wait();
        other.wait();
        pushed.push_back(comm.now());
      })[0];
  base::Stream of_0({.seed = 1, .purpose = base::Purpose::jitter, .rank = 2});
  base::Stream of_1({.seed = 1, .purpose = base::Purpose::jitter, .rank = 1 << 16 | 2});
  // The NIC is busy from the first one's start to the end.
  const double first = std::min(options.jitter->multiple(0.5, of_0), options.jitter->multiple(0.5, of_1));
  CHECK(end == Approx(first * alpha + 0.2).epsilon(1e-9));
}

TEST_CASE("a background flow into the receiver's NIC halves a transfer, and one of a quarter's rate takes a quarter") {
  Options options = star(3);
  options.background.push_back({});
  options.background[0].from = 2;
  options.background[0].to = 1;
  const auto halved = stage(options, messages(1, 12'500'000));  // 1e8 bytes
  // The flow has the NIC alone for alpha less: both pay their latency at the same time.
  CHECK(halved[0] == Approx(alpha + 0.2).epsilon(1e-9));
  // links: nic-0 up, nic-1 down, then those of the flow
  CHECK(halved[1] == 1e8);
  CHECK(halved[2] == -1.0);
  CHECK(halved[4] == 1e8);
  CHECK(halved[5] == Approx(1e8).epsilon(1e-6));
  CHECK(halved[6] == Approx(2e8 / (B * (alpha + 0.2))).epsilon(1e-6));
  options.background[0].rate_bytes_per_s = B / 4;
  CHECK(stage(options, messages(1, 12'500'000))[0] == Approx(alpha + 0.1 / 0.75).epsilon(1e-9));
}

TEST_CASE("a background flow that is on half of the time slows a transfer while it is on") {
  Options options = star(3);
  BackgroundFlow flow;
  flow.from = 2;
  flow.to = 1;
  flow.start_s = 0.05 - alpha;  // its latency comes on top
  flow.on_s = 0.02 + alpha;
  flow.off_s = 0.02 - alpha;
  options.background.push_back(flow);
  // From alpha to 0.05 alone, then 0.02 s at half speed and 0.02 s alone in turn.
  // After 0.05 s: 0.049 s of the 0.1 s are done; each 0.04 s does 0.03 s; 0.051 = 0.03 + 0.01 + 0.011.
  CHECK(stage(options, messages(1, 12'500'000))[0] == Approx(0.05 + 0.04 + 0.02 + 0.011).epsilon(1e-9));
}

TEST_CASE("a deadlock is found though other traffic goes on") {
  Options options = star(2);
  options.background.push_back({});
  const auto stuck = [](const Communicator& comm, values::Dispatcher&, std::vector<double>&) {
    comm.receive(1 - comm.rank());
  };
  CHECK_THROWS_WITH(stage(options, stuck), ContainsSubstring("deadlock"));
}

TEST_CASE("other traffic ends with the training, though an actor stays blocked") {
  Options options = star(2);
  options.background.push_back({});
  options.background[0].on_s = options.background[0].off_s = 1e-3;
  const auto blocked = [](const Communicator& comm, values::Dispatcher&, std::vector<double>& pushed) {
    if (comm.rank() == 0) cluster::pause(2.0);
    if (comm.rank() == 0) comm.world().end();
    comm.receive(1 - comm.rank());
    pushed.push_back(-1.0);
  };
  const auto all = stage(options, blocked);
  CHECK(all.at(0) == 0.0);  // the bytes of nic-0
}

TEST_CASE("who waits for a message that is under way is not stuck") {
  Options options = star(3);
  BackgroundFlow flow;
  flow.from = 2;
  flow.to = 1;
  flow.on_s = flow.off_s = 1e-3;
  options.background.push_back(flow);
  // Rank 1 has left its message to an actor beside rank 0, and waits for the answer.
  const auto ask = [](const Communicator& comm, values::Dispatcher& timing, std::vector<double>& pushed) {
    if (comm.rank() == 0) {
      Inbox inbox(comm, 1, 1);
      inbox.next();
      comm.send(1, timing.zeros(1));
    } else if (comm.rank() == 1) {
      Pending sending = comm.start_send(0, timing.zeros(12'500'000));
      comm.receive(0);
      sending.wait();
      pushed.push_back(comm.now());
    }
  };
  CHECK(stage(options, ask)[0] >= alpha + 0.1 + alpha + 8 / B - 1e-9);
}

TEST_CASE("a flow whose end crashes has carried what it had until then, and goes on when it is back") {
  Options options = star(3);
  BackgroundFlow flow;
  flow.from = 0;
  flow.to = 1;
  flow.rate_bytes_per_s = B / 10;
  options.background.push_back(flow);
  const auto carried_bytes = [&](double back_s) {
    return stage(options,
                 [=](const Communicator& comm, values::Dispatcher&, std::vector<double>&) {
                   World& world = comm.world();
                   if (comm.rank() == 0) {
                     world.cluster().at(0.005, [&world] { world.membership().crash(1); });
                     world.cluster().at(back_s, [&world] { world.membership().revive(1); });
                   }
                   cluster::pause(0.01);
                   if (comm.rank() == 0) world.end();
                 })
        .at(1);
  };
  CHECK(carried_bytes(1.0) == Approx((0.005 - alpha) * B / 10).epsilon(1e-3));
  CHECK(carried_bytes(0.006) == Approx((0.005 - alpha + 0.004 - alpha) * B / 10).epsilon(1e-3));
}

TEST_CASE("the bins of a link add up to its bytes, and a busy link's utilisation is 1") {
  Options options = star(2);
  options.link_bins = 10;
  const auto all = stage(options, messages(4, 12'500'000));  // 4 x (alpha + 0.1 s)
  double bytes = 0.0, full = 0.0;
  std::size_t bins = 0;
  for (std::size_t at = 1 + 2 * 3; at + 3 < all.size(); at += 4, ++bins) {
    CHECK(all[at + 1] <= all[0]);
    bytes += all[at + 2];
    full = std::max(full, all[at + 3]);
  }
  CHECK(bins >= 2 * 5);
  CHECK(bins <= 2 * 10);
  CHECK(bytes == Approx(2 * 4e8).epsilon(1e-12));  // two links
  CHECK(full <= 1.0);
  CHECK(full > 0.97);
}

TEST_CASE("bytes are spread evenly over the bins that a transfer touches") {
  LinkBins bins(4);
  bins.add({0, 1}, 0.0, 1.0, 100.0);
  const double width = bins.width_s();
  CHECK(width * 4 >= 1.0);
  CHECK(width * 2 < 1.0);
  const auto& held = bins.bytes().at({0, 1});
  CHECK(held[0] == Approx(100.0 * width));
  bins.add({0, 1}, 1.0, 8.0, 70.0);
  CHECK(std::accumulate(held.begin(), held.end(), 0.0) == Approx(170.0).epsilon(1e-14));
  CHECK(bins.width_s() * 4 >= 8.0);
}

}  // namespace shared_network_test
