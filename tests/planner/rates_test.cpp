// The hosts that a plan says are to be rented.
#include "planner/rates.h"

#include <map>
#include <string>

#include "base/errors.h"
#include "catch.h"
#include "planner/regressions.h"
#include "planner/variants.h"
#include "scratch.h"

namespace rates_test {

using namespace simgrad;
using namespace simgrad::planner;

namespace {

/// The only candidate of a scenario.
Candidate candidate_of(const std::string& scenario) {
  const tests::Scratch scratch;
  const experiment::SearchSpace space = experiment::make_search_space(scratch.write("x.toml", scenario), {});
  const Candidates candidates = candidates_of(space, {});
  REQUIRE(candidates.all.size() == 1);
  return candidates.all.front();
}

/// The hosts of a strategy's only candidate.  cluster: the lines of its table.
std::string hosts_of(const std::string& cluster, const std::string& strategy) {
  return hosts_text(candidate_of(tests::regressions(cluster, "[[strategy]]\nkind = \"" + strategy + "\"\n")));
}

/// Eight workers on one host of devices, with one spare.  most: hosts that plan.hosts allows.
Candidate with_spares(const std::string& strategy, int most) {
  return candidate_of(R"([cluster]
workers = 8
topology = { kind = "gpu_hosts", devices = 8 }
device = "h100"
[cluster.failures]
hosts = { kind = "exponential", mtbf = "1h" }
repair = { kind = "constant", time = "1s" }
recovery = "restart"
spares = 1
[data]
source = "house_prices"
samples = 640
features = 5
[model]
kind = "least_squares"
[training]
batch_size = 64
[stop]
loss = 0.5
steps = 50
[plan]
objective = "fastest"
hosts = [{ class = "host", most = )" +
                      std::to_string(most) + " }]\n[[strategy]]\nkind = \"" + strategy + "\"\n");
}

/// The hosts of sixteen workers on a topology.
std::string hosts_of(const std::string& topology) {
  return hosts_of("workers = 16\ntopology = " + topology, "allreduce");
}

}  // namespace

TEST_CASE("Workers that have a host each are as many hosts") { CHECK(hosts_of("\"star\"") == "16 hosts"); }

TEST_CASE("Each worker and each server has a host of a platform") {
  const std::string cluster = "workers = 8\nplatform = \"" SIMGRAD_SOURCE_DIR "/platforms/classroom.xml\"\n";
  CHECK(hosts_of(cluster, "allreduce") == "8 hosts");
  CHECK(hosts_of(cluster, "parameter_server") == "9 hosts");
}

TEST_CASE("Workers that are devices of a host are as many hosts as hold them") {
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 8 }") == "2 hosts of 8 devices (16 devices)");
  CHECK(hosts_of("{ kind = \"star\", devices = 4 }\ndevice = \"h100\"") == "4 hosts of 4 h100 (16 devices)");
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 16 }\ndevice = \"h100\"") == "1 host of 16 h100 (16 devices)");
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 12 }") == "2 hosts of 12 devices (16 devices)");
}

TEST_CASE("A host may have devices of two classes") {
  const std::string classes = "\nhosts = [{ class = \"old\", count = 12 }, { class = \"new\", count = 4 }]";
  CHECK(hosts_of("{ kind = \"gpu_hosts\", devices = 8 }" + classes) ==
        "1 host of 8 old (8 devices) and 1 host of 4 old and 4 new (8 devices)");
  CHECK(hosts_of("\"star\"" + classes) == "12 old and 4 new");
}

// Sixteen workers on hosts of twelve devices: 12 and 4 of them, two whole hosts. A server is a host, too.
TEST_CASE("A host's price is that of all of its devices, a device's that of each") {
  const auto rate = [](const std::string& price, const std::string& strategy) {
    const std::string cluster = "workers = 16\ntopology = { kind = \"gpu_hosts\", devices = 12 }\n[prices]\n";
    const Candidate candidate =
        candidate_of(tests::regressions(cluster + price + "\n", "[[strategy]]\nkind = \"" + strategy + "\"\n"));
    return rates_of(candidate).usd_per_s.value() * 3600.0;
  };
  CHECK(rate("host = \"24$/h\"", "allreduce") == Approx(2 * 24.0).epsilon(1e-9));
  CHECK(rate("device = \"2$/h\"", "allreduce") == Approx(16 * 2.0).epsilon(1e-9));
  CHECK(rate("worker = \"2$/h\"", "allreduce") == Approx(16 * 2.0).epsilon(1e-9));
  CHECK(rate("host = \"24$/h\"", "parameter_server") == Approx(3 * 24.0).epsilon(1e-9));
  CHECK(rate("host = \"24$/h\"\nserver = \"1$/h\"", "parameter_server") == Approx(2 * 24.0 + 1.0).epsilon(1e-9));
}

TEST_CASE("Hosts at work draw what busy hosts draw, and all of them are priced by it") {
  const std::string cluster = "workers = 16\n[prices]\nidle = \"100W\"\nbusy = \"700W\"\n";
  const Rates rates = rates_of(candidate_of(tests::regressions(cluster, "[[strategy]]\nkind = \"allreduce\"\n")));
  CHECK(rates.idle_w.value() == Approx(16 * 100.0).epsilon(1e-9));
  CHECK(rates.busy_w.value() == Approx(16 * 700.0).epsilon(1e-9));
}

TEST_CASE("plan.hosts limits hosts, and not their devices") {
  const auto limited = [](int most) {
    return "{ kind = \"gpu_hosts\", devices = 8 }\n[[plan.hosts]]\nclass = \"host\"\nmost = " + std::to_string(most);
  };
  CHECK(hosts_of(limited(2)) == "2 hosts of 8 devices (16 devices)");
  CHECK_THROWS_WITH(hosts_of(limited(1)), ContainsSubstring("2 hosts of class host, but plan.hosts has at most 1"));
}

TEST_CASE("Spares are whole hosts where workers are devices, and a server is a host") {
  const Candidate spares = with_spares("allreduce", 2);
  CHECK(hosts_text(spares) == "1 host of 8 h100 (8 devices) and 1 spare host");
  CHECK(spares.hosts.size() == 2 * 8);
  CHECK(other_hosts(spares).empty());
  CHECK(hosts_by_class(spares) == std::map<std::string, std::int64_t>{{"host", 2}});
  const Candidate server = with_spares("parameter_server", 3);
  CHECK(hosts_text(server) == "1 host of 8 h100 (8 devices), 1 server and 1 spare host");
  CHECK(other_hosts(server).size() == 1);
  CHECK(hosts_by_class(server) == std::map<std::string, std::int64_t>{{"host", 3}});
}

}  // namespace rates_test
