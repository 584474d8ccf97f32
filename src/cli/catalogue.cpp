#include "cli/catalogue.h"

#include <deque>

#include "cluster/collective_ways.h"
#include "cluster/options.h"
#include "collectives/allreduce.h"
#include "collectives/broadcast.h"
#include "collectives/operations.h"
#include "data/source.h"
#include "experiment/plan/settings.h"
#include "models/model.h"
#include "strategies/gossip/mixing/matrix.h"
#include "strategies/mapreduce/storage.h"
#include "strategies/parallel/parallel.h"
#include "strategies/reductions/reduction.h"
#include "strategies/strategy.h"
#include "training/compressors/compressor.h"
#include "training/options.h"

namespace simgrad::cli {

namespace {

template <class Base>
Kind kind(std::string name, std::string one, std::string where, const base::Registry<Base>& registry) {
  Kind made{std::move(name), std::move(one), std::move(where), {}};
  for (const auto& entry : registry.entries()) made.items.push_back({entry.about, entry.make});
  return made;
}

template <class Section>
Item section(std::string_view name, std::string_view summary) {
  return {{.kind = name, .summary = summary, .cost = "", .source = ""}, [] { return std::make_unique<Section>(); }};
}

/// The collectives: first those whose algorithm an option of a strategy chooses, then those with one algorithm each.
Kind collectives_kind() {
  Kind made{"collectives", "collective", "[[strategy]] algorithm, broadcast", {}};
  static std::deque<std::string> summaries;
  const auto add = [&](std::string_view operation, const auto& registry, const char* where) {
    for (const auto& entry : registry.entries()) {
      base::About about = entry.about;
      about.summary = summaries.emplace_back(std::string(operation) + ": " + std::string(about.summary));
      made.items.push_back({about, entry.make, where});
    }
  };
  add("allreduce", collectives::allreduces(), "[[strategy]] algorithm");
  add("broadcast", collectives::broadcasts(), "[[strategy]] broadcast (mapreduce)");
  for (const base::About& about : collectives::operations())
    made.items.push_back({about, nullptr, "used by strategies, not chosen in a scenario"});
  return made;
}

std::vector<Kind> everything() {
  std::vector<Kind> all;
  all.push_back(kind("strategies", "strategy", "[[strategy]] kind", strategies::registry()));
  all.push_back(collectives_kind());
  all.push_back(kind("models", "model", "[model] kind", models::registry()));
  all.push_back(kind("objectives", "objective", "plan.objective", experiment::objectives()));
  all.push_back(kind("data", "data", "[data] source", data::sources()));
  all.push_back(kind("topologies", "topology", "cluster.topology", cluster::topologies()));
  all.push_back(kind("devices", "device", "cluster.device, [[cluster.hosts]] device", cluster::devices()));
  all.push_back(kind("stragglers", "straggler", "cluster.stragglers", cluster::stragglers()));
  all.push_back(kind("faulty_workers", "faulty_worker", "cluster.faulty", cluster::faulty_workers()));
  all.push_back(kind("jitters", "jitter", "cluster.jitter", cluster::jitters()));
  all.push_back(kind("protocols", "protocol", "cluster.protocol", cluster::protocols()));
  all.push_back(
      kind("failure_processes", "failure_process", "cluster.failures.hosts, links", cluster::failure_processes()));
  all.push_back(kind("repairs", "repair", "cluster.failures.repair, link_repair", cluster::repairs()));
  all.push_back({"network_models", "network_model", "cluster.network_model", {}});
  for (const base::Choice& choice : cluster::network_model_choices())
    all.back().items.push_back({{.kind = choice.name, .summary = choice.meaning, .cost = "", .source = ""}, nullptr});
  all.push_back({"collective_ways", "collective_way", "cluster.collectives", {}});
  for (const base::About& about : cluster::collective_ways())
    all.back().items.push_back({about, [] { return cluster::collective_way_options(); }});
  all.push_back(kind("optimizers", "optimizer", "training.optimizer", training::optimizers()));
  all.push_back(kind("schedules", "schedule", "training.schedule", training::learning_rate_schedules()));
  all.push_back(kind("pipeline_schedules", "pipeline_schedule", "parallel.schedule", strategies::pipeline_schedules()));
  all.push_back(kind("compressors", "compressor", "compression of a [[strategy]]", training::compressors()));
  all.push_back(kind("partitions", "partition", "training.partition", training::partitions()));
  all.push_back(kind("graphs", "graph", "graph of strategies that gossip", strategies::graphs()));
  all.push_back(kind("mixings", "mixing", "mixing of strategies that gossip", strategies::mixings()));
  all.push_back(kind("reductions", "reduction", "reduce of strategies with servers", strategies::reductions()));
  all.push_back(kind("storages", "storage", "storage of the strategy mapreduce", strategies::storages()));
  all.push_back({"sections", "section", "a section of a scenario", {}});
  all.back().items = {
      section<experiment::Settings>("scenario", "the file"),
      section<cluster::Options>("cluster", "hosts, links, the network model, stragglers and failures"),
      section<cluster::FailureOptions>("failures", "hosts that crash, and how the training recovers"),
      section<cluster::Watchdog>("watchdog", "limits after which a run is given up"),
      section<data::Options>("data", "the samples"),
      section<training::Options>("training", "batches, optimizer, partition, checkpoints"),
      section<strategies::Parallel>("parallel", "how the model is cut among ranks"),
      section<training::InputOptions>("input", "the storage from which batches are read"),
      section<outputs::Prices>("prices", "the prices of hosts, bytes and energy"),
      section<experiment::Goal>("plan", "the goal, the limits and the search space of `simgrad plan`"),
      section<experiment::CapacitySection>("capacity",
                                           "a fleet of servers over a long time, for `simgrad capacity`; failures, "
                                           "checkpoints and spares for `simgrad plan`"),
      section<training::StopOptions>("stop", "the rules that end the training"),
      section<training::EvaluateOptions>("evaluate", "the times and data of the loss's evaluation"),
      {{.kind = "grid",
        .summary = "keys with lists of values, all of which are run: cluster.workers = [1, 2, 4], or "
                   "\"range(1,8)\", \"logspace(10us,10ms,4)\"; several keys give their product, and the "
                   "lists of a [[grid.zip]] vary together",
        .cost = "",
        .source = ""},
       nullptr},
      section<experiment::Expectation>("expect", "the expectations that `simgrad check` tests")};
  return all;
}

}  // namespace

const std::vector<Kind>& catalogue() {
  static const std::vector<Kind> all = everything();
  return all;
}

}  // namespace simgrad::cli
