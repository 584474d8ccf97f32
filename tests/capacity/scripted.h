// Servers whose failures are in sight.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "capacity/fleet.h"
#include "cluster/failures/processes.h"

namespace simgrad::tests {

/// The outages of each server, by its number.
struct Scripted final : cluster::FailureProcess {
  std::vector<std::vector<cluster::Outage>> outages;

  explicit Scripted(std::vector<std::vector<cluster::Outage>> all) : outages(std::move(all)) {}
  void describe(base::Describer&) override {}
  bool repairs() const override { return true; }
  std::optional<cluster::Outage> next(int which, std::int64_t count, double, const base::Stream::Key&,
                                      const cluster::Repair&) const override {
    if (std::cmp_greater_equal(which, outages.size())) return {};
    const auto& own = outages[static_cast<std::size_t>(which)];
    if (std::cmp_greater_equal(count, own.size())) return {};
    return own[static_cast<std::size_t>(count)];
  }
};

inline constexpr double never = std::numeric_limits<double>::infinity();

/// Simulates with servers that fail as the script says.
inline capacity::FleetOutcome outcome_of(const capacity::FleetOptions& options, const std::vector<capacity::Job>& jobs,
                                         std::vector<std::vector<cluster::Outage>> outages = {}) {
  const Scripted failures(std::move(outages));
  const cluster::NoRepair repair;
  return capacity::simulate(options, {.failures = failures, .repair = repair}, jobs);
}

}  // namespace simgrad::tests
