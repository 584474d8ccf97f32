#include "outputs/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace simgrad::outputs {

using base::Bounds;
using base::Unit;

namespace {

constexpr double seconds_an_hour = 3600.0;
constexpr double seconds_a_month = 730.0 * seconds_an_hour;  // the month of cloud providers
constexpr double joules_a_kwh = 3.6e6;

void describe_watts(base::Describer& d, std::optional<double>& idle_w, std::optional<double>& busy_w) {
  d.quantity("idle", idle_w, Unit::watts, "power of a host that does nothing", Bounds::at_least(0));
  d.quantity("busy", busy_w, Unit::watts, "power of a host that computes on all of its cores", Bounds::at_least(0));
  if (busy_w && !idle_w)
    d.refuse("busy", "\"busy\" is the power of a computing host, but \"idle\" is not given; give both");
  if (idle_w && !busy_w)
    d.refuse("idle", "\"idle\" is the power of an idle host, but \"busy\" is not given; give both");
  if (idle_w && busy_w && *busy_w < *idle_w) d.refuse("busy", "\"busy\" must be at least \"idle\"");
}

void refuse_two_prices(base::Describer& d, const char* option, bool beside_worker) {
  d.refuse(option, fmt::format("prices.{} and prices.{} both price the workers; give one of them", option,
                               beside_worker ? "worker" : "host"));
}

/// Adds to a sum that is absent until the first term.
void add(std::optional<double>& sum, double term) { sum = sum.value_or(0.0) + term; }

std::optional<double> first(std::optional<double> a, std::optional<double> b) { return a ? a : b; }

/// A host's power: of its class in [prices], its own, or that of all hosts in [prices].
struct Power {
  std::optional<double> idle_w, busy_w;

  Power(const record::HostUse& host, const Prices& prices) {
    const HostPrice* host_price = prices.of_host(host.host_class);
    idle_w = first(host_price ? host_price->idle_w : std::nullopt, first(host.idle_w, prices.idle_w));
    busy_w = first(host_price ? host_price->busy_w : std::nullopt, first(host.busy_w, prices.busy_w));
  }
  bool known() const { return idle_w && busy_w; }
  bool operator==(const Power&) const = default;
};

class Accountant {
 public:
  Accountant(const record::Record& record, const Prices& prices) : record_(record), prices_(prices) {
    for (const record::HostUse& host : record.hosts) ++devices_[host.host_number];
  }

  Bill bill() {
    for (std::size_t h = 0; h < record_.hosts.size(); ++h) pay(h);
    for (const record::LinkUse& link : record_.links) pay(link);
    if (prices_.storage_usd_per_gb_month)
      add(bill_.cost_storage_usd, *prices_.storage_usd_per_gb_month * static_cast<double>(record_.stored_bytes) / 1e9 *
                                      record_.simulated_s / seconds_a_month);
    sum_up();
    return bill_;
  }

 private:
  void pay(std::size_t index) {
    const record::HostUse& host = record_.hosts[index];
    const HostPrice* host_price = prices_.of_host(host.host_class);
    const double up_s = std::max(0.0, record_.simulated_s - host.down_s);
    if (const auto price = price_of(host, host_price)) {
      const double paid_s = host.spot ? up_s : record_.simulated_s;
      pay_by_activity(index, *price * paid_s / seconds_an_hour, paid_s, host.spot);
    }
    const Power power(host, prices_);
    if (!power.known()) return;
    add(bill_.energy_idle_j, *power.idle_w * up_s);
    add(bill_.energy_busy_j, (*power.busy_w - *power.idle_w) * host.busy_s);
  }

  std::optional<double> price_of(const record::HostUse& host, const HostPrice* host_price) const {
    if (host.spot) return first(host_price ? host_price->spot_usd_per_h : std::nullopt, prices_.spot_usd_per_h);
    if (host_price && host_price->on_demand_usd_per_h) return host_price->on_demand_usd_per_h;
    if (host.price_usd_per_h) return host.price_usd_per_h;
    const std::optional<double> of_a_worker = first(prices_.worker_usd_per_h, prices_.device_usd_per_h);
    if (host.serves) return first(first(prices_.server_usd_per_h, of_a_worker), prices_.host_usd_per_h);
    if (!prices_.host_usd_per_h) return of_a_worker;
    return *prices_.host_usd_per_h / static_cast<double>(devices_.at(host.host_number));
  }

  /// Splits the money of a host in proportion to its ranks' time per activity while it was paid.
  void pay_by_activity(std::size_t index, double money, double paid_s, bool spot) {
    double compute_s = 0.0, communicate_s = 0.0, wait_s = 0.0, down_s = 0.0, ranks = 0.0;
    for (const record::RankUse& rank : record_.ranks) {
      if (rank.host != static_cast<std::int64_t>(index)) continue;
      compute_s += rank.compute_s;
      communicate_s += rank.communicate_s;
      wait_s += rank.wait_s;
      down_s += spot ? 0.0 : rank.down_s;
      ranks += 1.0;
    }
    if (ranks == 0.0) add(bill_.cost_wait_usd, money);  // a spare
    const double rate = ranks > 0.0 && paid_s > 0.0 ? money / (ranks * paid_s) : 0.0;
    add(bill_.cost_compute_usd, rate * compute_s);
    add(bill_.cost_communicate_usd, rate * communicate_s);
    add(bill_.cost_wait_usd, rate * wait_s);
    add(bill_.cost_down_usd, rate * down_s);
    add(bill_.cost_usd, money);
  }

  void pay(const record::LinkUse& link) {
    const LinkPrice* link_price = prices_.of_link(link.link_class);
    if (!link_price) return;
    const auto bytes = static_cast<double>(link.bytes);
    if (link_price->egress_usd_per_gb) add(bill_.cost_egress_usd, *link_price->egress_usd_per_gb * bytes / 1e9);
    if (link_price->joules_per_byte) add(bill_.energy_links_j, *link_price->joules_per_byte * bytes);
  }

  void sum_up() {
    for (const auto& part : {bill_.cost_egress_usd, bill_.cost_storage_usd})
      if (part) add(bill_.cost_usd, *part);
    if (record_.time_to_target_s) bill_.cost_to_target_usd = bill_.cost_usd;
    for (const auto& part : {bill_.energy_idle_j, bill_.energy_busy_j, bill_.energy_links_j})
      if (part) add(bill_.energy_j, *part);
    if (!bill_.energy_j) return;
    bill_.energy_overhead_j = (prices_.pue - 1.0) * *bill_.energy_j;
    add(bill_.energy_j, *bill_.energy_overhead_j);
    if (record_.time_to_target_s) bill_.energy_to_target_j = bill_.energy_j;
    if (prices_.carbon_g_per_kwh) bill_.co2e_g = *bill_.energy_j / joules_a_kwh * *prices_.carbon_g_per_kwh;
  }

  const record::Record& record_;
  const Prices& prices_;
  std::map<std::int64_t, std::int64_t> devices_;  ///< rented, by the number of their host
  Bill bill_;
};

template <class Item>
const Item* find(const std::vector<Item>& items, std::string Item::*name, std::string_view wanted) {
  const auto found = std::ranges::find(items, wanted, name);
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

void HostPrice::describe(base::Describer& d) {
  d.text("class", host_class, "a class of [[cluster.hosts]], of the platform file (<prop id=\"class\">), or \"host\"");
  d.quantity("price", on_demand_usd_per_h, Unit::dollars_per_hour,
             "price of one host of this class, or of one device where hosts have several, on demand",
             Bounds::at_least(0));
  d.quantity("spot", spot_usd_per_h, Unit::dollars_per_hour, "price while cluster.failures.market = \"spot\"",
             Bounds::at_least(0));
  describe_watts(d, idle_w, busy_w);
}

void LinkPrice::describe(base::Describer& d) {
  d.text("class", link_class, "a class of links, as in links.csv: nic, wan, ...");
  d.quantity("egress", egress_usd_per_gb, Unit::dollars_per_gigabyte,
             "price of the bytes that a link of this class carries", Bounds::at_least(0));
  d.quantity("energy", joules_per_byte, Unit::joules_per_byte, "energy to carry a byte over a link of this class",
             Bounds::at_least(0));
}

void Prices::describe(base::Describer& d) {
  d.quantity("worker", worker_usd_per_h, Unit::dollars_per_hour,
             "price of one worker whose class has no price; a worker is a host, or a device where hosts have several, "
             "and all prices and powers by class are per worker, too",
             Bounds::at_least(0));
  d.quantity("device", device_usd_per_h, Unit::dollars_per_hour,
             "price of one device, each of which is a worker; give one of worker, device and host",
             Bounds::at_least(0));
  d.quantity(
      "host", host_usd_per_h, Unit::dollars_per_hour,
      "price of one whole host with all of its devices, even if some of them have no worker; give one of worker, "
      "device and host",
      Bounds::at_least(0));
  if (device_usd_per_h && (worker_usd_per_h || host_usd_per_h))
    refuse_two_prices(d, "device", worker_usd_per_h.has_value());
  if (host_usd_per_h && worker_usd_per_h) refuse_two_prices(d, "host", true);
  d.quantity("server", server_usd_per_h, Unit::dollars_per_hour,
             "price of a host that has only servers; default: that of a worker, or of a whole host",
             Bounds::at_least(0));
  d.quantity("spot", spot_usd_per_h, Unit::dollars_per_hour,
             "price of a host, or of a device where hosts have several, while cluster.failures.market = \"spot\"; for "
             "classes without a spot price",
             Bounds::at_least(0));
  describe_watts(d, idle_w, busy_w);
  d.list("hosts", hosts, "prices by class of host: { class, price, spot, idle, busy }");
  d.list("links", links, "prices by class of link: { class, egress, energy }");
  d.quantity("storage", storage_usd_per_gb_month, Unit::dollars_per_gigabyte_month,
             "price of storing the data (8 bytes per number) and one checkpoint during the run; a month has 730 hours",
             Bounds::at_least(0));
  d.number("pue", pue, "power usage effectiveness: watts of the data centre per watt of its hosts",
           Bounds::at_least(1));
  d.quantity("carbon", carbon_g_per_kwh, Unit::grams_per_kilowatt_hour, "CO2e emitted for the electricity",
             Bounds::at_least(0));
}

const HostPrice* Prices::of_host(std::string_view host_class) const {
  return find(hosts, &HostPrice::host_class, host_class);
}

const LinkPrice* Prices::of_link(std::string_view link_class) const {
  return find(links, &LinkPrice::link_class, link_class);
}

const std::vector<std::pair<std::string_view, std::optional<double> Bill::*>>& Bill::fields() {
  static const std::vector<std::pair<std::string_view, std::optional<double> Bill::*>> all{
      {"cost_usd", &Bill::cost_usd},
      {"cost_compute_usd", &Bill::cost_compute_usd},
      {"cost_communicate_usd", &Bill::cost_communicate_usd},
      {"cost_wait_usd", &Bill::cost_wait_usd},
      {"cost_down_usd", &Bill::cost_down_usd},
      {"cost_egress_usd", &Bill::cost_egress_usd},
      {"cost_storage_usd", &Bill::cost_storage_usd},
      {"cost_to_target_usd", &Bill::cost_to_target_usd},
      {"energy_j", &Bill::energy_j},
      {"energy_idle_j", &Bill::energy_idle_j},
      {"energy_busy_j", &Bill::energy_busy_j},
      {"energy_links_j", &Bill::energy_links_j},
      {"energy_overhead_j", &Bill::energy_overhead_j},
      {"energy_to_target_j", &Bill::energy_to_target_j},
      {"co2e_g", &Bill::co2e_g}};
  return all;
}

Bill bill(const record::Record& record, const Prices& prices) { return Accountant(record, prices).bill(); }

void bill_curve(record::Record& record, const Prices& prices) {
  for (record::Evaluation& each : record.curve) each.energy_j.reset();
  if (record.hosts.empty()) return;
  const Power power(record.hosts.front(), prices);
  const bool differ =
      std::ranges::any_of(record.hosts, [&](const record::HostUse& host) { return Power(host, prices) != power; });
  const bool by_links = std::ranges::any_of(record.links, [&](const record::LinkUse& link) {
    const LinkPrice* link_price = prices.of_link(link.link_class);
    return link_price && link_price->joules_per_byte;
  });
  if (!power.known() || differ || by_links) return;
  const auto hosts = static_cast<double>(record.hosts.size());
  for (record::Evaluation& each : record.curve) {
    if (!each.hosts_busy_s || !each.hosts_down_s) continue;  // written by an older release
    const double up_s = hosts * each.simulated_s - *each.hosts_down_s;
    each.energy_j = prices.pue * (*power.idle_w * up_s + (*power.busy_w - *power.idle_w) * *each.hosts_busy_s);
  }
}

}  // namespace simgrad::outputs
