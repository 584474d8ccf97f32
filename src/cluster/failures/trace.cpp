/// Failures read from a file.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

#include "base/errors.h"
#include "cluster/failures/processes.h"
#include "cluster/topologies/topology.h"

namespace simgrad::cluster {

namespace {

constexpr std::string_view trace_header = "host,down_at,up_at";

/// One line of the file, cut into cells.
class Row {
 public:
  Row(const std::string& file, int number, std::string_view line) : file_(file), number_(number) {
    for (std::size_t from = 0; from <= line.size();) {
      const auto comma = std::min(line.find(',', from), line.size());
      cells_.push_back({line.substr(from, comma - from), from + 1});
      from = comma + 1;
    }
  }

  [[noreturn]] void refuse(std::size_t cell, const std::string& text) const {
    const std::size_t column = cell < cells_.size() ? cells_[cell].column : 1;
    throw base::ScenarioError(fmt::format("{}:{}:{}: {}", file_, number_, column, text));
  }
  std::size_t size() const { return cells_.size(); }
  bool empty(std::size_t cell) const { return cells_.at(cell).text.empty(); }

  double number(std::size_t cell, std::string_view what) const {
    const std::string_view text = cells_.at(cell).text;
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0)
      refuse(cell, fmt::format("{} must be a number of at least 0, found \"{}\"", what, text));
    return value;
  }

 private:
  struct Cell {
    std::string_view text;
    std::size_t column;
  };
  const std::string& file_;
  int number_;
  std::vector<Cell> cells_;
};

void add(std::vector<std::vector<Outage>>& all, const Row& row) {
  if (row.size() != 3) row.refuse(0, fmt::format("expected three cells, {}; found {}", trace_header, row.size()));
  const double host = row.number(0, "host");
  if (host != std::floor(host) || host >= static_cast<double>(most_ranks))
    row.refuse(0, "host must be the number of a host, from 0 on");
  if (all.size() <= static_cast<std::size_t>(host)) all.resize(static_cast<std::size_t>(host) + 1);
  std::vector<Outage>& own = all[static_cast<std::size_t>(host)];
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
  std::ifstream stream(file);
  if (!stream) throw base::EnvironmentError(fmt::format("{}: cannot be opened", file));
  std::vector<std::vector<Outage>> all;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const Row row(file, number, line);
    if (number == 1) {
      if (line != trace_header) row.refuse(0, fmt::format("expected the header \"{}\"", trace_header));
    } else if (!line.empty()) {
      add(all, row);
    }
  }
  return all;
}

void TracedFailures::describe(base::Describer& d) {
  d.path("path", path, "the CSV file; hosts are numbered as ranks are: workers' first, then servers'");
  describe_class(d);
  if (path.empty()) d.refuse("path", "a trace is read from a file; say which in \"path\"");
}

std::vector<std::vector<Outage>> TracedFailures::known_outages() const { return read_outages(path); }

void TracedFailures::check_files(std::int64_t those) const {
  read_ = std::make_shared<const std::vector<std::vector<Outage>>>(read_outages(path));
  if (std::cmp_greater(read_->size(), those))
    throw base::ScenarioError(
        fmt::format("{}:1:1: host {} fails, but the hosts here are 0 to {}", path, read_->size() - 1, those - 1));
}

std::optional<Outage> TracedFailures::next(int which, std::int64_t count, double, base::Stream&, const Repair&) const {
  if (!read_) read_ = std::make_shared<const std::vector<std::vector<Outage>>>(read_outages(path));
  if (std::cmp_greater_equal(which, read_->size())) return {};
  const std::vector<Outage>& own = (*read_)[static_cast<std::size_t>(which)];
  if (std::cmp_greater_equal(count, own.size())) return {};
  return own[static_cast<std::size_t>(count)];
}

}  // namespace simgrad::cluster
