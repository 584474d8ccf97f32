#include "cluster/failures/fault_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "base/errors.h"
#include "base/files.h"
#include "cluster/failures/trace_row.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

namespace {

constexpr double day_s = 86400.0;

// Draws beside those of the failures themselves, which are attempt 0.
constexpr std::uint16_t choice_of_server = 1;
constexpr std::uint16_t choice_of_phase = 2;

bool next_line(std::istringstream& stream, std::string& line) {
  if (!std::getline(stream, line)) return false;
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return true;
}

/// Takes what a comment says of the traced cluster.
void learn(const std::string& comment, TracedCluster& cluster) {
  constexpr std::size_t longest = 1000;  // a regular expression's stack grows with the text
  const std::string text = comment.substr(0, longest);
  static const std::regex of_servers(R"(\bof (\d{1,9})( [A-Za-z]+){0,3} servers\b)"), of_days(R"(\b(\d{1,6}) days\b)");
  std::smatch match;
  if (!cluster.servers && std::regex_search(text, match, of_servers)) cluster.servers = std::stoll(match[1].str());
  if (!cluster.days && std::regex_search(text, match, of_days)) cluster.days = std::stod(match[1].str());
}

/// The outages in ascending order, those that overlap as one.
std::vector<Outage> merged(std::vector<Outage> outages) {
  std::ranges::sort(outages, {}, &Outage::down_s);
  std::vector<Outage> all;
  for (const Outage& outage : outages) {
    if (!all.empty() && outage.down_s <= *all.back().up_s)
      all.back().up_s = std::max(*all.back().up_s, *outage.up_s);
    else
      all.push_back(outage);
  }
  return all;
}

/// days: whole ones of the trace, whose last day may be a part of one.
Outage outage_in(const TraceRow& row, double days) {
  if (row.size() != 5) row.refuse(0, fmt::format("expected five cells, {}; found {}", fault_header, row.size()));
  const Outage outage{.down_s = row.number(1, "start_day") * day_s, .up_s = row.number(2, "end_day") * day_s};
  if (*outage.up_s < outage.down_s) row.refuse(2, "end_day is before start_day");
  if (*outage.up_s >= (days + 1.0) * day_s)
    row.refuse(2, fmt::format("end_day is beyond the {:.6g} days of the trace", days));
  return outage;
}

}  // namespace

bool has_faults(const std::string& file) {
  std::istringstream stream(base::read_file(file));
  std::string line;
  while (next_line(stream, line))
    if (!line.starts_with('#')) return line == fault_header;
  return false;
}

FaultTrace::FaultTrace(const std::string& file, const TracedCluster& cluster) {
  read(file, cluster);
  for (std::vector<Outage>& outages : of_server_) {
    outages = merged(std::move(outages));
    faults_ += static_cast<std::int64_t>(outages.size());
    for (const Outage& outage : outages) down_s_ += *outage.up_s - outage.down_s;
  }
}

void FaultTrace::read(const std::string& file, const TracedCluster& given) {
  std::istringstream stream(base::read_file(file));
  TracedCluster cluster = given;
  std::map<std::size_t, std::size_t> numbers;  // of the file's servers: here they are 0, 1, ... as they come
  std::string line;
  bool begun = false;
  for (int number = 1; next_line(stream, line); ++number) {
    const TraceRow row(file, number, line);
    if (!begun && line.starts_with('#')) {
      learn(line, cluster);
      continue;
    }
    if (!begun) {
      if (line != fault_header) row.refuse(0, fmt::format("expected the header \"{}\"", fault_header));
      if (!cluster.servers || !cluster.days)
        row.refuse(0,
                   "how many servers were traced, over how many days? Expected a comment above, as in \"# Faults of 2 "
                   "of 400 servers, 348 days\", or \"servers\" and \"days\" in the scenario");
      servers_ = *cluster.servers;
      window_s_ = *cluster.days * day_s;
      if (servers_ < 1 || !(window_s_ > 0.0)) row.refuse(0, "expected at least one server and one day");
      begun = true;
    } else if (!line.empty()) {
      const std::size_t server = row.index(0, "server", std::size_t{most_ranks}, "the number of a server");
      const Outage outage = outage_in(row, *cluster.days);
      window_s_ = std::max(window_s_, *outage.up_s);
      const auto [at, added] = numbers.emplace(server, numbers.size());
      if (added && std::cmp_greater(numbers.size(), servers_))
        row.refuse(0, fmt::format("the {} servers of the trace have faults already, this is one more", servers_));
      if (added) of_server_.emplace_back();
      of_server_[at->second].push_back(outage);
    }
  }
  if (!begun) throw base::ScenarioError(fmt::format("{}:1:1: expected the header \"{}\"", file, fault_header));
}

std::optional<double> FaultTrace::mtbf_s() const {
  if (faults_ == 0) return {};
  return (static_cast<double>(servers_) * window_s_ - down_s_) / static_cast<double>(faults_);
}

double FaultTrace::days() const { return window_s_ / day_s; }

double FaultTrace::down_share() const { return down_s_ / (static_cast<double>(servers_) * window_s_); }

std::optional<Outage> FaultTrace::outage(int which, std::int64_t count, std::uint64_t seed) const {
  const auto servers = static_cast<std::uint64_t>(servers_), host = static_cast<std::uint64_t>(which);
  const base::Permutation order(
      {.seed = seed, .purpose = base::Purpose::failure, .step = host / servers, .attempt = choice_of_server}, servers);
  const std::uint64_t server = order(host % servers);
  if (server >= of_server_.size() || of_server_[server].empty()) return {};
  const std::vector<Outage>& outages = of_server_[server];
  base::Stream phase({.seed = seed,
                      .purpose = base::Purpose::failure,
                      .rank = static_cast<std::uint32_t>(which),
                      .attempt = choice_of_phase});
  const double begin_s = phase.uniform() * window_s_;
  const auto first = std::ranges::upper_bound(outages, begin_s, {}, &Outage::down_s) - outages.begin();
  const std::int64_t at = first + count, size = std::ssize(outages);
  const double shift_s = static_cast<double>(at / size) * window_s_ - begin_s;
  const Outage& found = outages[static_cast<std::size_t>(at % size)];
  return Outage{.down_s = found.down_s + shift_s, .up_s = *found.up_s + shift_s};
}

}  // namespace simgrad::cluster
