/// The scenario's section [prices]: the cost of a run in dollars, joules and grams of CO2. Prices are applied to the
/// record; they do not change the simulation.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "record/record.h"

namespace simgrad::outputs {

/// The prices of a host of one class.
struct HostPrice : base::Described {
  std::string host_class;
  std::optional<double> on_demand_usd_per_h;
  std::optional<double> spot_usd_per_h;
  std::optional<double> idle_w;
  std::optional<double> busy_w;

  void describe(base::Describer& d) override;
};

/// The prices of a byte on a link of one class.
struct LinkPrice : base::Described {
  std::string link_class;
  std::optional<double> egress_usd_per_gb;
  std::optional<double> joules_per_byte;

  void describe(base::Describer& d) override;
};

struct Prices : base::Described {
  std::optional<double> worker_usd_per_h;  ///< for a worker's host, or device, whose class has no price
  std::optional<double> device_usd_per_h;  ///< likewise
  std::optional<double> host_usd_per_h;    ///< for a whole host of workers, all of its devices together
  std::optional<double> server_usd_per_h;  ///< for a host that has only servers; default: the worker's
  std::optional<double> spot_usd_per_h;    ///< for a host of the spot market whose class has no spot price
  std::optional<double> idle_w;            ///< for a host whose class has no power
  std::optional<double> busy_w;
  std::vector<HostPrice> hosts;
  std::vector<LinkPrice> links;
  std::optional<double> storage_usd_per_gb_month;
  double pue = 1.0;
  std::optional<double> carbon_g_per_kwh;

  void describe(base::Describer& d) override;

  const HostPrice* of_host(std::string_view host_class) const;
  const LinkPrice* of_link(std::string_view link_class) const;
  /// Whether hosts of workers have a price whatever their class is.
  bool price_all_workers() const { return worker_usd_per_h || device_usd_per_h || host_usd_per_h; }
};

/// The bill of one run. A number is absent if nothing prices it.
struct Bill {
  std::optional<double> cost_usd;  ///< the sum of those below
  std::optional<double>
      cost_compute_usd;  ///< hosts are paid by the hour; the money is split by the activity of their ranks
  std::optional<double> cost_communicate_usd;
  std::optional<double> cost_wait_usd;
  std::optional<double> cost_down_usd;
  std::optional<double> cost_egress_usd;
  std::optional<double> cost_storage_usd;
  std::optional<double> cost_to_target_usd;  ///< cost_usd of a run that reached its target: the run ends there
  std::optional<double> energy_j;            ///< the sum of those below
  std::optional<double> energy_idle_j;       ///< idle power of the hosts while they are up
  std::optional<double> energy_busy_j;       ///< additional power of computing
  std::optional<double> energy_links_j;
  std::optional<double> energy_overhead_j;   ///< cooling and the like: (PUE - 1) times the other energies
  std::optional<double> energy_to_target_j;  ///< energy_j of a run that reached its target: the run ends there
  std::optional<double> co2e_g;

  /// Returns every field with its name, in this order.
  static const std::vector<std::pair<std::string_view, std::optional<double> Bill::*>>& fields();
  bool operator==(const Bill&) const = default;
};

/// Returns the bill: cost = hosts' $/h x time + bytes x egress + stored bytes x storage; a spot host is not paid while
/// it is down. energy = PUE x (idle x (time - down) + (busy - idle) x busy time + bytes x J/B), linear in the load, as
/// is common. Source: X. Fan, W.-D. Weber, L. A. Barroso, Power Provisioning for a Warehouse-sized Computer, ISCA 2007
/// (linear power); The Green Grid, PUE: A Comprehensive Examination of the Metric, 2012.
Bill bill(const record::Record& record, const Prices& prices);

/// Fills in the energy until each evaluation. It stays null where hosts differ in power, or links take energy: the
/// record has no such sums over time.
void bill_curve(record::Record& record, const Prices& prices);

}  // namespace simgrad::outputs
