#include "experiment/job_training.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "experiment/recoveries.h"

namespace simgrad::experiment {

using nlohmann::ordered_json;
using scenario::Document;
using scenario::Faults;

const std::vector<std::string>& own_tables() {
  static const std::vector<std::string> tables{"data", "model", "training", "stop"};
  return tables;
}

namespace {

/// The scenario as it would be with this training alone, but for the cluster.
Document laid_over(const Document& scenario, const std::string& job) {
  Document own = scenario;
  const auto gives = [&](const char* key) { return scenario.contains(fmt::format("{}.{}", job, key)); };
  // Options of another kind are none of the job's.
  if (gives("model.kind")) own.erase("model");
  if (gives("data.source")) own.erase("data");
  // A batch is said in one of two ways.
  if (gives("batch_size") || gives("training.batch_size")) own.erase("training.batch_size_per_worker");
  if (gives("training.batch_size_per_worker")) own.erase("training.batch_size");
  for (const std::string& table : own_tables()) own.lay_over(table, fmt::format("{}.{}", job, table));
  own.lay_over("training.batch_size", job + ".batch_size");
  own.lay_over("stop.steps", job + ".steps");
  own.erase("job");
  own.erase("expect");
  return own;
}

Settings read_training(const Settings& all, std::size_t j, const Document& scenario, Faults& faults) {
  const JobEntry& job = all.jobs[j];
  const std::string table = fmt::format("job.{}", j);
  Document document = laid_over(scenario, table);
  const auto strategy = strategy_of(all, job.strategy);
  if (strategy) document.keep_only("strategy", *strategy);
  Faults found;
  Settings own = read_sections(document, found);
  own.jobs = all.jobs;
  if (found.empty() && strategy) {
    own.cluster.workers = job.workers;
    own.places.workers = scenario.position(scenario.contains(table + ".workers") ? table + ".workers" : table);
    if (own.training.numbers != all.training.numbers)
      found.add(scenario.position(table + ".training.numbers"),
                fmt::format("job \"{}\" has numbers = {}, but the jobs of a scenario all have numbers or none; set "
                            "training.numbers for all of them",
                            job.name, own.training.numbers));
    check_recoveries(own, {}, found);
    check_training(own, document, found);
  }
  faults.add(found);
  return own;
}

}  // namespace

std::vector<Settings> read_trainings(const Settings& all, const Document& document, Faults& faults) {
  std::vector<Settings> trainings;
  for (std::size_t j = 0; j < all.jobs.size(); ++j) trainings.push_back(read_training(all, j, document, faults));
  return trainings;
}

ordered_json echo_of_own(const Settings& all, std::size_t job, const std::string& directory) {
  const JobEntry& entry = all.jobs.at(job);
  const ordered_json resolved = scenario::echo(all.trainings.at(job), directory);
  ordered_json own = ordered_json::object();
  for (const auto& [table, written] : {std::pair("data", &entry.data), std::pair("model", &entry.model),
                                       std::pair("training", &entry.training), std::pair("stop", &entry.stop)})
    for (const auto& [dotted, value] : *written) {
      const std::string key = dotted.substr(0, dotted.find('.'));
      if (resolved.at(table).contains(key)) own[table][key] = resolved.at(table).at(key);
    }
  return own;
}

}  // namespace simgrad::experiment
