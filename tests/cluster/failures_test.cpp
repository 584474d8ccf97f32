// When hosts and links fail, and how long that lasts.
#include <cmath>

#include "base/errors.h"
#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/failures/processes.h"
#include "cluster/ranks/communicator.h"
#include "cluster/ranks/ranks.h"
#include "cluster/ranks/world.h"
#include "record/record.h"
#include "scratch.h"
#include "simulation.h"
#include "values/dispatcher.h"

namespace failures_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

/// Mean and standard deviation of a process's times to failure.
std::pair<double, double> moments(const FailureProcess& process, int draws) {
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < draws; ++i) {
    const base::Stream::Key key{.seed = 7, .purpose = base::Purpose::failure, .step = static_cast<std::uint64_t>(i)};
    const double x = process.next(0, i, 5.0, key, NoRepair())->down_s - 5.0;
    sum += x;
    squares += x * x;
  }
  const double mean = sum / draws;
  return {mean, std::sqrt(squares / draws - mean * mean)};
}

std::string fault(const std::string& text) {
  const tests::Scratch scratch;
  const std::string file = scratch.write("t.csv", text);
  try {
    read_outages(file);
  } catch (const base::ScenarioError& error) {
    return std::string(error.what()).substr(file.size());
  }
  return "none";
}

}  // namespace

TEST_CASE("times to failure have the moments of their distributions") {
  constexpr int n = 40'000;
  ExponentialFailures exponential;
  exponential.mean_s = 30.0;
  const auto [mean, deviation] = moments(exponential, n);
  CHECK(mean == Approx(30.0).margin(4 * 30.0 / std::sqrt(n)));
  CHECK(deviation == Approx(30.0).epsilon(0.03));
  WeibullFailures weibull;
  weibull.mean_s = 30.0;
  weibull.shape = 0.7;
  const auto [weibull_mean, weibull_deviation] = moments(weibull, n);
  const double ratio = std::sqrt(std::tgamma(1 + 2 / 0.7) / std::pow(std::tgamma(1 + 1 / 0.7), 2) - 1);
  CHECK(weibull_mean == Approx(30.0).margin(4 * 30.0 * ratio / std::sqrt(n)));
  CHECK(weibull_deviation == Approx(30.0 * ratio).epsilon(0.05));
  weibull.shape = 1.0;  // is the exponential, draw by draw
  const base::Stream::Key draws{.seed = 1};
  CHECK(weibull.next(0, 0, 0.0, draws, NoRepair())->down_s ==
        Approx(exponential.next(0, 0, 0.0, draws, NoRepair())->down_s));
}

TEST_CASE("repairs take their time, or never end") {
  base::Stream stream({.seed = 1});
  CHECK(!NoRepair().duration(stream));
  CHECK(ConstantRepair().duration(stream) == 60.0);
  double sum = 0.0;
  for (int i = 0; i < 10'000; ++i) sum += *ExponentialRepair().duration(stream);
  CHECK(sum / 10'000 == Approx(60.0).margin(4 * 0.6));
}

TEST_CASE("a trace gives each host its outages") {
  const tests::Scratch scratch;
  const std::string file = scratch.write("t.csv", "host,down_at,up_at\n0,1.5,2\n2,0,1e3\n0,2,2.25\n\n0,7,\n");
  const auto all = read_outages(file);
  REQUIRE(all.size() == 3);
  REQUIRE(all[0].size() == 3);
  CHECK(all[0][1].down_s == 2.0);
  CHECK(all[0][1].up_s == 2.25);
  CHECK(!all[0][2].up_s);
  CHECK(all[1].empty());
  TracedFailures trace;
  trace.path = file;
  const base::Stream::Key draws{.seed = 1};
  CHECK(trace.next(2, 0, 0.0, draws, NoRepair())->up_s == 1e3);
  CHECK(!trace.next(2, 1, 0.0, draws, NoRepair()));
  CHECK(!trace.next(9, 0, 0.0, draws, NoRepair()));
  CHECK_NOTHROW(trace.check_files(3));
  CHECK_THROWS_WITH(trace.check_files(2), StartsWith(file + ":1:1: host 2 fails, but the hosts here are 0 to 1"));
}

TEST_CASE("what is wrong in a trace is told with line and column") {
  CHECK(fault("host,down,up\n") ==
        ":1:1: expected the header \"host,down_at,up_at\", or \"server,start_day,end_day,level,class\" below comments");
  CHECK_THAT(fault("host,down_at,up_at\n0,1\n"), StartsWith(":2:1: expected three cells"));
  CHECK_THAT(fault("host,down_at,up_at\n0,1,2\nx,1,2\n"), StartsWith(":3:1: host must be a number"));
  CHECK_THAT(fault("host,down_at,up_at\n0.5,1,2\n"), StartsWith(":2:1: host must be the number of a host"));
  CHECK_THAT(fault("host,down_at,up_at\n0,5,4\n"), StartsWith(":2:5: up_at = 4 is before down_at = 5"));
  CHECK_THAT(fault("host,down_at,up_at\n10,5,6\n10,3,4\n"),
             StartsWith(":3:4: host 10 goes down at 3 s, before it is back"));
  CHECK_THAT(fault("host,down_at,up_at\n1,5,\n1,8,9\n"), StartsWith(":3:3: host 1 goes down again"));
  CHECK_THAT(fault("host,down_at,up_at\n1,-5,9\n"), StartsWith(":2:3: down_at must be a number of at least 0"));
}

namespace {

/// A failure of link number `which` at one time, for one duration.
struct OneOutage final : FailureProcess {
  static constexpr base::About about{.kind = "weibull", .summary = "", .cost = "", .source = ""};  // stands in for it
  double down_s = 0.0;
  int link = 0;  ///< in the order of names: nic-0_DOWN, nic-0_UP, nic-1_DOWN, nic-1_UP
  void describe(base::Describer&) override {}
  std::optional<Outage> next(int which, std::int64_t count, double, const base::Stream::Key&,
                             const Repair& repair) const override {
    base::Stream none({});
    if (which != link || count > 0) return {};
    return Outage{down_s, down_s + *repair.duration(none)};
  }
};

/// When the 1 MB that host 1 sends to host 0 at that time are there.
double arrival(int link, double down_s, double lasts_s, NetworkModel model = NetworkModel::ideal, double sent_s = 0.0) {
  return tests::numbers_of_child([&] {
    values::Dispatcher dispatcher({.numbers = false});
    Options options;
    options.network_model = model;
    options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = 1e6, .latency_s = 0.01};
    if (lasts_s > 0.0) {
      auto outage = std::make_unique<OneOutage>();
      outage->down_s = down_s;
      outage->link = link;
      options.failures.links = base::Slot<FailureProcess>(failure_processes(), std::move(outage));
      auto repair = std::make_unique<ConstantRepair>();
      repair->time_s = lasts_s;
      options.failures.link_repair = base::Slot<Repair>(repairs(), std::move(repair));
    }
    Cluster hosts(options, 2);
    World world(hosts, "test", 2, 0);
    const auto members = std::make_shared<const std::vector<int>>(std::vector{0, 1});
    double there_s = 0.0;
    for (int rank : {0, 1})
      world.ranks().start(rank, [&, rank] {
        const Communicator comm(world, members, rank, 0);
        cluster::pause(sent_s);
        if (rank == 1) return comm.send(0, dispatcher.zeros(125'000));
        comm.receive(1);
        there_s = comm.now();
      });
    hosts.run();
    world.end();
    record::Record record;
    world.fill(record);
    return std::vector{there_s, record.links.at(0).utilisation};
  })[0];
}

}  // namespace

TEST_CASE("a transfer over a link that is down for D takes D longer") {
  // A byte a second of a million still goes through.
  CHECK(arrival(0, 0.0, 0.0) == Approx(1.01).epsilon(1e-9));
  for (const double lasts_s : {0.25, 3.0, 1000.0}) {
    CHECK(arrival(0, 0.5, lasts_s) == Approx(1.01 + lasts_s - lasts_s / 1e6).epsilon(1e-9));
    CHECK(arrival(3, 0.5, lasts_s) == Approx(1.01 + lasts_s - lasts_s / 1e6).epsilon(1e-9));
    CHECK(arrival(1, 0.5, lasts_s) == Approx(1.01).epsilon(1e-9));  // the other direction
    CHECK(arrival(2, 0.5, lasts_s) == Approx(1.01).epsilon(1e-9));
  }
  CHECK(arrival(3, 0.0, 0.5) == Approx(1.5).epsilon(1e-6));  // the latency passes meanwhile
}

TEST_CASE("so does TCP's") {
  const double undisturbed_s = arrival(0, 0.0, 0.0, NetworkModel::tcp);
  CHECK(arrival(0, 0.5, 3.0, NetworkModel::tcp) == Approx(undisturbed_s + 3.0).epsilon(1e-5));
}

TEST_CASE("a transfer that begins while its link is down goes on at full speed once it is back") {
  // Its latency passes meanwhile.
  CHECK(arrival(0, 0.1, 2.0, NetworkModel::ideal, 0.2) == Approx(2.1 + 1.0).epsilon(1e-5));
  CHECK(arrival(0, 0.1, 2.0, NetworkModel::tcp, 0.2) == Approx(2.1 + 1.0 / 0.97).epsilon(1e-5));
  CHECK(arrival(0, 0.1, 0.105, NetworkModel::ideal, 0.2) ==
        Approx(0.21 + 1.0).epsilon(3e-5));  // back within its latency
}

}  // namespace failures_test
