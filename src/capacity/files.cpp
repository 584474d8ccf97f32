/// A study as JSON and CSV.
#include "base/files.h"

#include <array>
#include <cmath>
#include <utility>

#include "capacity/findings.h"
#include "capacity/tables.h"
#include "outputs/files/temporary_file.h"
#include "outputs/results.h"

namespace simgrad::capacity {

using Json = nlohmann::ordered_json;
using outputs::ColumnType;
using outputs::ResultColumn;
using outputs::ResultRow;
using outputs::ResultTable;

namespace {

constexpr std::array<std::pair<const char*, double HostTime::*>, 7> host_time_parts{
    {{"useful_s", &HostTime::useful_s},
     {"down_s", &HostTime::down_s},
     {"recomputed_s", &HostTime::recomputed_s},
     {"checkpoints_s", &HostTime::checkpoints_s},
     {"restart_s", &HostTime::restart_s},
     {"waiting_s", &HostTime::waiting_s},
     {"idle_s", &HostTime::idle_s}}};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(); }

Json json(const HostTime& time) {
  Json tree;
  for (const auto& [name, part] : host_time_parts) tree[name] = time.*part;
  return tree;
}

Json seeds_of(const Study& study, const std::vector<FleetOutcome>& outcomes) {
  Json all = Json::array();
  for (std::size_t s = 0; s < outcomes.size(); ++s)
    all.push_back({{"seed", study.seeds[s]},
                   {"end_s", outcomes[s].end_s},
                   {"goodput", outcomes[s].host_time.goodput()},
                   {"failures", outcomes[s].failures},
                   {"host_time", json(outcomes[s].host_time)}});
  return all;
}

Json fleet_json(const Study& study) {
  Json all = Json::array();
  const std::vector<SparesSummary> found = summaries(study);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const SparesSummary& each = found[i];
    all.push_back({{"spares", each.spares},
                   {"goodput", each.goodput.value},
                   {"goodput_low", number(each.goodput.low)},
                   {"goodput_high", number(each.goodput.high)},
                   {"utilisation", each.host_time.utilisation()},
                   {"usd_per_useful_host_h", number(each.usd_per_useful_host_h)},
                   {"wait_mean_s", number(each.wait_mean_s)},
                   {"wait_median_s", number(each.wait_median_s)},
                   {"wait_p90_s", number(each.wait_p90_s)},
                   {"jobs", each.jobs},
                   {"ended", each.ended},
                   {"host_time", json(each.host_time)},
                   {"seeds", seeds_of(study, study.fleet[i].of_seed)}});
  }
  return all;
}

Json training_json(const Study& study) {
  Json rules = Json::array();
  const std::vector<RuleSummary> found = rule_summaries(study);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const RuleSummary& each = found[i];
    rules.push_back({{"spares", each.spares},
                     {"rule", each.rule},
                     {"interval_s", number(each.interval_s)},
                     {"median_s", each.median_s},
                     {"p90_s", each.p90_s},
                     {"mean_s", each.mean_s},
                     {"finished", each.finished},
                     {"failures", each.failures},
                     {"goodput", each.goodput.value},
                     {"goodput_low", number(each.goodput.low)},
                     {"goodput_high", number(each.goodput.high)},
                     {"host_time", json(each.host_time)},
                     {"seeds", seeds_of(study, study.trainings[i].of_seed)}});
  }
  return {{"hosts", study.undisturbed->hosts},
          {"work_s", study.undisturbed->work_s},
          {"rules", rules},
          {"finding", rule_sentence(study)},
          {"finding_on_spares", training_spares_sentence(study)}};
}

void add_host_time(std::vector<ResultColumn>& columns) {
  for (const auto& [name, part] : host_time_parts) columns.push_back({name, ColumnType::number});
}

void add_host_time(ResultRow& row, const HostTime& time) {
  for (const auto& [name, part] : host_time_parts) row.emplace_back(time.*part);
}

ResultTable fleet_table(const Study& study) {
  ResultTable table{.name = "fleet",
                    .columns = {{"spares", ColumnType::integer},
                                {"seed", ColumnType::integer},
                                {"goodput", ColumnType::number},
                                {"utilisation", ColumnType::number},
                                {"failures", ColumnType::integer}},
                    .each_row = {}};
  add_host_time(table.columns);
  table.each_row = [&study](const auto& use) {
    for (const WithSpares& with : study.fleet)
      for (std::size_t s = 0; s < study.seeds.size(); ++s) {
        const FleetOutcome& outcome = with.of_seed[s];
        ResultRow row{with.spares, study.seeds[s], outcome.host_time.goodput(), outcome.host_time.utilisation(),
                      outcome.failures};
        add_host_time(row, outcome.host_time);
        use(row);
      }
  };
  return table;
}

ResultTable jobs_table(const Study& study) {
  ResultTable table{.name = "jobs",
                    .columns = {{"spares", ColumnType::integer},
                                {"seed", ColumnType::integer},
                                {"name", ColumnType::text},
                                {"hosts", ColumnType::integer},
                                {"work_s", ColumnType::number},
                                {"arrival_s", ColumnType::number},
                                {"start_s", ColumnType::number},
                                {"end_s", ColumnType::number},
                                {"failures", ColumnType::integer}},
                    .each_row = {}};
  table.each_row = [&study](const auto& use) {
    for (const WithSpares& with : study.fleet)
      for (std::size_t s = 0; s < study.seeds.size(); ++s)
        for (std::size_t j = 0; j < study.work[s].jobs.size(); ++j) {
          const Job& job = study.work[s].jobs[j];
          const JobOutcome& outcome = with.of_seed[s].jobs[j];
          use({with.spares, study.seeds[s], study.work[s].names[j], job.hosts, job.work_s, job.arrival_s,
               number(outcome.start_s), number(outcome.end_s), outcome.failures});
        }
  };
  return table;
}

ResultTable training_table(const Study& study) {
  ResultTable table{.name = "training",
                    .columns = {{"spares", ColumnType::integer},
                                {"rule", ColumnType::text},
                                {"interval_s", ColumnType::number},
                                {"seed", ColumnType::integer},
                                {"end_s", ColumnType::number},
                                {"failures", ColumnType::integer}},
                    .each_row = {}};
  add_host_time(table.columns);
  table.each_row = [&study](const auto& use) {
    for (const WithRule& with : study.trainings)
      for (std::size_t s = 0; s < study.seeds.size(); ++s) {
        const FleetOutcome& outcome = with.of_seed[s];
        ResultRow row{with.spares,
                      with.rule,
                      number(with.interval_s),
                      study.seeds[s],
                      number(outcome.jobs.front().end_s),
                      outcome.jobs.front().failures};
        add_host_time(row, outcome.host_time);
        use(row);
      }
  };
  return table;
}

}  // namespace

Json json(const Study& study) {
  Json steps = Json::array();
  for (const auto& [hosts, step] : study.steps)
    steps.push_back(
        {{"hosts", hosts}, {"step_s", step.duration_s}, {"samples", step.samples}, {"tokens", step.tokens}});
  Json checkpoints = Json::array();
  for (const auto& [hosts, times] : study.checkpoints)
    checkpoints.push_back({{"hosts", hosts}, {"checkpoint_s", times.held_up_s}, {"checkpoint_write_s", times.write_s}});
  Json tree{{"scenario", study.scenario},
            {"capacity", study.resolved},
            {"seeds", study.seeds},
            {"mtbf_s", number(study.mtbf_s)},
            {"price_usd_per_h", number(study.price_usd_per_h)},
            {"steps", steps},
            {"checkpoint_s", study.capacity.checkpoint_s.value_or(0.0)},
            {"checkpoint_write_s", study.capacity.checkpoint_write_s.value_or(0.0)},
            {"checkpoints", checkpoints}};
  if (!study.fleet.empty()) {
    tree["fleet"] = fleet_json(study);
    tree["finding"] = spares_sentence(study);
  }
  if (!study.trainings.empty()) tree["training"] = training_json(study);
  return tree;
}

std::vector<ResultTable> tables(const Study& study) {
  std::vector<ResultTable> all;
  if (!study.fleet.empty()) all.insert(all.end(), {fleet_table(study), jobs_table(study)});
  if (!study.trainings.empty()) all.push_back(training_table(study));
  return all;
}

void write_files(const Study& study, const std::string& directory) {
  base::make_directory(directory);
  const auto write = [&](const std::string& name, const auto& fill) {
    outputs::TemporaryFile file(directory + "/" + name);
    fill(file);
    file.keep();
  };
  write("capacity.json", [&](outputs::TemporaryFile& file) {
    file.write(json(study).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  });
  for (const ResultTable& table : tables(study))
    write(table.name + ".csv", [&](outputs::TemporaryFile& file) {
      outputs::write_csv(table, [&](std::string_view piece) { file.write(piece); });
    });
}

}  // namespace simgrad::capacity
