#include "experiment/plan/job_training.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "experiment/checks/recoveries.h"
#include "experiment/plan/places.h"
#include "experiment/plan/read_settings.h"

namespace simgrad::experiment {

using nlohmann::ordered_json;
using scenario::Document;
using scenario::Faults;

const std::vector<std::string>& own_tables() {
  static const std::vector<std::string> tables{"data", "model", "training", "stop"};
  return tables;
}

namespace {

/// The scenario with this job's training only. The cluster stays whole.
Document laid_over(const Document& scenario, const std::string& job) {
  Document own = scenario;
  /// True if the job's own table gives that option of the scenario.
  const auto gives = [&](const char* key) { return scenario.contains(fmt::format("{}.{}", job, option_key(key))); };
  // A job with a kind of its own drops the options of the scenario's kind.
  if (gives("model.kind")) own.erase("model");
  if (gives("data.source")) own.erase("data");
  // The batch is given in one of two ways.
  if (writes(scenario, job + ".batch_size") || gives("training.batch_size"))
    own.erase(option_key("training.batch_size_per_worker"));
  if (gives("training.batch_size_per_worker")) own.erase(option_key("training.batch_size"));
  for (const std::string& table : own_tables()) own.lay_over(table, option_key(fmt::format("{}.{}", job, table)));
  own.lay_over(option_key("training.batch_size"), option_key(job + ".batch_size"));
  own.lay_over(option_key("stop.steps"), option_key(job + ".steps"));
  own.erase(option_key("job"));
  own.erase(option_key("expect"));
  own.erase(option_key("capacity"));
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
    own.places.workers = place(scenario, table + ".workers");
    if (own.training.numbers != all.training.numbers)
      found.add(scenario.position(fmt::format("{}.{}", table, option_key("training.numbers"))),
                fmt::format("job \"{}\" has numbers = {}, but the jobs of a scenario all have numbers or none; set "
                            "training.numbers for all of them",
                            job.name, own.training.numbers));
    check_recoveries(own, document, {}, found);
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
