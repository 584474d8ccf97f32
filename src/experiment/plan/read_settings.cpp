#include "experiment/plan/read_settings.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "cluster/fabric/host_nics.h"
#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "experiment/checks/hosts_check.h"
#include "experiment/checks/names_check.h"
#include "experiment/checks/prices_check.h"
#include "experiment/checks/recoveries.h"
#include "experiment/checks/training_check.h"
#include "experiment/plan/automatic_layout.h"
#include "experiment/plan/job_training.h"
#include "experiment/plan/places.h"
#include "experiment/plan/rank_powers.h"
#include "experiment/plan/serving_section.h"
#include "models/profiles/operator_graph.h"
#include "strategies/hosts/hosts_first.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/parallel/tensor_outside.h"

namespace simgrad::experiment {

using scenario::Document;
using scenario::Faults;

namespace {

constexpr std::size_t jobs_most = 256;  ///< each is read as a scenario of its own

Settings::Places places_of(const Document& document) {
  return {.data = place(document, "data.source"),
          .size = place(document, {"data.samples", "data.features", "data.source"}),
          .test_fraction = place(document, "data.test_fraction"),
          .model = place(document, "model.kind"),
          .batch = place(document, {"training.batch_size_per_worker", "training.batch_size"}),
          .workers = place(document, "cluster.workers"),
          .partition = place(document, "training.partition"),
          .recovery = place(document, "cluster.failures.recovery"),
          .crashes = place(document, "cluster.failures.crash"),
          .checkpoint = place(document, "training.checkpoint_every"),
          .served_model = place(document, "serving.model"),
          .strategies = {},
          .parallel = {},
          .parallel_table = {}};
}

Settings::Places::Strategy place_of(const std::string& table, const Document& document) {
  Settings::Places::Strategy place{.table = document.position(table), .options = {}};
  for (auto& [key, position] : document.written(table))
    if (key != "kind" && key != "label") place.options.emplace(std::move(key), std::move(position));
  return place;
}

/// "tensor x pipeline x data = 2 x 4 x 8": of dimensions that the product is about.
std::string product_of(const strategies::Parallel& parallel) {
  std::string names = "tensor x pipeline", sizes = fmt::format("{} x {}", parallel.tensor, parallel.pipeline);
  const auto add = [&](const char* name, std::int64_t size) {
    names += fmt::format(" x {}", name);
    sizes += fmt::format(" x {}", size);
  };
  if (parallel.context > 1) add("context", parallel.context);
  if (parallel.expert > 1) add("expert", parallel.expert);
  if (parallel.data) add("data", *parallel.data);
  return fmt::format("{} = {}", names, sizes);
}

/// Strategies with hosts_first have as many workers as there are hosts.
void lay_on_hosts(Settings& settings, const Document& document, Faults& faults) {
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    StrategyEntry& entry = settings.strategies[i];
    entry.runs_as = nullptr;
    if (!entry.strategy || !entry.strategy->hosts_first) continue;
    const char* const beside = settings.parallel.cuts() ? "[parallel], whose ranks sum what they have in common by "
                                                          "themselves"
                               : !settings.jobs.empty() ? "[[job]]s, which share the devices of hosts"
                                                        : nullptr;
    if (beside)
      faults.add(document.position(fmt::format("strategy.{}.hosts_first", i)),
                 fmt::format("hosts_first = true makes one worker of the devices of a host, which is not simulated "
                             "together with {}; leave one of them out",
                             beside));
    else
      entry.runs_as = strategies::on_hosts(entry.strategy.shared(), settings.cluster);
  }
}

/// Refuses a mesh that is not as large as the workers; else the strategies work on it.
/// found: whether all that is searched for has been.
void lay_on_mesh(Settings& settings, const Document& document, Faults& faults, bool found) {
  const strategies::Parallel& parallel = settings.parallel;
  settings.places.parallel_table = document.position("parallel");
  for (auto& [key, position] : document.written("parallel")) settings.places.parallel.emplace(key, std::move(position));
  const bool serves = settings.serving.any();
  if (!serves) lay_on_hosts(settings, document, faults);
  if (!faults.empty() || (parallel.is_searched() && !found)) return;
  const std::int64_t replica = parallel.ranks_a_replica(), workers = settings.cluster.workers;
  if (parallel.by_stages()) {
    const int ranks = parallel.mesh(workers).ranks();
    if (ranks != workers)
      return faults.add(place(document, "parallel.stage_replicas"),
                        fmt::format("stage_replicas has {} ranks in all, but there are {} workers; expected "
                                    "cluster.workers = {}",
                                    ranks, workers, ranks));
  }
  const std::int64_t data = parallel.data.value_or(workers / replica);
  if (!parallel.by_stages() && (data * replica != workers || data < 1))
    return faults.add(place(document, parallel.data ? "parallel.data" : "cluster.workers"),
                      fmt::format("{} are {} ranks, but there are {} workers; expected {}", product_of(parallel),
                                  parallel.data ? data * replica : replica, workers,
                                  parallel.data ? fmt::format("cluster.workers = {}", data * replica)
                                                : fmt::format("a multiple of {} workers", replica)));
  if (parallel.cuts() && !settings.jobs.empty())
    return faults.add(settings.places.parallel_table,
                      "[parallel] cuts the model of a scenario with [[job]]s; leave one of them out");
  for (std::size_t i = 0; i < settings.strategies.size() && !settings.jobs.empty(); ++i)
    if (const auto& strategy = settings.strategies[i].strategy; strategy && strategy->traits(1).cuts)
      faults.add(
          document.position(fmt::format("strategy.{}", i)),
          fmt::format("strategy {} cuts the model of a scenario with [[job]]s; take another one", strategy.kind()));
  if (!parallel.cuts() || serves) return;
  if (parallel.tensor_shares == strategies::TensorShares::speed && !settings.cluster.platform.empty())
    return faults.add(place(document, "parallel.tensor_shares"),
                      "tensor_shares = \"speed\" sizes shares before a run, but the hosts of a platform are known in a "
                      "run alone; take a topology of [cluster], or tensor_shares = \"equal\"");
  const std::string warning = strategies::tensor_outside(parallel, settings.cluster);
  strategies::Parallel as_run = parallel;
  as_run.powers = rank_powers(settings);
  for (StrategyEntry& entry : settings.strategies)
    if (entry.strategy) entry.runs_as = strategies::on_mesh(entry.strategy.shared(), as_run, warning);
}

void check_strategies(Settings& settings, const Document& document, Faults& faults) {
  // A strategy that could not be read has a fault already; here its options have their defaults.
  const bool sound = faults.empty();
  if (settings.strategies.empty() && (sound || !document.contains("strategy")))
    faults.add(document.position("strategy"), "a scenario needs at least one [[strategy]]");
  std::set<std::string> labels;
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) {
    StrategyEntry& entry = settings.strategies[i];
    settings.places.strategies.push_back(place_of(fmt::format("strategy.{}", i), document));
    if (!entry.strategy || !(sound || entry.label)) continue;
    entry.known_name = entry.name();
    if (!labels.insert(entry.known_name).second)
      faults.add(document.position(fmt::format("strategy.{}", i)),
                 fmt::format("two strategies are labelled \"{}\"; give one of them a label of its own", entry.name()));
  }
}

/// Fills in defaults that depend on other options, so that the echo and the identity have them.
void fill_in(Settings& settings, const Document& document, Faults& faults) {
  if (settings.model.model->takes_sparse_rows() && settings.data.source->keeps_sparse() && settings.data.standardize) {
    if (writes(document, "data.standardize"))
      faults.add(place(document, "data.standardize"),
                 fmt::format(
                     "standardize = true would make numbers of the zeros that sparse rows leave out, and {} takes such "
                     "rows; leave standardize out",
                     settings.model.model.kind()));
    settings.data.standardize = false;
  }
  if (settings.task() == data::Task::text && !settings.own_problem()) {
    const std::int64_t sequence = settings.model.model->sequence();
    if (settings.data.features.value_or(sequence) != sequence)
      faults.add(place(document, "data.features"),
                 fmt::format("features = {}, but the tokens of a row of text are {}'s sequence, {}; leave features out",
                             *settings.data.features, settings.model.model.kind(), sequence));
    settings.data.features = sequence;
  }
  const bool generates = settings.data.source->generates() && !settings.data.source->mixture();
  if (settings.own_problem() || generates) settings.data.samples = settings.data.samples_made();
  if (generates && !settings.own_problem()) {
    settings.data.features = settings.data.features.value_or(settings.data.features_made());
  }
  if (!settings.evaluate.every_steps && !settings.evaluate.every_s) settings.evaluate.every_steps = 1;
}

/// Gives failing hosts a repair, unless the scenario sets one.
void repair_by_default(cluster::FailureOptions& failures, const Document& document) {
  if (failures.hosts && failures.hosts->happens() && !failures.hosts->repairs() &&
      !writes(document, "cluster.failures.repair"))
    failures.repair = base::Slot<cluster::Repair>(cluster::repairs(), "constant");
}

/// The kind of the first host's device.
std::string_view device_kind(const cluster::Options& cluster) {
  const cluster::HostClass* const host_class = class_of(cluster.host_classes, cluster.workers, 0);
  return host_class && host_class->device->there() ? host_class->device.kind() : cluster.device.kind();
}

/// Hosts have the NICs that the catalogue says for their devices.
template <class Kind>
void nics_by_device(cluster::Topology* topology, const cluster::Options& cluster) {
  if (auto* const host_topology = dynamic_cast<Kind*>(topology))
    host_topology->nics =
        cluster::nics_of_host(device_kind(cluster), host_topology->devices).value_or(host_topology->nics);
}

/// The links and NICs of devices are as the devices say, unless the scenario sets others.
void links_by_device(cluster::Options& cluster, const Document& document) {
  const cluster::Device* const device = cluster.device ? cluster.device_of(0) : nullptr;
  if (!device) return;
  if (device->nic_bytes_per_s && !writes(document, "cluster.bandwidth"))
    cluster.host_spec.bandwidth_bytes_per_s = *device->nic_bytes_per_s;
  auto* const topology = dynamic_cast<cluster::Topology*>(cluster.topology.object());
  const bool says =
      document.contains("cluster.topology.nvlink_bandwidth") || document.contains("cluster.topology.device_bandwidth");
  if (topology && device->nvlink_bytes_per_s && !says) topology->set_device_bandwidth(*device->nvlink_bytes_per_s);
  if (document.contains("cluster.topology.nics")) return;
  nics_by_device<cluster::GpuHosts>(topology, cluster);
  nics_by_device<cluster::Pod>(topology, cluster);
}

/// The tables of a TOML file of operators.
struct OperatorFile : base::Described {
  std::vector<models::GraphOperator> operators;

  void describe(base::Describer& d) override { d.list("operator", operators, "an operator each"); }
};

/// Reads the TOML file that a graph of operators names, and refuses what is no graph, at the operator at fault.
/// key: of the graph in the document.
void read_operators(base::Slot<models::Model>& model, const std::string& key, const Document& document,
                    Faults& faults) {
  auto* const graph = dynamic_cast<models::OperatorGraph*>(model.object());
  if (!graph) return;
  const auto refuse = [&](const Document& of, const std::string& list) {
    if (const auto& fault = graph->fault())
      faults.add(of.position(fmt::format("{}.{}.{}", list, fault->at, fault->in_its_inputs ? "inputs" : "name")),
                 fault->text);
  };
  if (graph->path.empty()) return refuse(document, key + ".operator");
  if (!graph->lacks_tables()) return;
  base::open_regular(graph->path);  // a pipe could not be read again at the next grid point
  const Document file = Document::read(graph->path);
  OperatorFile tables;
  Faults of_file;
  file.read_into(tables, of_file);
  if (of_file.empty() && tables.operators.empty())
    of_file.add(file.position(""), "no operator; expected [[operator]] tables");
  faults.add(of_file);
  graph->give_tables(std::move(tables.operators));
  if (of_file.empty()) refuse(file, "operator");
}

void read_operators(Settings& settings, const Document& document, Faults& faults) {
  read_operators(settings.model.model, "model", document, faults);
  read_operators(settings.model.timed_as, "model.timed_as", document, faults);
}

}  // namespace

Settings read_sections(const Document& document, Faults& faults) {
  Settings settings;
  with_stop(document).read_into(settings, faults);
  read_operators(settings, document, faults);
  repair_by_default(settings.cluster.failures, document);
  links_by_device(settings.cluster, document);
  settings.places = places_of(document);
  take_serving(settings, document, faults);
  check_strategies(settings, document, faults);
  lay_on_mesh(settings, document, faults, false);
  return settings;
}

Settings SectionReader::read(const Document& document, Faults& faults) {
  Settings settings;
  std::vector<std::string> known;
  const auto keep = [&](const char* key, auto Settings::*section) {
    if (!document_ || !document.shares(*document_, key)) return false;
    settings.*section = last_.*section;
    known.emplace_back(key);
    return true;
  };
  keep("cluster", &Settings::cluster);
  keep("data", &Settings::data);
  keep("model", &Settings::model);
  keep("training", &Settings::training);
  keep("parallel", &Settings::parallel);
  keep("stop", &Settings::stop);
  keep("evaluate", &Settings::evaluate);
  keep("prices", &Settings::prices);
  keep("plan", &Settings::goal);
  keep("job", &Settings::jobs);
  keep("expect", &Settings::expectations);
  const bool same_strategies = !document.contains("serving") && keep("strategy", &Settings::strategies);
  with_stop(document).read_into(settings, faults, known);
  read_operators(settings, document, faults);
  repair_by_default(settings.cluster.failures, document);
  links_by_device(settings.cluster, document);
  settings.places = places_of(document);
  take_serving(settings, document, faults);
  if (same_strategies)
    settings.places.strategies = last_.places.strategies;
  else
    check_strategies(settings, document, faults);
  lay_on_mesh(settings, document, faults, false);
  document_.reset();
  if (faults.empty()) {  // those of a section that is not read again would be lost
    document_ = document;
    last_ = settings;
  }
  return settings;
}

void check_training(Settings& settings, const Document& document, Faults& faults) {
  check_numbers(settings, document, faults);
  if (!faults.empty()) return;
  fill_in(settings, document, faults);
  check_fitness(settings, document, faults);
}

Settings read_settings(const Document& document, Faults& faults, const std::vector<std::string>& names,
                       SectionReader* reader, bool advises) {
  Settings settings = reader ? reader->read(document, faults) : read_sections(document, faults);
  settings.advises = advises;
  const bool one_training = settings.jobs.empty();  // else each job is checked as a training, and the scenario is not
  Faults of_jobs;
  if (settings.jobs.size() > jobs_most)
    faults.add(document.position(fmt::format("job.{}", jobs_most)),
               fmt::format("{} jobs are too many; expected at most {}", settings.jobs.size(), jobs_most));
  else if (!one_training)
    settings.trainings = read_trainings(settings, document, of_jobs);
  if (one_training && settings.model.model) check_numbers(settings, document, faults);
  if (faults.empty()) {
    check_recoveries(settings, document, names, faults);
    check_spares(settings, document, names, faults);
    check_crashes(settings, faults);
    check_hosts(settings, document, faults);
    KnownNames known_names(settings);
    check_names(settings, known_names, names, document, faults);
    check_prices(settings, known_names, document, faults);
    check_jobs(settings, document, faults);
    check_capacity(settings.capacity, document, faults);
    fill_in(settings, document, faults);
    const auto check_layout = [&](Settings& tried_settings) {
      Faults found;
      lay_on_mesh(tried_settings, document, found, true);
      if (found.empty()) check_fitness(tried_settings, document, found);
      return found;
    };
    const bool searched = settings.parallel.is_searched();
    if (searched && faults.empty()) choose_layout(settings, document, check_layout, faults);
    if (settings.serving.any() && faults.empty())
      check_serving(settings, document, faults);
    else if (!searched && one_training)
      check_fitness(settings, document, faults);
  }
  faults.add(of_jobs);
  return settings;
}

}  // namespace simgrad::experiment
