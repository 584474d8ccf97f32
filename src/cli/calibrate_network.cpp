#include "cli/calibrate_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/errors.h"
#include "base/units.h"
#include "experiment/calibration/network_fit.h"
#include "experiment/calibration/protocol_fit.h"
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
  constexpr std::array names{"message", "ring", "flat", "rabenseifner"};
  fmt::print("# {:>10}  {:>16}  {:>7}  {:>10}  {:>10}  {:>8}\n", "bytes", "what", "workers", "measured", "fitted",
             "residual");
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const experiment::Measured& m = measured[i];
    fmt::print("# {:>10}  {:>16}  {:>7}  {:>10}  {:>10}  {:>+7.1f}%\n", outputs::byte_count(m.bytes),
               names[static_cast<std::size_t>(m.timed)], m.workers, outputs::duration(m.seconds),
               outputs::duration(fit.predicted_s[i]), 100.0 * (fit.predicted_s[i] / m.seconds - 1.0));
  }
  fmt::print("# root mean square of the relative residuals: {:.2f}%\n", 100.0 * fit.rms_relative_error);
}

}  // namespace

namespace {

/// The table's latencies and bandwidths, as factors of the line's.
void print_protocol(const experiment::ProtocolFit& table, const experiment::NetworkFit& line, double bytes_per_s) {
  std::string rows;
  for (const experiment::FittedRow& row : table.rows)
    rows += fmt::format("{}\n  {{ from = \"{}\", latency = {:.4g}, bandwidth = {:.4g} }}", rows.empty() ? "" : ",",
                        base::format_quantity(row.from_bytes, Unit::bytes),
                        line.latency_s > 0.0 ? row.latency_s / line.latency_s : 1.0, row.bytes_per_s / bytes_per_s);
  fmt::print("protocol = {{ kind = \"table\", rows = [{}] }}\n", rows);
}

}  // namespace

void calibrate_network(const std::string& path, const std::string& bandwidth, bool protocol) {
  const auto measured = experiment::read_measurements(path);
  const experiment::NetworkFit fit = experiment::fit_network(measured, path);
  const double nominal = bandwidth.empty() ? fit.link_bytes_per_s : parsed(bandwidth);
  const double efficiency = fit.link_bytes_per_s / nominal;
  if (efficiency > 1.02)
    throw base::ScenarioError(
        fmt::format("{}: {} were measured on a link of --bandwidth {}, which is less; is the bandwidth right?", path,
                    rounded(fit.link_bytes_per_s, Unit::bytes_per_second), bandwidth));
  print_residuals(measured, fit);
  std::optional<experiment::ProtocolFit> table;
  if (protocol) {
    if (fit.flow_bytes_per_s)
      throw base::ScenarioError(fmt::format(
          "{}: several flows share a link of more than one flow's limit in it, of which a table of messages "
          "knows nothing; leave out the flat rows of three workers or more for --protocol",
          path));
    table = experiment::fit_protocol(measured, path);
    if (!(fit.latency_s > 0.0) && std::ranges::any_of(table->rows, [](const auto& row) { return row.latency_s > 0.0; }))
      throw base::ScenarioError(
          fmt::format("{}: one latency for all sizes comes out as 0, of which a table has no factors; expected smaller "
                      "messages, too",
                      path));
    fmt::print("# a table of {} row{} by the size of messages: root mean square {:.2f}%, median {:.2f}%\n",
               table->rows.size(), table->rows.size() == 1 ? "" : "s", 100.0 * table->rms_relative_error,
               100.0 * table->median_relative_error);
  }
  if (!fit.tells_flow_from_link)
    fmt::print(
        "# One flow at a time does not show whether the link or a limit of the flow is the bottleneck; add rows with "
        "collective = "
        "flat\n# and three workers or more to find out.\n");
  fmt::print("[cluster]\nlatency = \"{}\"\n", rounded(fit.latency_s, Unit::seconds));
  if (bandwidth.empty())
    fmt::print("bandwidth = \"{}\"\n", rounded(nominal, Unit::bytes_per_second));
  else
    fmt::print("bandwidth = \"{}\"\nefficiency = {:.4g}\n", base::format_quantity(nominal, Unit::bytes_per_second),
               std::min(1.0, efficiency));
  if (table) print_protocol(*table, fit, fit.flow_bytes_per_s.value_or(fit.link_bytes_per_s));
  if (fit.flow_bytes_per_s) fmt::print("flow_limit = \"{}\"\n", rounded(*fit.flow_bytes_per_s, Unit::bytes_per_second));
}

}  // namespace simgrad::cli
