// The cost of a run, against calculations by hand.
#include "outputs/prices.h"

#include <algorithm>

#include "catch.h"

namespace prices_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// An hour of two workers on hosts of their own and a server: 3000 + 300 + 200 + 100 s each, but the server computes
/// for 360 s only. 2 GB over a network card, 5 GB over an ocean.
record::RankUse rank_on(std::int64_t host, std::string role, double compute_s, double communicate_s, double wait_s,
                        double down_s) {
  record::RankUse use;
  use.role = std::move(role);
  use.compute_s = compute_s;
  use.communicate_s = communicate_s;
  use.wait_s = wait_s;
  use.down_s = down_s;
  use.host = host;
  return use;
}

record::HostUse host_of(std::string host_class, double busy_s, double down_s, bool serves) {
  record::HostUse use;
  use.host_class = std::move(host_class);
  use.busy_s = busy_s;
  use.down_s = down_s;
  use.serves = serves;
  return use;
}

record::Record an_hour() {
  record::Record record;
  record.status = record::Status::reached;
  record.simulated_s = 3600.0;
  record.time_to_target_s = 3600.0;
  record.stored_bytes = 730'000'000'000;
  record.ranks = {rank_on(0, "worker", 3000, 300, 200, 100), rank_on(1, "worker", 3000, 300, 200, 100),
                  rank_on(2, "server", 360, 3240, 0, 0)};
  record.hosts = {host_of("gpu", 3000, 100, false), host_of("host", 3000, 100, false), host_of("host", 360, 0, true)};
  record.links = {{"nic-0_UP", 2'000'000'000, 0.1, "nic"}, {"wan-0", 5'000'000'000, 0.1, "wan"}};
  return record;
}

HostPrice gpu_at(double usd_per_h) {
  HostPrice price;
  price.host_class = "gpu";
  price.on_demand_usd_per_h = usd_per_h;
  return price;
}

LinkPrice wan_at(double usd_per_gb, double joules_per_byte) {
  LinkPrice price;
  price.link_class = "wan";
  price.egress_usd_per_gb = usd_per_gb;
  price.joules_per_byte = joules_per_byte;
  return price;
}

}  // namespace

TEST_CASE("a cost that nothing prices is absent") {
  const Bill none = bill(an_hour(), {});
  for (const auto& [name, field] : Bill::fields()) {
    CAPTURE(name);
    CHECK_FALSE((none.*field).has_value());
  }
}

TEST_CASE("hosts are paid by the hour, by class before role, and their money is split by the activity of their ranks") {
  Prices prices;
  prices.worker_usd_per_h = 2.0;
  prices.server_usd_per_h = 0.5;
  prices.hosts = {gpu_at(36.0)};
  const Bill b = bill(an_hour(), prices);
  CHECK(b.cost_usd.value() == Approx(36.0 + 2.0 + 0.5).epsilon(1e-9));
  CHECK(b.cost_compute_usd.value() == Approx((36.0 + 2.0) * 3000.0 / 3600.0 + 0.5 * 0.1).epsilon(1e-9));
  CHECK(b.cost_communicate_usd.value() == Approx((36.0 + 2.0) * 300.0 / 3600.0 + 0.5 * 0.9).epsilon(1e-9));
  CHECK(b.cost_wait_usd.value() == Approx((36.0 + 2.0) * 200.0 / 3600.0).epsilon(1e-9));
  CHECK(b.cost_down_usd.value() == Approx((36.0 + 2.0) * 100.0 / 3600.0).epsilon(1e-9));
  CHECK(b.cost_to_target_usd == b.cost_usd);
  CHECK_FALSE(b.cost_egress_usd.has_value());
  CHECK_FALSE(b.energy_j.has_value());
  prices.server_usd_per_h.reset();
  CHECK(bill(an_hour(), prices).cost_usd.value() == Approx(36.0 + 2.0 + 2.0).epsilon(1e-9));
}

// Two hosts, of which the second one has room for a device that nobody rents: it is paid for all the same.
TEST_CASE("a whole host's price is paid once for all of its devices, and a device's for each") {
  record::Record record = an_hour();
  record.ranks = {rank_on(0, "worker", 3600, 0, 0, 0), rank_on(1, "worker", 0, 3600, 0, 0),
                  rank_on(2, "worker", 0, 0, 3600, 0)};
  for (record::HostUse& host : record.hosts) host.serves = false;
  record.hosts[2].host_number = 1;
  Prices prices;
  prices.host_usd_per_h = 8.0;
  const Bill whole = bill(record, prices);
  CHECK(whole.cost_usd.value() == Approx(2 * 8.0).epsilon(1e-9));
  CHECK(whole.cost_compute_usd.value() == Approx(4.0).epsilon(1e-9));
  CHECK(whole.cost_wait_usd.value() == Approx(8.0).epsilon(1e-9));
  prices.host_usd_per_h.reset();
  prices.device_usd_per_h = 3.0;
  CHECK(bill(record, prices).cost_usd.value() == Approx(3 * 3.0).epsilon(1e-9));
  record.hosts[2].serves = true;
  CHECK(bill(record, prices).cost_usd.value() == Approx(3 * 3.0).epsilon(1e-9));
  prices.server_usd_per_h = 0.5;
  CHECK(bill(record, prices).cost_usd.value() == Approx(2 * 3.0 + 0.5).epsilon(1e-9));
}

TEST_CASE("a run that missed its target has no cost to it") {
  record::Record record = an_hour();
  record.time_to_target_s.reset();
  Prices prices;
  prices.worker_usd_per_h = 1.0;
  CHECK_FALSE(bill(record, prices).cost_to_target_usd.has_value());
}

TEST_CASE("a spot host has the spot market's price, and is not paid while it is away") {
  record::Record record = an_hour();
  record.hosts[0].spot = true;
  Prices prices;
  prices.hosts = {gpu_at(36.0)};
  prices.hosts[0].spot_usd_per_h = 9.0;
  const Bill b = bill(record, prices);
  CHECK(b.cost_usd.value() == Approx(9.0 * 3500.0 / 3600.0).epsilon(1e-9));
  CHECK(b.cost_down_usd.value() == 0.0);
  CHECK(*b.cost_compute_usd + *b.cost_communicate_usd + *b.cost_wait_usd == Approx(*b.cost_usd).epsilon(1e-9));
}

TEST_CASE("egress goes by the bytes of a class of links, storage by bytes and months") {
  Prices prices;
  prices.links = {wan_at(0.09, 1e-8)};
  prices.storage_usd_per_gb_month = 0.02;
  const Bill b = bill(an_hour(), prices);
  CHECK(b.cost_egress_usd.value() == Approx(0.45).epsilon(1e-9));
  CHECK(b.cost_storage_usd.value() == Approx(0.02).epsilon(1e-9));  // 730 GB for the 730th part of a month
  CHECK(b.cost_usd.value() == Approx(0.47).epsilon(1e-9));
  CHECK(b.energy_links_j.value() == Approx(50.0).epsilon(1e-9));
}

TEST_CASE("energy is linear in the load, nothing while a host is down, and times the PUE, and carbon follows it") {
  Prices prices;
  prices.idle_w = 100.0;
  prices.busy_w = 300.0;
  prices.links = {wan_at(0.0, 1e-8)};
  prices.pue = 1.2;
  prices.carbon_g_per_kwh = 400.0;
  const Bill b = bill(an_hour(), prices);
  const double idle = 100.0 * (3500.0 + 3500.0 + 3600.0);
  const double busy = 200.0 * (3000.0 + 3000.0 + 360.0);
  CHECK(b.energy_idle_j.value() == Approx(idle).epsilon(1e-9));
  CHECK(b.energy_busy_j.value() == Approx(busy).epsilon(1e-9));
  CHECK(b.energy_overhead_j.value() == Approx(0.2 * (idle + busy + 50.0)).epsilon(1e-9));
  CHECK(b.energy_j.value() == Approx(1.2 * (idle + busy + 50.0)).epsilon(1e-9));
  CHECK(b.co2e_g.value() == Approx(1.2 * (idle + busy + 50.0) / 3.6e6 * 400.0).epsilon(1e-9));
}

TEST_CASE("a price of the cluster's host comes after the class's price, and before the general one") {
  record::Record record = an_hour();
  record.hosts[0].price_usd_per_h = 30.0;
  record.hosts[1].price_usd_per_h = 3.0;
  record.hosts[1].idle_w = 10.0;
  record.hosts[1].busy_w = 20.0;
  Prices prices;
  prices.worker_usd_per_h = 1.0;
  prices.hosts = {gpu_at(36.0)};
  const Bill b = bill(record, prices);
  CHECK(b.cost_usd.value() == Approx(36.0 + 3.0 + 1.0).epsilon(1e-9));
  CHECK(b.energy_j.value() == Approx(10.0 * 3500.0 + 10.0 * 3000.0).epsilon(1e-9));
}

TEST_CASE("the energy until an evaluation is that of its busy and down seconds, and the last one is the bill's") {
  record::Record record;
  record.status = record::Status::reached;
  record.simulated_s = 100.0;
  record.time_to_target_s = 100.0;
  record.hosts = {host_of("host", 60, 10, false), host_of("host", 30, 0, true)};
  record.curve.resize(3);
  record.curve[1].step = 1;
  record.curve[1].simulated_s = 40.0;
  record.curve[2].step = 2;
  record.curve[2].simulated_s = 100.0;
  const double busy[] = {0.0, 50.0, 90.0}, down[] = {0.0, 10.0, 10.0};
  for (std::size_t k = 0; k < 3; ++k) {
    record.curve[k].hosts_busy_s = busy[k];
    record.curve[k].hosts_down_s = down[k];
  }
  Prices prices;
  bill_curve(record, prices);
  CHECK(!record.curve[1].energy_j);  // no watts
  prices.idle_w = 100.0;
  prices.busy_w = 300.0;
  prices.pue = 1.5;
  bill_curve(record, prices);
  for (std::size_t k = 0; k < 3; ++k)
    CHECK(*record.curve[k].energy_j ==
          Approx(1.5 * (100.0 * (2 * record.curve[k].simulated_s - down[k]) + 200.0 * busy[k])).epsilon(1e-12));
  CHECK(*record.curve[2].energy_j == Approx(*bill(record, prices).energy_j).epsilon(1e-12));
  CHECK(bill(record, prices).energy_to_target_j == bill(record, prices).energy_j);
  record.time_to_target_s.reset();
  CHECK(!bill(record, prices).energy_to_target_j);
  record.hosts[1].idle_w = 50.0;
  record.hosts[1].busy_w = 60.0;
  prices.idle_w = prices.busy_w = {};
  bill_curve(record, prices);
  CHECK(!record.curve[1].energy_j);  // hosts differ
}

}  // namespace prices_test
