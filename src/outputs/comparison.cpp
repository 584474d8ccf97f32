#include "outputs/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "outputs/summary.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using Group = std::vector<const Run*>;

/// Mean and spread of the numbers that runs have.
class Sample {
 public:
  void add(std::optional<double> x) {
    if (x && std::isfinite(*x)) values_.push_back(*x);
  }
  std::optional<double> mean() const {
    if (values_.empty()) return std::nullopt;
    // The sum is of differences from the first number: the mean of equal numbers is that number, to the last bit.
    const double first = values_.front();
    double excess = 0.0;
    for (const double x : values_) excess += x - first;
    return first + excess / static_cast<double>(values_.size());
  }
  std::optional<double> relative_deviation() const {
    if (values_.size() < 2 || *mean() == 0.0) return std::nullopt;
    double squares = 0.0;
    for (const double x : values_) squares += (x - *mean()) * (x - *mean());
    return std::sqrt(squares / static_cast<double>(values_.size() - 1)) / *mean();
  }

 private:
  std::vector<double> values_;
};

/// Returns the mean of a number over the runs that did not fail.
template <class Number>
std::optional<double> mean(const Group& runs, Number number) {
  Sample sample;
  for (const Run* run : runs) {
    if (run->record.status != record::Status::failed) sample.add(number(*run));
  }
  return sample.mean();
}

std::optional<std::array<double, 4>> mean_parts(const Group& runs) {
  std::array<double, 4> means{};
  for (std::size_t k = 0; k < means.size(); ++k) {
    const auto part = mean(runs, [k](const Run& run) -> std::optional<double> {
      const auto parts = time_parts(run.record);
      return parts ? std::optional((*parts)[k]) : std::nullopt;
    });
    if (!part) return std::nullopt;
    means[k] = *part;
  }
  return means;
}

std::optional<double> samples_per_s(const Run& run) {
  if (!(run.record.simulated_s > 0.0)) return std::nullopt;
  return static_cast<double>(run.record.samples) / run.record.simulated_s;
}

/// Returns whether the baseline takes no time, because computing takes none: a speed-up over it means nothing.
bool idle_baseline(const Group& runs) {
  const auto speedup = mean(runs, [](const Run& run) { return run.speedup_throughput; });
  return speedup && *speedup < 1e-9;
}

Row row_of(const Group& runs) {
  const Run& first = *runs.front();
  Row row;
  row.label = first.label;
  row.parameters = first.parameters;
  row.workers = first.workers;
  Sample times;
  for (const Run* run : runs) {
    ++row.seeds;
    row.reached += run->record.time_to_target_s ? 1 : 0;
    row.diverged += run->record.status == record::Status::diverged ? 1 : 0;
    row.failed += run->record.status == record::Status::failed ? 1 : 0;
    times.add(run->record.time_to_target_s);
  }
  row.time_to_target_s = times.mean();
  row.time_to_target_spread = times.relative_deviation();
  row.simulated_s = mean(runs, [](const Run& run) { return run.record.simulated_s; });
  if (!idle_baseline(runs)) {
    row.speedup_throughput = mean(runs, [](const Run& run) { return run.speedup_throughput; });
    row.speedup_time_to_target = mean(runs, [](const Run& run) { return run.speedup_time_to_target; });
    row.efficiency = mean(runs, [](const Run& run) { return run.efficiency; });
  }
  row.samples_per_s = mean(runs, samples_per_s);
  row.cost_usd = mean(runs, [](const Run& run) { return run.bill.cost_usd; });
  row.cost_to_target_usd = mean(runs, [](const Run& run) { return run.bill.cost_to_target_usd; });
  row.energy_j = mean(runs, [](const Run& run) { return run.bill.energy_j; });
  row.bytes = mean(runs, [](const Run& run) { return static_cast<double>(run.record.bytes); });
  row.messages = mean(runs, [](const Run& run) { return static_cast<double>(run.record.messages); });
  row.final_loss = mean(runs, [](const Run& run) { return run.record.final_loss; });
  row.final_metric = mean(runs, [](const Run& run) { return final_metric(run.record); });
  row.parts_s = mean_parts(runs);
  return row;
}

/// Stable: the order of the first run of each grid point, and of each label within it.
std::vector<Row> rows_of(const std::vector<Run>& runs) {
  std::vector<std::vector<Group>> points;
  for (const Run& run : runs) {
    auto point = std::find_if(points.begin(), points.end(),
                              [&](const auto& groups) { return groups[0][0]->parameters == run.parameters; });
    if (point == points.end())
      point = points.insert(points.end(), {Group{&run}});
    else {
      auto group = std::find_if(point->begin(), point->end(), [&](const Group& g) { return g[0]->label == run.label; });
      if (group == point->end())
        point->push_back({&run});
      else
        group->push_back(&run);
    }
  }
  std::vector<Row> rows;
  for (const auto& groups : points) {
    for (const Group& group : groups) rows.push_back(row_of(group));
  }
  return rows;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

Comparison comparison(const Results& results) {
  Comparison c;
  c.rows = rows_of(results.runs);
  c.baselines = rows_of(results.baselines);
  std::set<std::string> metrics;
  for (const Run& run : results.runs) {
    if (!run.record.metric_name.empty()) metrics.insert(run.record.metric_name);
    c.has_target = c.has_target || run.record.time_to_target_s.has_value();
    for (const auto& [key, value] : run.parameters.items()) {
      if (std::find(c.parameters.begin(), c.parameters.end(), key) == c.parameters.end()) c.parameters.push_back(key);
    }
  }
  if (metrics.size() == 1) c.metric_name = *metrics.begin();
  const Json* loss = nullptr;
  const auto stop = results.scenario.find("stop");
  if (stop != results.scenario.end() && stop->contains("loss")) loss = &(*stop)["loss"];
  const bool in_grid = std::find(c.parameters.begin(), c.parameters.end(), "stop.loss") != c.parameters.end();
  c.has_target = c.has_target || in_grid || (loss && loss->is_number());
  if (loss && loss->is_number() && !in_grid) c.target = loss->get<double>();
  return c;
}

std::string short_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto alike =
      std::count_if(keys.begin(), keys.end(), [&](const auto& k) { return last_part(k) == last_part(key); });
  return alike > 1 ? key : last_part(key);
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "-";
  return printable(value.is_string() ? value.get<std::string>() : compact(value));
}

std::string point_text(const Json& parameters) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : parameters.items()) keys.push_back(key);
  std::string text;
  for (const auto& [key, value] : parameters.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", short_name(key, keys), value_text(value));
  }
  return text;
}

std::array<int, 4> apportioned(const std::array<double, 4>& parts, int total) {
  std::array<int, 4> cells{};
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (!(sum > 0.0) || !std::isfinite(sum)) return cells;
  std::array<double, 4> remainders{};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const double exact = parts[k] / sum * total;
    cells[k] = static_cast<int>(exact);
    remainders[k] = exact - cells[k];
  }
  for (int left = total - std::accumulate(cells.begin(), cells.end(), 0); left > 0; --left) {
    const auto most = std::max_element(remainders.begin(), remainders.end());
    ++cells[static_cast<std::size_t>(most - remainders.begin())];
    *most = -1.0;
  }
  return cells;
}

namespace {

/// Returns the row with the least number, among rows that reached the target with every seed.
const Row* least(const Comparison& comparison, std::optional<double> Row::*number) {
  const Row* best = nullptr;
  for (const Row& row : comparison.rows)
    if (row.*number && row.all_reached() && (!best || *(row.*number) < *(best->*number))) best = &row;
  return best;
}

}  // namespace

const Row* fastest(const Comparison& comparison) { return least(comparison, &Row::time_to_target_s); }

const Row* cheapest(const Comparison& comparison) { return least(comparison, &Row::cost_to_target_usd); }

}  // namespace simgrad::outputs
