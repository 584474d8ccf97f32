#include "experiment/plan/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/units.h"
#include "experiment/plan/identity.h"
#include "experiment/plan/read_settings.h"
#include "scenario/json.h"

namespace simgrad::experiment {

using base::Unit;
using nlohmann::ordered_json;

namespace {

/// Multiplies every quantity of the unit in a tree of options.
void scale(ordered_json& tree, Unit unit, double factor) {
  if (tree.is_structured()) {
    for (ordered_json& each : tree) scale(each, unit, factor);
  } else if (tree.is_string()) {
    try {
      tree = base::format_quantity(factor * base::parse_quantity(tree.get<std::string>(), unit), unit);
    } catch (const std::invalid_argument&) {
      return;  // a text, or a quantity of another unit
    }
  }
}

/// Collects the options whose values differ from the scenario's.
class Changed {
 public:
  Changed(const ordered_json& scenario, std::string table, std::string name)
      : scenario_(scenario), table_(std::move(table)), improvement_{std::move(name), {}} {}

  /// Gives the option the value that `change` makes of its present one; an option that is not there is left alone.
  template <class Change>
  Changed& option(const char* key, Change change) {
    const auto found = scenario_.find(key);
    if (found == scenario_.end()) return *this;
    ordered_json value = *found;
    change(value);
    return put(key, value);
  }
  Changed& put(const char* key, const ordered_json& value) {
    const auto found = scenario_.find(key);
    if (found == scenario_.end() ? !value.empty() : *found != value)
      improvement_.sets.push_back(fmt::format("{}.{}={}", table_, key, scenario::inline_toml(value)));
    return *this;
  }
  void add_to(std::vector<Improvement>& all) {
    if (!improvement_.sets.empty()) all.push_back(std::move(improvement_));
  }

 private:
  const ordered_json& scenario_;
  std::string table_;
  Improvement improvement_;
};

auto scaled(Unit unit, double factor) {
  return [=](ordered_json& value) { scale(value, unit, factor); };
}

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

  void add() {
    if (options_.platform.empty()) add_links();
    add_workers();
    if (options_.platform.empty() && own_servers_) add_servers();
    disturbances();
  }

 private:
  Changed changed(const char* name) const { return {echo_, "cluster", name}; }

  void add_links() {
    changed("bandwidth")
        .option("bandwidth", scaled(Unit::bytes_per_second, 2.0))
        .option("topology", scaled(Unit::bytes_per_second, 2.0))
        .option("flow_limit", scaled(Unit::bytes_per_second, 2.0))
        .add_to(all_);
    changed("latency")
        .option("latency", scaled(Unit::seconds, 0.5))
        .option("topology", scaled(Unit::seconds, 0.5))
        .add_to(all_);
  }

  void add_workers() {
    if (!options_.platform.empty() || options_.device_of(0)) {
      std::vector<double> speeds = options_.relative_speeds;
      speeds.resize(static_cast<std::size_t>(options_.workers), 1.0);
      for (double& speed : speeds) speed *= 2.0;
      return changed("worker_speed").put("relative_speeds", speeds).add_to(all_);
    }
    // Hosts of servers that have the cluster's speed keep it.
    changed("worker_speed")
        .option("speed", scaled(Unit::flops_per_second, 2.0))
        .put("hosts", classes_with("worker", 2.0, "server", 1.0))
        .add_to(all_);
  }

  void add_servers() { changed("server_speed").put("hosts", classes_with("server", 2.0, "server", 2.0)).add_to(all_); }

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
    changed("stragglers").put("stragglers", "none").add_to(all_);
    const auto slow = [](double speed) { return speed < 1.0; };
    if (std::ranges::any_of(options_.relative_speeds, slow)) {
      std::vector<double> speeds = options_.relative_speeds;
      std::ranges::replace_if(speeds, slow, 1.0);
      changed("slow_workers").put("relative_speeds", speeds).add_to(all_);
    }
    changed("slow_links").put("slow_links", ordered_json::array()).add_to(all_);
    changed("background").put("background", ordered_json::array()).add_to(all_);
    changed("jitter").put("jitter", "none").add_to(all_);
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
    std::vector<Improvement> one;
    Changed(options, table, "storage").option(key, twice).add_to(one);
    for (const Improvement& each : one) storage.sets.insert(storage.sets.end(), each.sets.begin(), each.sets.end());
  };
  if (run.settings->training.checkpoints()) add(scenario::echo(run.settings->cluster), "cluster", "storage_bandwidth");
  add(scenario::echo(run.settings->training), "training", "input");
  add(run.options, fmt::format("strategy.{}", index_of(run)), "storage");
  if (!storage.sets.empty()) all.push_back(std::move(storage));
}

}  // namespace

std::vector<Improvement> improvements(const RunPlan& run) {
  std::vector<Improvement> all;
  // Crashes come at their own times: any other change that shortens the run also escapes from some of them.
  if (run.settings->cluster.failures.any()) return {{"failures", {"cluster.failures={}"}}};
  OfCluster(run, all).add();
  add_storage(run, all);
  return all;
}

std::optional<RunPlan> varied(const Plan& plan, const RunPlan& run, const std::vector<std::string>& sets) {
  scenario::Document document = *plan.document;
  for (const auto& [key, value] : run.parameters.items())
    document.set(key, scenario::Value{scenario::inline_toml(value), {}});
  for (const std::string& set : sets) document.set(set);
  document.erase("stop.loss");
  scenario::Document without_numbers = document;
  without_numbers.set("training.numbers=false");
  // What a sparse step costs depends on the keys in its rows.
  const bool needs_numbers = run.settings->model.model->takes_sparse_rows();
  for (const scenario::Document* each : {&without_numbers, &document}) {
    if (needs_numbers && each == &without_numbers) continue;
    scenario::Faults faults;
    auto settings = std::make_shared<Settings>(read_settings(*each, faults));
    if (!faults.empty()) continue;
    settings->nominal_flops_per_s = run.settings->nominal_flops_per_s;
    settings->data_contents = run.settings->data_contents;
    settings->platform_contents = run.settings->platform_contents;
    return plan_run(settings, index_of(run), run.parameters, run.seed);
  }
  return {};
}

}  // namespace simgrad::experiment
