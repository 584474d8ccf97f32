/// The scenario's section [prices]: what a run costs, in dollars, joules and grams of CO2. A view of the record: prices
/// change nothing of what is simulated.
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

/// What a host of one class costs.
struct HostPrice : base::Described {
  std::string host_class;
  std::optional<double> on_demand_usd_per_h;
  std::optional<double> spot_usd_per_h;
  std::optional<double> idle_w;
  std::optional<double> busy_w;

  void describe(base::Describer& d) override;
};

/// What a byte costs on a link of one class.
struct LinkPrice : base::Described {
  std::string link_class;
  std::optional<double> egress_usd_per_gb;
  std::optional<double> joules_per_byte;

  void describe(base::Describer& d) override;
};

struct Prices : base::Described {
  std::optional<double> worker_usd_per_h;  ///< of a host on which a worker lives, where its class has no price
  std::optional<double> server_usd_per_h;  ///< of any other; default: a worker's
  std::optional<double> spot_usd_per_h;    ///< of a host of the spot market whose class has no such price
  std::optional<double> idle_w;            ///< of any host whose class says nothing
  std::optional<double> busy_w;
  std::vector<HostPrice> hosts;
  std::vector<LinkPrice> links;
  std::optional<double> storage_usd_per_gb_month;
  double pue = 1.0;
  std::optional<double> carbon_g_per_kwh;

  void describe(base::Describer& d) override;

  const HostPrice* of_host(std::string_view host_class) const;
  const LinkPrice* of_link(std::string_view link_class) const;
};

/// What one run comes to. A number that nothing prices is not there.
struct Bill {
  std::optional<double> cost_usd;          ///< the sum of those below
  std::optional<double> cost_compute_usd;  ///< hosts are paid by the hour; their money, by what their ranks did
  std::optional<double> cost_communicate_usd;
  std::optional<double> cost_wait_usd;
  std::optional<double> cost_down_usd;
  std::optional<double> cost_egress_usd;
  std::optional<double> cost_storage_usd;
  std::optional<double> cost_to_target_usd;  ///< cost_usd of a run that reached its target, which ends there
  std::optional<double> energy_j;            ///< the sum of those below
  std::optional<double> energy_idle_j;       ///< what the hosts draw in any case, while they are up
  std::optional<double> energy_busy_j;       ///< what computing draws on top
  std::optional<double> energy_links_j;
  std::optional<double> energy_overhead_j;  ///< cooling and the like: (PUE - 1) times the others
  std::optional<double> co2e_g;

  /// Every field under its name, in this order.
  static const std::vector<std::pair<std::string_view, std::optional<double> Bill::*>>& fields();
};

/// cost = hosts' $/h x time + bytes x egress + stored bytes x storage; a spot host that is away is not paid.
/// energy = PUE x (idle x (time - down) + (busy - idle) x busy time + bytes x J/B), linear in the load, as is common.
/// Source: X. Fan, W.-D. Weber, L. A. Barroso, Power Provisioning for a Warehouse-sized Computer, ISCA 2007 (linear
/// power); The Green Grid, PUE: A Comprehensive Examination of the Metric, 2012.
Bill bill(const record::Record& record, const Prices& prices);

}  // namespace simgrad::outputs
