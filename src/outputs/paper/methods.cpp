#include "outputs/paper/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "outputs/comparison.h"
#include "outputs/pairs.h"
#include "outputs/report/data/conditions.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::paper {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

/// The resolved scenario by dotted keys; a key of the grid has its values' word instead of one value.
class Values {
 public:
  explicit Values(const Results& results) : scenario_(results.scenario), grid_(comparison(results).parameters) {}

  bool varied(const std::string& key) const {
    return std::ranges::any_of(grid_,
                               [&](const std::string& each) { return each == key || each.starts_with(key + "."); });
  }
  /// Returns the value of a key ("cluster.bandwidth"); of a table with a kind, the kind. Empty without one, and for
  /// "none".
  std::string operator()(const std::string& key) const {
    if (varied(key)) return "as the grid says";
    const Json* place = &scenario_;
    for (std::size_t from = 0; from <= key.size();) {
      const std::size_t dot = std::min(key.find('.', from), key.size());
      const std::string part = key.substr(from, dot - from);
      if (!place->is_object() || !place->contains(part)) return "";
      place = &(*place)[part];
      from = dot + 1;
    }
    if (place->is_object()) place = place->contains("kind") ? &(*place)["kind"] : nullptr;
    if (!place || place->is_structured() || place->is_null() || *place == "none") return "";
    return value_text(*place);
  }
  const Texts& grid() const { return grid_; }

 private:
  const Json& scenario_;
  Texts grid_;
};

/// Adds "bandwidth 1Gbps (of each network card, each direction)" if the key has a value.
void add_part(Texts& parts, const Values& value, const std::string& key, std::string_view text) {
  if (const std::string found = value(key); !found.empty()) parts.push_back(fmt::format(fmt::runtime(text), found));
}

/// Whether a grid point has the condition.
bool at_some_point(const Results& results, bool report::Conditions::*condition) {
  return std::ranges::any_of(comparison(results).rows, [&](const Row& row) {
    return report::conditions(results.scenario, row.parameters).*condition;
  });
}

std::string cluster_text(const Values& value, bool is_uneven) {
  Texts parts;
  add_part(parts, value, "cluster.workers", "number of workers {}");
  add_part(parts, value, "cluster.platform", "platform file {}");
  add_part(parts, value, "cluster.topology", "topology {}");
  if (value("cluster.topology.devices") != "1") add_part(parts, value, "cluster.topology.devices", "devices a host {}");
  add_part(parts, value, "cluster.device", "device {}");
  if (value("cluster.device").empty()) add_part(parts, value, "cluster.speed", "sustained speed of a worker {}");
  if (is_uneven) parts.emplace_back("hosts of unlike speeds (cluster.relative_speeds or cluster.hosts)");
  add_part(parts, value, "cluster.bandwidth", "bandwidth of a network card (each way) {}");
  add_part(parts, value, "cluster.latency", "latency (one way) {}");
  add_part(parts, value, "cluster.network_model", "network model {}");
  add_part(parts, value, "cluster.protocol", "protocol {}");
  add_part(parts, value, "cluster.stragglers", "stragglers {}");
  add_part(parts, value, "cluster.jitter", "jitter of latencies {}");
  return parts.empty() ? "" : fmt::format(" Cluster: {}.", fmt::join(parts, ", "));
}

std::string training_text(const Values& value) {
  Texts parts;
  add_part(parts, value, "model.kind", "model {}");
  add_part(parts, value, "model.preset", "preset {}");
  add_part(parts, value, "data.source", "data {}");
  add_part(parts, value, "data.samples", "samples {}");
  add_part(parts, value, "data.features", "features {}");
  add_part(parts, value, "training.optimizer", "optimizer {}");
  add_part(parts, value, "training.learning_rate", "learning rate {}");
  add_part(parts, value, "training.batch_size", "global batch size {}");
  add_part(parts, value, "training.batch_size_per_worker", "batch size of a worker {}");
  add_part(parts, value, "training.precision", "precision {}");
  return parts.empty() ? "" : fmt::format(" Training: {}.", fmt::join(parts, ", "));
}

std::string grid_text(const Results& results, const Values& value) {
  std::string text;
  for (const std::string& key : value.grid()) {
    Texts values;
    for (const Run& run : results.runs)
      if (const auto found = run.parameters.find(key); found != run.parameters.end())
        if (const std::string each = value_text(*found); std::ranges::find(values, each) == values.end())
          values.push_back(each);
    text += fmt::format("{}{} over {}", text.empty() ? " The grid varies " : "; ", key, listed(values, 12));
  }
  return text.empty() ? "" : text + ".";
}

std::string stop_text(const Results& results, const Values& value) {
  Texts parts;
  const auto stop = results.scenario.is_object() ? results.scenario.find("stop") : results.scenario.end();
  if (stop != results.scenario.end() && stop->is_object())
    for (const auto& [key, limit] : stop->items())
      if (const std::string text = value("stop." + key); !text.empty())
        parts.push_back(fmt::format("{} {}", key, text));
  return parts.empty() ? "" : fmt::format(" A run stops at the first of: {}.", fmt::join(parts, ", "));
}

std::string compared_text(const Results& results) {
  Texts labels;
  bool baselines = false;
  for (const Run& run : results.runs) {
    if (std::ranges::find(labels, run.label) == labels.end()) labels.push_back(run.label);
    baselines = baselines || run.speedup_throughput || run.speedup_time_to_target;
  }
  std::string text = fmt::format(" Strategies: {}.", listed(labels, 12));
  if (baselines) text += " Speed-ups are over one worker without a network, which processes the same batches.";
  return text;
}

std::string statistics_text(const Results& results) {
  std::set<std::uint64_t> seeds;
  for (const Run& run : results.runs) seeds.insert(run.seed);
  const std::string which = seeds_text(results);
  if (seeds.size() < 2) return fmt::format(" All numbers come from {}, so that their spread is unknown.", which);
  std::string text = fmt::format(
      " Numbers are means over {}. Their 95 % intervals are by Student's t, those of speed-ups by the delta method.",
      which);
  if (has_pairs(results))
    text += fmt::format(
        " Strategies of one seed see the same data and batches, and are compared seed by seed by paired t tests, whose "
        "p-values are corrected by Holm's method over all pairs of the strategies of a grid point (of its {} fastest).",
        most_in_pairs);
  return text;
}

std::string limits_text(const Results& results, const Values& value) {
  const auto none = [&](bool report::Conditions::*condition) { return !at_some_point(results, condition); };
  Texts limits = {"single packets and their loss", "caches and cores of processors", "the time of evaluations",
                  "network partitions"};
  if (none(&report::Conditions::stragglers) && none(&report::Conditions::uneven))
    limits.emplace_back("workers that take unlike times for the same work");
  if (none(&report::Conditions::failures)) limits.emplace_back("random failures of hosts and links");
  if (none(&report::Conditions::traffic)) limits.emplace_back("other traffic on the links");
  if (value("training.input.from") == "memory" || value("training.input") == "memory")
    limits.emplace_back("the time of reading the data (but that of a mapreduce)");
  std::string text = fmt::format(" Not modelled: {}.", fmt::join(limits, "; "));
  if (value("cluster.network_model") == "ideal")
    text += " A message takes the latency and its bytes over the bandwidth, which messages on one link share fairly.";
  if (value("training.numbers") == "false") text += " Only times and memory were simulated, and no loss was computed.";
  return text;
}

}  // namespace

std::string seeds_text(const Results& results) {
  std::set<std::uint64_t> all;
  for (const Run& run : results.runs) all.insert(run.seed);
  if (all.empty()) return "no seed";
  const std::uint64_t first = *all.begin(), last = *all.rbegin();
  if (all.size() == 1) return fmt::format("seed {}", first);
  if (last - first == all.size() - 1) return fmt::format("seeds {} to {}", first, last);
  constexpr std::size_t listed_most = 10;
  return all.size() <= listed_most ? fmt::format("seeds {}", fmt::join(all, ", "))
                                   : fmt::format("{} seeds from {} to {}", all.size(), first, last);
}

std::string target_text(const Results& results) {
  const std::optional<double> target = comparison(results).target;
  return target ? fmt::format("a loss of {} or less", *target) : "";
}

std::string methods(const Results& results) {
  const Values value(results);
  std::string text =
      fmt::format("Times were simulated by simgrad {} on the clock of SimGrid; no time was measured on such a cluster.",
                  results.version);
  text += cluster_text(value, at_some_point(results, &report::Conditions::uneven)) + training_text(value) +
          compared_text(results) + grid_text(results, value);
  text += stop_text(results, value) + statistics_text(results) + limits_text(results, value);
  if (!results.command.empty()) text += fmt::format(" The command \"{}\" repeats the results.", results.command);
  return printable(text);
}

}  // namespace simgrad::outputs::paper
