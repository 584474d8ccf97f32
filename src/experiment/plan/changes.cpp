#include "experiment/plan/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiment/plan/changed_options.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/numbers_key.h"
#include "experiment/plan/proxy.h"
#include "experiment/plan/read_settings.h"
#include "scenario/json.h"

namespace simgrad::experiment {

using base::Unit;
using nlohmann::ordered_json;

namespace {

/// The index of the run's strategy among the scenario's.
std::size_t index_of(const RunPlan& run) {
  const auto& entries = run.settings->strategies;
  const auto same = [&](const StrategyEntry& entry) { return entry.name() == run.label; };
  return static_cast<std::size_t>(std::ranges::find_if(entries, same) - entries.begin());
}

/// Improvements of the cluster's options.
class OfCluster {
 public:
  OfCluster(const RunPlan& run, std::vector<Improvement>& all)
      : options_(run.settings->cluster),
        echo_(scenario::echo(options_)),
        servers_(run.settings->hosts_needed() - options_.workers),
        own_servers_(run.settings->strategies[index_of(run)].hosts(options_.workers) > options_.workers),
        all_(all) {}

  void add_all() {
    if (options_.platform.empty()) add_links();
    add_workers();
    if (options_.platform.empty() && own_servers_ && !options_.device_of(0)) add_servers();
    disturbances();
  }

 private:
  ChangedOptions changed() const { return {echo_, "cluster"}; }
  void add(const char* name, const ChangedOptions& changed) {
    if (!changed.sets().empty()) all_.push_back({name, changed.sets()});
  }

  void add_links() {
    const auto twice = scaled(Unit::bytes_per_second, 2.0);
    add("bandwidth", changed().option("bandwidth", twice).option("topology", twice).option("flow_limit", twice));
    const auto half = scaled(Unit::seconds, 0.5);
    add("latency", changed().option("latency", half).option("topology", half));
  }

  void add_workers() {
    if (!options_.platform.empty() || options_.device_of(0)) {
      std::vector<double> speeds = options_.relative_speeds;
      speeds.resize(static_cast<std::size_t>(options_.workers), 1.0);
      for (double& speed : speeds) speed *= 2.0;
      return add("worker_speed", changed().put("relative_speeds", speeds));
    }
    // Hosts of servers that have the cluster's speed keep it.
    add("worker_speed", changed()
                            .option("speed", scaled(Unit::flops_per_second, 2.0))
                            .put("hosts", classes_with("worker", 2.0, "server", 1.0)));
  }

  void add_servers() { add("server_speed", changed().put("hosts", classes_with("server", 2.0, "server", 2.0))); }

  /// The classes of hosts, those of one role with their speeds multiplied; hosts of servers that are in no class, or in
  /// one without a speed, get a multiple of the cluster's speed.
  ordered_json classes_with(const char* role, double factor, const char* plain_role, double plain_factor) const {
    ordered_json classes = echo_.contains("hosts") ? echo_.at("hosts") : ordered_json::array();
    const std::string plain =
        base::format_quantity(plain_factor * options_.host_spec.speed_flops_per_s, Unit::flops_per_second);
    std::int64_t left = servers_;
    for (ordered_json& each : classes) {
      if (each.at("role") == "server") left -= each.at("count").get<std::int64_t>();
      if (each.contains("speed") && each.at("role") == role)
        scale(each["speed"], Unit::flops_per_second, factor);
      else if (!each.contains("speed") && each.at("role") == plain_role)
        each["speed"] = plain;
    }
    if (left > 0)
      classes.push_back({{"class", "other servers"}, {"count", left}, {"role", "server"}, {"speed", plain}});
    return classes;
  }

  void disturbances() {
    add("stragglers", changed().put("stragglers", "none"));
    const auto slow = [](double speed) { return speed < 1.0; };
    if (std::ranges::any_of(options_.relative_speeds, slow)) {
      std::vector<double> speeds = options_.relative_speeds;
      std::ranges::replace_if(speeds, slow, 1.0);
      add("slow_workers", changed().put("relative_speeds", speeds));
    }
    add("slow_links", changed().put("slow_links", ordered_json::array()));
    add("background", changed().put("background", ordered_json::array()));
    add("jitter", changed().put("jitter", "none"));
  }

  const cluster::Options& options_;
  ordered_json echo_;
  std::int64_t servers_;  ///< hosts of servers, of the strategy that has most
  bool own_servers_;
  std::vector<Improvement>& all_;
};

/// Twice the bandwidth of everything that is read from, or written to.
void add_storage(const RunPlan& run, std::vector<Improvement>& all) {
  const auto twice = scaled(Unit::bytes_per_second, 2.0);
  Improvement storage{"storage", {}};
  const auto add = [&](const ordered_json& options, const std::string& table, const char* key) {
    const std::vector<std::string> sets = ChangedOptions(options, table).option(key, twice).sets();
    storage.sets.insert(storage.sets.end(), sets.begin(), sets.end());
  };
  if (run.settings->training.checkpoints()) add(scenario::echo(run.settings->cluster), "cluster", "storage_bandwidth");
  add(scenario::echo(run.settings->training), "training", "input");
  add(run.options, fmt::format("strategy.{}", index_of(run)), "storage");
  if (!storage.sets.empty()) all.push_back(std::move(storage));
}

/// The fastest allreduce for each sum, in place of one that the scenario names.
void add_algorithm(const RunPlan& run, std::vector<Improvement>& all) {
  const auto algorithm = run.options.find("algorithm");
  if (algorithm == run.options.end()) return;
  const ordered_json& kind = algorithm->is_object() ? algorithm->at("kind") : *algorithm;
  if (kind != "auto") all.push_back({"algorithm", {fmt::format("strategy.{}.algorithm=auto", index_of(run))}});
}

/// Other meshes of a cut model, whose losses are the same.
void add_mesh(const RunPlan& run, std::vector<Improvement>& all) {
  const strategies::Parallel& parallel = run.settings->parallel;
  if (!parallel.cuts()) return;
  const auto add = [&](const char* name, std::string set) { all.push_back({name, {std::move(set)}}); };
  if (parallel.pipeline > 1)
    add("micro_batches", fmt::format("parallel.micro_batches={}", 2 * parallel.micro_batch_count()));
  const bool plain = parallel.chunks == 1 && !parallel.schedule->asynchronous();
  if (parallel.pipeline > 1 && plain && !parallel.schedule->splits_backward())
    add("schedule", "parallel.schedule=zb_h1");
  if (parallel.tensor > 1 && parallel.order.front() != "tensor") {
    std::vector<std::string> order = parallel.order;
    std::ranges::stable_partition(order, [](const std::string& dimension) { return dimension == "tensor"; });
    add("tensor_place", fmt::format("parallel.order={}", ordered_json(order).dump()));
  }
  if (run.settings->training.recompute != training::Recompute::none) add("recompute", "training.recompute=none");
}

}  // namespace

std::vector<Improvement> improvements(const RunPlan& run) {
  std::vector<Improvement> all;
  // Crashes come at their own times: any other change that shortens the run also escapes from some of them.
  if (run.settings->cluster.failures.any()) return {{"failures", {"cluster.failures={}"}}};
  OfCluster(run, all).add_all();
  add_storage(run, all);
  add_algorithm(run, all);
  add_mesh(run, all);
  return all;
}

std::optional<RunPlan> varied(const Plan& plan, const RunPlan& run, const std::vector<std::string>& sets) {
  scenario::Document document = *plan.document;
  for (const auto& [key, value] : run.parameters.items())
    document.set(key, scenario::Value{scenario::inline_toml(value), {plan.document->file(), 1, 1}});  // for paths
  for (const std::string& set : sets) document.set(set);
  document.erase("stop.loss");
  scenario::Document without_numbers = document;
  without_numbers.set("training.numbers=false");
  // The cost of a sparse step depends on the keys in its rows.
  const bool needs_numbers = run.settings->model.model->takes_sparse_rows() || times_follow_numbers(run);
  for (const scenario::Document* each : {&without_numbers, &document}) {
    if (needs_numbers && each == &without_numbers) continue;
    scenario::Faults faults;
    auto settings = std::make_shared<Settings>(read_settings(*each, faults));
    if (!faults.empty()) continue;
    settings->nominal_flops_per_s = run.settings->nominal_flops_per_s;
    settings->data_contents = run.settings->data_contents;
    settings->platform_contents = run.settings->platform_contents;
    const RunPlan changed = plan_run(settings, index_of(run), run.parameters, run.seed);
    if (!settings->model.proxied()) return changed;
    const auto rows = known_rows(*settings);
    return rows ? std::optional(timed_plan(changed, *rows, {})) : std::nullopt;
  }
  return {};
}

}  // namespace simgrad::experiment
