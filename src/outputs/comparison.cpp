#include "outputs/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>

#include "outputs/leaders.h"
#include "outputs/report/data/conditions.h"
#include "outputs/summary.h"
#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> known(double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; }

std::optional<double> mean(const Group& runs, RunNumber number) { return known(mean_of_seeds(runs, number).mean); }

/// Takes a lambda without captures, whose result may be a plain number.
template <class Number>
std::optional<double> mean(const Group& runs, Number) {
  return mean(runs, RunNumber{[](const Run& run) -> std::optional<double> { return Number{}(run); }});
}

std::optional<std::array<double, 4>> mean_parts(const Group& runs) {
  std::array<double, 4> means{};
  for (std::size_t k = 0; k < means.size(); ++k) {
    std::vector<double> seconds;
    for (const Run* run : runs)
      if (const auto parts = time_parts(run->record); parts && std::isfinite((*parts)[k]))
        seconds.push_back((*parts)[k]);
    if (seconds.empty()) return std::nullopt;
    means[k] = interval(seconds).mean;
  }
  return means;
}

SeedNumbers seed_numbers(const Run& run) {
  const double samples = samples_seen(run.record);
  const auto per_sample = [&](std::optional<double> total) {
    return total && samples > 0.0 ? std::optional(*total / samples) : std::nullopt;
  };
  const bool reached = run.record.time_to_target_s.has_value();
  return {.seed = run.seed,
          .time_to_target_s = run.record.time_to_target_s,
          .simulated_s = run.record.simulated_s,
          .s_per_sample = s_per_sample(run),
          .cost_to_target_usd = reached ? run.bill.cost_to_target_usd : std::nullopt,
          .cost_usd = run.bill.cost_usd,
          .usd_per_sample = per_sample(run.bill.cost_usd),
          .energy_j = run.bill.energy_j,
          .j_per_sample = per_sample(run.bill.energy_j)};
}

/// Returns the final loss if it is near the loss that the run had after three quarters of its steps.
std::optional<double> levelled_off(const Run& run) {
  constexpr double near = 0.01;
  const auto& final_loss = run.record.final_loss;
  if (!final_loss || !(*final_loss > 0.0) || run.record.curve.size() < 5) return std::nullopt;
  for (const record::Evaluation& each : run.record.curve) {
    if (4 * each.step < 3 * run.record.steps) continue;
    if (!each.loss || !(std::abs(*each.loss - *final_loss) <= near * *final_loss)) return std::nullopt;
  }
  return final_loss;
}

/// Returns whether a storage takes at least half of the time that the workers spend communicating.
bool reads_storage(const Group& runs) {
  double storage_s = 0.0, all_s = 0.0;
  for (const Run* run : runs)
    if (const auto parts = time_by_part(run->record)) {
      storage_s += record::storage_s(*parts);
      all_s += parts->sum(record::Activity::communicate);
    }
  return storage_s > 0.0 && storage_s >= 0.5 * all_s;
}

/// Tokens a second are known of every run on text; beside a learning curve they would only take room.
std::optional<double> tokens_per_s_on_devices(const Run& run) {
  const record::Throughput& throughput = run.record.throughput;
  if (run.record.serving.output_tokens_per_s) return run.record.serving.output_tokens_per_s;
  return throughput.mfu ? throughput.tokens_per_s : std::nullopt;
}

std::optional<double> limited_memory(const Run& run) {
  const auto limited = [](const record::RankUse& rank) { return rank.memory_limit_bytes.has_value(); };
  return std::ranges::any_of(run.record.ranks, limited) ? run.record.memory_bytes_max : std::nullopt;
}

bool too_large(const Run& run) {
  return std::ranges::any_of(run.record.ranks, [](const record::RankUse& rank) {
    return rank.memory_bytes && rank.memory_limit_bytes && *rank.memory_bytes > *rank.memory_limit_bytes;
  });
}

void set_means_of_answers(Row& row, const Group& runs) {
  row.ttft_s_median = mean(runs, [](const Run& run) { return run.record.serving.ttft_s.median; });
  row.ttft_s_p99 = mean(runs, [](const Run& run) { return run.record.serving.ttft_s.p99; });
  row.tpot_s_median = mean(runs, [](const Run& run) { return run.record.serving.tpot_s.median; });
  row.tpot_s_p99 = mean(runs, [](const Run& run) { return run.record.serving.tpot_s.p99; });
  row.dollars_per_million_tokens =
      mean(runs, [](const Run& run) { return run.record.serving.dollars_per_million_tokens; });
}

/// Sets the numbers that are means over the runs.
void set_means(Row& row, const Group& runs) {
  row.time_to_target_s = mean(runs, [](const Run& run) { return run.record.time_to_target_s; });
  row.simulated_s = mean(runs, [](const Run& run) { return run.record.simulated_s; });
  row.idle_baseline = has_idle_baseline(runs);
  row.speedup_throughput = known(speedup_throughput(runs).mean);
  row.speedup_time_to_target = known(speedup_to_target(runs).mean);
  row.efficiency = known(efficiency(runs).mean);
  row.samples_per_s = known(samples_per_s(runs).mean);
  row.tokens_per_s = mean(runs, tokens_per_s_on_devices);
  row.mfu = mean(runs, [](const Run& run) { return run.record.throughput.mfu; });
  row.memory_bytes = mean(runs, limited_memory);
  row.cost_usd = mean(runs, [](const Run& run) { return run.bill.cost_usd; });
  row.cost_to_target_usd = mean(runs, [](const Run& run) { return run.bill.cost_to_target_usd; });
  row.energy_j = mean(runs, [](const Run& run) { return run.bill.energy_j; });
  row.bytes = mean(runs, [](const Run& run) { return static_cast<double>(run.record.bytes); });
  row.messages = mean(runs, [](const Run& run) { return static_cast<double>(run.record.messages); });
  row.final_loss = mean(runs, [](const Run& run) { return run.record.final_loss; });
  row.final_metric = mean(runs, [](const Run& run) { return final_metric(run.record); });
  row.parts_s = mean_parts(runs);
  row.reads_storage = reads_storage(runs);
  row.steps = mean(runs, [](const Run& run) { return static_cast<double>(run.record.steps); });
  row.samples = mean(runs, [](const Run& run) { return static_cast<double>(run.record.samples); });
  row.samples_seen = mean(runs, [](const Run& run) { return samples_seen(run.record); });
  if (std::ranges::all_of(runs, [](const Run* run) { return levelled_off(*run).has_value(); }))
    row.levelled_off = mean(runs, levelled_off);
}

Row row_of(const Group& runs) {
  const Run& first = *runs.front();
  Row row;
  row.label = first.label;
  row.parameters = first.parameters;
  row.workers = first.workers;
  for (const Run* run : runs) {
    ++row.seeds;
    row.reached += run->record.time_to_target_s ? 1 : 0;
    row.diverged += run->record.status == record::Status::diverged ? 1 : 0;
    row.failed += run->record.status == record::Status::failed ? 1 : 0;
  }
  const Group sound = sound_runs(runs);
  set_means(row, sound);
  set_means_of_answers(row, sound);
  if (!row.all_reached()) {  // the seeds that got there are a favourable choice
    row.speedup_time_to_target.reset();
    row.cost_to_target_usd.reset();
  }
  for (const Run* run : sound) row.by_seed.push_back(seed_numbers(*run));
  const Interval times = seeds_interval(row, &SeedNumbers::time_to_target_s);
  if (std::isfinite(times.high)) row.time_to_target_margin_s = times.high - times.mean;
  return row;
}

std::vector<Row> rows_of(const std::vector<Run>& runs) {
  std::vector<Row> rows;
  for (const Group& group : groups_of(runs)) rows.push_back(row_of(group));
  return rows;
}

/// Says of each row whether its baseline would fit into memory.
void find_what_does_not_fit(Comparison& c, const std::vector<Run>& baselines) {
  for (Row& row : c.baselines) {
    const auto run = std::ranges::find_if(
        baselines, [&](const Run& each) { return each.label == row.label && each.parameters == row.parameters; });
    if (run != baselines.end()) row.too_large_for_one = too_large(*run);
  }
  for (Row& row : c.rows) {
    if (row.workers < 2) continue;
    const auto found = std::ranges::find_if(
        c.baselines, [&](const Row& baseline) { return has_all(row.parameters, baseline.parameters); });
    if (found != c.baselines.end()) row.too_large_for_one = found->too_large_for_one;
  }
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

/// Grid points are told apart as the report and the CSV files do, by how they are written: 1 and 1.0 are equal as
/// values of JSON, and two points.
std::vector<Group> groups_of(const std::vector<Run>& runs) {
  std::vector<std::vector<Group>> points;
  std::unordered_map<std::string, std::vector<std::size_t>> written;  // points by their texts
  for (const Run& run : runs) {
    std::vector<std::size_t>& candidates = written[compact(run.parameters)];
    const auto known = std::ranges::find_if(
        candidates, [&](std::size_t point) { return points[point][0][0]->parameters == run.parameters; });
    if (known == candidates.end()) {
      candidates.push_back(points.size());
      points.push_back({Group{&run}});
      continue;
    }
    std::vector<Group>& point = points[*known];
    const auto group = std::ranges::find_if(point, [&](const Group& g) { return g[0]->label == run.label; });
    if (group == point.end())
      point.push_back({&run});
    else
      group->push_back(&run);
  }
  std::vector<Group> all;
  for (const auto& groups : points) all.insert(all.end(), groups.begin(), groups.end());
  return all;
}

Comparison comparison(const Results& results) {
  Comparison c;
  c.rows = rows_of(results.runs);
  c.baselines = rows_of(results.baselines);
  std::erase_if(c.baselines, [](const Row& row) {
    std::set<std::uint64_t> seeds;
    return !std::ranges::all_of(row.by_seed, [&](const SeedNumbers& each) { return seeds.insert(each.seed).second; });
  });
  find_what_does_not_fit(c, results.baselines);
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
  c.speed_by_chance = std::ranges::any_of(
      c.rows, [&](const Row& row) { return report::conditions(results.scenario, row.parameters).by_chance(); });
  return c;
}

std::string would_not_fit(const Row& row) {
  return row.too_large_for_one ? tr(" (which would not fit into memory)") : std::string();
}

bool has_all(const Json& point, const Json& values) {
  return std::ranges::all_of(values.items(), [&](const auto& each) {
    const auto found = point.find(each.key());
    return found != point.end() && *found == each.value();
  });
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
  std::map<std::string, int> alike;
  for (const auto& [key, value] : parameters.items()) ++alike[last_part(key)];
  std::string text;
  for (const auto& [key, value] : parameters.items()) {
    const std::string last = last_part(key);
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", alike[last] > 1 ? key : last, value_text(value));
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

Group sound_runs(const Group& runs) {
  const auto with = [&](auto status_matters) {
    Group found;
    std::ranges::copy_if(runs, std::back_inserter(found), status_matters);
    return found;
  };
  using enum record::Status;
  auto sound = with([](const Run* run) { return run->record.status == reached || run->record.status == stopped; });
  return sound.empty() ? with([](const Run* run) { return run->record.status == diverged; }) : sound;
}

}  // namespace simgrad::outputs
