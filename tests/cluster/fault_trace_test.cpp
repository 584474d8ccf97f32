// Faults of one cluster's servers, for hosts of any number.
#include "cluster/failures/fault_trace.h"

#include <cmath>
#include <cstdlib>
#include <set>

#include "base/errors.h"
#include "catch.h"
#include "cluster/failures/processes.h"
#include "scratch.h"

namespace fault_trace_test {

using namespace simgrad;
using namespace simgrad::cluster;

namespace {

constexpr double day_s = 86400.0;
const std::string header = "server,start_day,end_day,level,class\n";
const std::string comment = "# Faults of 2 of 4 servers of a cluster, 10 days.\n";

/// Servers 7 and 3 of four fail within ten days: one twice, one once by two faults that overlap.
const std::string some =
    comment + header + "7,1,2,Hardware Failure,GPU\n3,5,6,Hardware Failure,NIC\n7,8,9.5,x,y\n3,5.5,7,x,y\n";

std::string fault(const std::string& text, const TracedCluster& cluster = {}) {
  const tests::Scratch scratch;
  const std::string file = scratch.write("t.csv", text);
  try {
    const FaultTrace read(file, cluster);
  } catch (const base::ScenarioError& error) {
    return std::string(error.what()).substr(file.size());
  }
  return "none";
}

/// The time that hosts are down in one period of the trace, from a moment on at which all outages have begun anew.
double down_days(const FaultTrace& trace, int hosts, double period_days, std::uint64_t seed) {
  double sum_s = 0.0;
  for (int host = 0; host < hosts; ++host)
    for (std::int64_t count = 0;; ++count) {
      const auto outage = trace.outage(host, count, seed);
      if (!outage || outage->down_s >= period_days * day_s) break;
      sum_s += *outage->up_s - outage->down_s;
    }
  return sum_s / day_s;
}

}  // namespace

TEST_CASE("a trace of faults has the failures of all its servers") {
  const tests::Scratch scratch;
  const FaultTrace trace(scratch.write("t.csv", some), {});
  CHECK(trace.servers() == 4);
  CHECK(trace.faults() == 3);
  const double down = 1.0 + 1.5 + 2.0;
  CHECK(*trace.mtbf_s() == Approx((4 * 10 - down) / 3 * day_s).epsilon(1e-12));
  CHECK(trace.down_share() == Approx(down / (4 * 10)).epsilon(1e-12));
}

TEST_CASE("as many hosts as the trace has servers are each of them once, more are all of them again") {
  const tests::Scratch scratch;
  const FaultTrace trace(scratch.write("t.csv", some), {});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(down_days(trace, 4, 10.0, seed) == Approx(4.5).epsilon(1e-9));
    CHECK(down_days(trace, 12, 10.0, seed) == Approx(3 * 4.5).epsilon(1e-9));
    CHECK(down_days(trace, 12, 30.0, seed) == Approx(9 * 4.5).epsilon(1e-9));  // the trace begins again
  }
}

TEST_CASE("outages of a host ascend, do not overlap, and begin where its phase puts them") {
  const tests::Scratch scratch;
  const FaultTrace trace(scratch.write("t.csv", some), {});
  std::set<double> first;
  for (std::uint64_t seed = 1; seed <= 30; ++seed)
    for (int host = 0; host < 4; ++host) {
      double free_s = 0.0;
      for (std::int64_t count = 0; count < 6; ++count) {
        const auto outage = trace.outage(host, count, seed);
        if (!outage) break;
        if (count == 0) first.insert(outage->down_s);
        CHECK(outage->down_s > free_s - 1e-6);
        const double days = (*outage->up_s - outage->down_s) / day_s;
        CHECK((std::abs(days - 1.0) < 1e-9 || std::abs(days - 1.5) < 1e-9 || std::abs(days - 2.0) < 1e-9));
        free_s = *outage->up_s;
      }
    }
  CHECK(first.size() == 60);  // two hosts of four fail, each at a moment of its own
}

TEST_CASE("the process reads both layouts, and another seed draws other servers") {
  const tests::Scratch scratch;
  TracedFailures traced;
  traced.path = scratch.write("t.csv", some);
  CHECK_NOTHROW(traced.check_files(1000));
  CHECK(traced.known_outages().empty());
  CHECK(traced.mtbf_s() == FaultTrace(traced.path, {}).mtbf_s());
  const auto failing = [&](std::uint64_t seed) {
    std::set<int> hosts;
    for (int host = 0; host < 4; ++host)
      if (traced.next(host, 0, 0.0, {.seed = seed}, NoRepair())) hosts.insert(host);
    return hosts;
  };
  std::set<std::set<int>> all;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK(failing(seed).size() == 2);
    all.insert(failing(seed));
  }
  CHECK(all.size() > 3);
}

TEST_CASE("the size of the traced cluster is in the comment or in the scenario") {
  CHECK(fault(some) == "none");
  CHECK_THAT(fault(header + "0,1,2,x,y\n"), StartsWith(":1:1: how many servers were traced, over how many days?"));
  CHECK(fault(header + "0,1,2,x,y\n", {.servers = 2, .days = 3.0}) == "none");
  const tests::Scratch scratch;
  CHECK(FaultTrace(scratch.write("t.csv", some), {.servers = 40, .days = {}}).servers() ==
        40);  // the scenario's counts
}

TEST_CASE("a fault in a trace of faults is told with line and column") {
  CHECK_THAT(fault("# nothing\nserver,start,end\n"), StartsWith(":2:1: expected the header \"server,start_day"));
  CHECK_THAT(fault("# nothing\n"), StartsWith(":1:1: expected the header"));
  const std::string above = comment + header;
  CHECK_THAT(fault(above + "0,1,2\n"), StartsWith(":3:1: expected five cells"));
  CHECK_THAT(fault(above + "x,1,2,a,b\n"), StartsWith(":3:1: server must be a number"));
  CHECK_THAT(fault(above + "0.5,1,2,a,b\n"), StartsWith(":3:1: server must be the number of a server"));
  CHECK_THAT(fault(above + "0,-1,2,a,b\n"), StartsWith(":3:3: start_day must be a number of at least 0"));
  CHECK_THAT(fault(above + "0,3,2,a,b\n"), StartsWith(":3:5: end_day is before start_day"));
  CHECK_THAT(fault(above + "0,3,11,a,b\n"), StartsWith(":3:5: end_day is beyond the 10 days of the trace"));
  CHECK(fault(above + "0,3,10.9,a,b\n") == "none");
  CHECK_THAT(fault(above + "0,1,2,a,b\n1,1,2,a,b\n", {.servers = 1, .days = {}}),
             StartsWith(":4:1: the 1 servers of the trace have faults already"));
}

TEST_CASE("servers and days scale faults only") {
  const tests::Scratch scratch;
  TracedFailures traced;
  traced.path = scratch.write("t.csv", "host,down_at,up_at\n0,1,2\n");
  traced.servers = 3;
  CHECK_THROWS_WITH(traced.check_files(1), StartsWith(traced.path + ":1:1: \"host,down_at,up_at\" are outages of the"));
}

TEST_CASE("the faults of 400 GPU servers are as published") {
  const char* const data = std::getenv("SIMGRAD_TEST_DATA");
  if (data == nullptr) {
    WARN("skipped: SIMGRAD_TEST_DATA is not set");
    return;
  }
  const FaultTrace trace(std::string(data) + "/gpu_server_faults.csv", {});
  CHECK(trace.servers() == 400);
  CHECK(trace.days() == 348.9798);
  // 584 faults, of which some overlap; 4.2 a thousand server-days, which are down for 5.5 days in the mean.
  CHECK(trace.faults() <= 584);
  CHECK(static_cast<double>(trace.faults()) / (400 * trace.days()) == Approx(4.2e-3).epsilon(0.03));
  CHECK(trace.down_share() == Approx(4.2e-3 * 5.5).epsilon(0.05));
  CHECK(down_days(trace, 800, trace.days(), 7) == Approx(2 * trace.down_share() * 400 * trace.days()).epsilon(1e-9));
}

}  // namespace fault_trace_test
