/// The links: bytes and utilisation over the whole run, and over time if the scenario records it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

struct Link {
  std::string name;
  std::string text = {};            ///< "server 0, sending" for "nic-8_UP"; the name of a link between switches
  std::optional<std::string> from;  ///< a host or a switch; nothing if the cabling is not known
  std::optional<std::string> to;
  double bytes = 0.0;  ///< without other traffic; mean over the seeds
  double utilisation = 0.0;
};

/// The heat map of the first seed: a row per link, a column per interval of time.
struct Heat {
  std::vector<std::string> names;
  std::vector<double> edges_s;  ///< one more than columns
  std::vector<std::vector<double>> values;
  bool utilisation = true;  ///< else bytes per second, because a bandwidth is not known
};

struct LinksRow {
  const Case* one = nullptr;
  std::vector<Link> links;  ///< in the record's order; if there are too many, those that carried most
  std::size_t links_in_all = 0;
  double utilisation_mean = 0.0;             ///< over all links, those that are left out too
  std::map<std::string, std::string> hosts;  ///< the ranks of the hosts in `from` and `to`: "server 0" for "host-8"
  std::optional<Heat> heat;
};

inline constexpr std::size_t most_links_in_all = 4000;
inline constexpr std::size_t most_heat_rows = 48;
inline constexpr std::size_t most_heat_columns = 240;
inline constexpr std::size_t most_heat_cells = 120'000;

struct Links : Chart {
  std::vector<LinksRow> rows;
};

/// Returns nothing if no link was recorded.
std::optional<Links> links(const ReportModel& model);

/// Returns at most `most_rows` links, those with the highest peaks, and at most `most_columns` intervals: neighbouring
/// bins are averaged by their lengths.
std::optional<Heat> heat(const record::Record& record, std::size_t most_rows, std::size_t most_columns);

void write(Writer& writer, const Links& links);

}  // namespace simgrad::outputs::report
