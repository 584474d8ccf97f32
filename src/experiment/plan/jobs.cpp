#include "experiment/plan/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.h"
#include "experiment/plan/places.h"
#include "experiment/plan/settings.h"

namespace simgrad::experiment {

using base::Bounds;
using base::Choice;

namespace {

constexpr std::array placements{Choice{"packed", "on the next hosts that no job before it has"},
                                Choice{"spread", "on hosts as far apart as there are free ones"}};

bool says(const Written& table, std::string_view key) {
  return std::ranges::any_of(table, [&](const auto& pair) { return pair.first == key; });
}

std::vector<int> chosen(const JobEntry& job, std::size_t needed, const std::set<int>& free) {
  std::vector<int> hosts;
  if (!job.hosts.empty()) {
    for (const double host : job.hosts) hosts.push_back(static_cast<int>(host));
    return hosts;
  }
  const std::vector<int> all(free.begin(), free.end());
  const std::size_t stride = job.placement == Placement::packed ? 1 : all.size() / needed;
  for (std::size_t i = 0; i < needed; ++i) hosts.push_back(all[i * stride]);
  return hosts;
}

}  // namespace

std::optional<std::size_t> strategy_of(const Settings& settings, const std::string& name) {
  for (std::size_t i = 0; i < settings.strategies.size(); ++i)
    if (settings.strategies[i].strategy && settings.strategies[i].name() == name) return i;
  for (std::size_t i = 0; i < settings.strategies.size(); ++i)
    if (settings.strategies[i].strategy.kind() == name) return i;
  return {};
}

void JobEntry::describe(base::Describer& d) {
  d.text("name", name, "the name of its row in the results");
  d.text("strategy", strategy, "the label of a [[strategy]], else its kind");
  d.integer("workers", workers, "number of the cluster's hosts that train it; its servers are additional",
            Bounds::between(1, cluster::most_ranks));
  d.quantity("start", start_s, base::Unit::seconds, "when it starts; its time counts from then on",
             Bounds::at_least(0));
  d.choice("placement", placement, placements, "where its ranks are placed");
  d.numbers("hosts", hosts, "the numbers of its hosts instead: its workers', then its servers'; jobs may share some",
            Bounds::at_least(0));
  d.integer("batch_size", batch_size, "the job's own, instead of training.batch_size", Bounds::at_least(1));
  d.integer("steps", steps, "the job's own limit, instead of stop.steps", Bounds::at_least(1));
  d.pairs("data", data, "the job's own data: each key replaces that of [data]; `source` replaces the section");
  d.pairs("model", model, "the job's own model: each key replaces that of [model]; `kind` replaces the section");
  d.pairs("training", training, "the job's own training: each key replaces that of [training]");
  d.pairs("stop", stop, "the job's own rules: each replaces that of [stop]");
  for (const double host : hosts)
    if (host != std::floor(host))
      return d.refuse("hosts", fmt::format("{} is no host; expected whole numbers from 0 on", host));
  if (!hosts.empty() && d.given("placement"))
    d.refuse("placement", "\"placement\" and \"hosts\" both say where the job's ranks live; leave one of them out");
  if (batch_size && (says(training, "batch_size") || says(training, "batch_size_per_worker")))
    d.refuse("batch_size", "\"batch_size\" and the batch of [job.training] are both the job's; leave one of them out");
  if (steps && says(stop, "steps"))
    d.refuse("steps", "\"steps\" and the steps of [job.stop] are both the job's; leave one of them out");
}

void check_jobs(const Settings& settings, const scenario::Document& document, scenario::Faults& faults) {
  const cluster::Options& cluster = settings.cluster;
  if (settings.jobs.empty()) {
    if (cluster.sharing != cluster::Sharing::processor)
      faults.add(
          place(document, "cluster.sharing"),
          "sharing = \"gang\" is how several [[job]]s share hosts, but there is none; add jobs, or leave it out");
    return;
  }
  const auto refuse = [&](bool given, const char* key, const char* instead) {
    if (given)
      faults.add(place(document, std::string("cluster.") + key),
                 fmt::format("cluster.{} goes by ranks, of which every [[job]] has its own; {}", key, instead));
  };
  refuse(!cluster.relative_speeds.empty(), "relative_speeds", "give [[cluster.hosts]] their speeds");
  refuse(cluster.failures.any(), "failures", "leave one of them out");
  place_jobs(settings, &document, &faults);
}

std::vector<JobPlan> place_jobs(const Settings& settings, const scenario::Document* document,
                                scenario::Faults* faults) {
  std::vector<JobPlan> plans;
  std::set<int> free;
  for (int host = 0; host < static_cast<int>(settings.cluster.workers); ++host) free.insert(host);
  std::set<std::string> names;
  for (std::size_t j = 0; j < settings.jobs.size(); ++j) {
    const JobEntry& job = settings.jobs[j];
    const auto fault = [&](const char* key, const std::string& text) {
      if (!faults) return;
      faults->add(place(*document, fmt::format("job.{}.{}", j, key)), text);
    };
    if (job.name.empty()) fault("name", "a job needs a name");
    if (!names.insert(job.name).second)
      fault("name", fmt::format("two jobs are called \"{}\"; give each its own name", job.name));
    const auto strategy = strategy_of(settings, job.strategy);
    if (!strategy) {
      std::vector<std::string> known;
      for (const StrategyEntry& entry : settings.strategies) known.push_back(entry.name());
      fault("strategy", fmt::format("no [[strategy]] of the scenario is called \"{}\"{}", job.strategy,
                                    base::suggestion(job.strategy, known)));
      continue;
    }
    const std::vector<int> places = settings.strategies[*strategy].strategy->hosts(static_cast<int>(job.workers));
    const auto needed = static_cast<std::size_t>(1 + *std::ranges::max_element(places));
    if (!job.hosts.empty() && job.hosts.size() != needed) {
      fault("hosts", fmt::format("{} hosts, but {} worker{} and their servers live on {}", job.hosts.size(),
                                 job.workers, job.workers == 1 ? "" : "s", needed));
      continue;
    }
    if (job.hosts.empty() && needed > free.size()) {
      fault("workers",
            fmt::format("{} hosts for job \"{}\", servers included, but of the {} hosts (cluster.workers) only {} "
                        "have no job yet; give more workers to the cluster, or name `hosts` that jobs share",
                        needed, job.name, settings.cluster.workers, free.size()));
      continue;
    }
    const std::vector<int> hosts = chosen(job, needed, free);
    JobPlan plan{.job = j, .strategy = *strategy, .hosts = {}};
    for (const int place : places) plan.hosts.push_back(hosts[static_cast<std::size_t>(place)]);
    for (const int host : hosts) {
      if (host >= settings.cluster.workers)
        fault("hosts", fmt::format("host {}, but the cluster has hosts 0 to {}", host, settings.cluster.workers - 1));
      free.erase(host);
    }
    if (settings.cluster.sharing == cluster::Sharing::gang &&
        !settings.strategies[*strategy].strategy->traits(static_cast<int>(job.workers)).lockstep())
      fault("strategy",
            fmt::format("cluster.sharing = \"gang\" takes turns step by step, but \"{}\" has no steps that all "
                        "ranks make together; use a synchronous strategy, or sharing = \"processor\"",
                        job.strategy));
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace simgrad::experiment
