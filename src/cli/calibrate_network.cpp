#include "cli/calibrate_network.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "base/errors.h"
#include "base/units.h"
#include "experiment/calibration/network_fit.h"
#include "outputs/text/number_text.h"

namespace simgrad::cli {

namespace {

using base::Unit;

/// Four digits: a measurement has no more.
std::string rounded(double value, Unit unit) {
  if (!(value > 0.0)) return base::format_quantity(0.0, unit);
  const double digit = std::pow(10.0, std::floor(std::log10(value)) - 3.0);
  return base::format_quantity(std::stod(fmt::format("{:.4g}", std::round(value / digit) * digit)), unit);
}

double parsed(const std::string& bandwidth) {
  try {
    const double value = base::parse_quantity(bandwidth, Unit::bytes_per_second);
    if (value > 0.0) return value;
  } catch (const std::invalid_argument& error) {
    throw base::ScenarioError(fmt::format("--bandwidth: {}", error.what()));
  }
  throw base::ScenarioError(fmt::format("--bandwidth: {} is not a bandwidth; expected more than 0", bandwidth));
}

void print_residuals(const std::vector<experiment::Measured>& measured, const experiment::NetworkFit& fit) {
  constexpr std::array names{"message", "ring", "flat"};
  fmt::print("# {:>10}  {:>8}  {:>7}  {:>10}  {:>10}  {:>8}\n", "bytes", "what", "workers", "measured", "fitted",
             "residual");
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const experiment::Measured& m = measured[i];
    fmt::print("# {:>10}  {:>8}  {:>7}  {:>10}  {:>10}  {:>+7.1f}%\n", outputs::byte_count(m.bytes),
               names[static_cast<std::size_t>(m.timed)], m.workers, outputs::duration(m.seconds),
               outputs::duration(fit.predicted_s[i]), 100.0 * (fit.predicted_s[i] / m.seconds - 1.0));
  }
  fmt::print("# root mean square of the relative residuals: {:.2f}%\n", 100.0 * fit.rms_relative_error);
}

}  // namespace

void calibrate_network(const std::string& path, const std::string& bandwidth) {
  const auto measured = experiment::read_measurements(path);
  const experiment::NetworkFit fit = experiment::fit_network(measured, path);
  const double nominal = bandwidth.empty() ? fit.link_bytes_per_s : parsed(bandwidth);
  const double efficiency = fit.link_bytes_per_s / nominal;
  if (efficiency > 1.02)
    throw base::ScenarioError(
        fmt::format("{}: {} were measured on a link of --bandwidth {}, which is less; is the bandwidth right?", path,
                    rounded(fit.link_bytes_per_s, Unit::bytes_per_second), bandwidth));
  print_residuals(measured, fit);
  if (!fit.tells_flow_from_link)
    fmt::print(
        "# One flow at a time does not show whether the link or a limit of the flow binds; add rows with collective = "
        "flat\n# and three workers or more to find out.\n");
  fmt::print("[cluster]\nlatency = \"{}\"\n", rounded(fit.latency_s, Unit::seconds));
  if (bandwidth.empty())
    fmt::print("bandwidth = \"{}\"\n", rounded(nominal, Unit::bytes_per_second));
  else
    fmt::print("bandwidth = \"{}\"\nefficiency = {:.4g}\n", base::format_quantity(nominal, Unit::bytes_per_second),
               std::min(1.0, efficiency));
  if (fit.flow_bytes_per_s) fmt::print("flow_limit = \"{}\"\n", rounded(*fit.flow_bytes_per_s, Unit::bytes_per_second));
}

}  // namespace simgrad::cli
