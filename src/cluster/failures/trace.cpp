/// Failures read from a file.
#include <fmt/format.h>

#include <sstream>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/files.h"
#include "cluster/failures/fault_trace.h"
#include "cluster/failures/processes.h"
#include "cluster/failures/trace_row.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

namespace {

constexpr std::string_view trace_header = "host,down_at,up_at";

void add(std::vector<std::vector<Outage>>& all, const TraceRow& row) {
  if (row.size() != 3) row.refuse(0, fmt::format("expected three cells, {}; found {}", trace_header, row.size()));
  const std::size_t host = row.index(0, "host", std::size_t{most_ranks}, "the number of a host");
  if (all.size() <= host) all.resize(host + 1);
  std::vector<Outage>& own = all[host];
  Outage outage{.down_s = row.number(1, "down_at"), .up_s = {}};
  if (!row.empty(2)) outage.up_s = row.number(2, "up_at");
  if (outage.up_s && *outage.up_s < outage.down_s)
    row.refuse(2, fmt::format("up_at = {} is before down_at = {}", *outage.up_s, outage.down_s));
  if (!own.empty() && !own.back().up_s)
    row.refuse(1, fmt::format("host {} goes down again, but its line before says that it never comes back", host));
  if (!own.empty() && outage.down_s < *own.back().up_s)
    row.refuse(
        1, fmt::format("host {} goes down at {} s, before it is back from the failure before at {} s; dates of a host "
                       "must ascend",
                       host, outage.down_s, *own.back().up_s));
  own.push_back(outage);
}

}  // namespace

std::vector<std::vector<Outage>> read_outages(const std::string& file) {
  std::istringstream stream(base::read_file(file));
  std::vector<std::vector<Outage>> all;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const TraceRow row(file, number, line);
    if (number == 1) {
      if (line != trace_header)
        row.refuse(0, fmt::format("expected the header \"{}\", or \"{}\" below comments", trace_header, fault_header));
    } else if (!line.empty()) {
      add(all, row);
    }
  }
  return all;
}

void TracedFailures::describe(base::Describer& d) {
  d.path("path", path,
         "the CSV file, of one of two layouts. host,down_at,up_at in seconds: hosts are numbered, workers' first, "
         "then servers'; a host of several devices has one number. server,start_day,end_day,level,class in days, below "
         "comments: hosts are servers of the "
         "trace, drawn by the seed, which begin at a random moment of it");
  d.integer("servers", servers,
            "servers of the traced cluster, those without a fault included; default: as the file's comment says",
            base::Bounds::between(1, most_ranks));
  d.number("days", days, "days of the trace; default: as the file's comment says",
           base::Bounds{.least = 0.0, .most = 1e6, .positive = true});
  describe_class(d);
  if (path.empty()) d.refuse("path", "a trace is read from a file; say which in \"path\"");
}

const TracedFailures::Contents& TracedFailures::contents() const {
  if (read_) return *read_;
  auto contents = std::make_shared<Contents>();
  if (has_faults(path))
    contents->faults = std::make_shared<const FaultTrace>(path, TracedCluster{.servers = servers, .days = days});
  else
    contents->of_host = read_outages(path);
  if (!contents->faults && (servers || days))
    throw base::ScenarioError(
        fmt::format("{}:1:1: \"{}\" are outages of the hosts themselves, which \"servers\" and \"days\" cannot scale; "
                    "expected the header \"{}\", or neither of the two options",
                    path, trace_header, fault_header));
  read_ = std::move(contents);
  return *read_;
}

std::vector<std::vector<Outage>> TracedFailures::known_outages() const { return contents().of_host; }

std::optional<double> TracedFailures::mtbf_s() const {
  return contents().faults ? contents().faults->mtbf_s() : std::nullopt;
}

void TracedFailures::check_files(std::int64_t those) const {
  read_.reset();  // the file may be another by now
  if (std::cmp_greater(contents().of_host.size(), those))
    throw base::ScenarioError(fmt::format("{}:1:1: host {} fails, but the hosts here are 0 to {}", path,
                                          contents().of_host.size() - 1, those - 1));
}

std::optional<Outage> TracedFailures::next(int which, std::int64_t count, double, const base::Stream::Key& draws,
                                           const Repair&) const {
  if (contents().faults) return contents().faults->outage(which, count, draws.seed);
  const std::vector<std::vector<Outage>>& of_host = contents().of_host;
  if (std::cmp_greater_equal(which, of_host.size())) return {};
  const std::vector<Outage>& own = of_host[static_cast<std::size_t>(which)];
  if (std::cmp_greater_equal(count, own.size())) return {};
  return own[static_cast<std::size_t>(count)];
}

}  // namespace simgrad::cluster
