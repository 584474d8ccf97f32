/// results.json and the record of one run, written.
#include <fmt/format.h>

#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const record::Evaluation& evaluation) {
  return {{"step", evaluation.step},
          {"simulated_s", number_or_null(evaluation.simulated_s)},
          {"samples", evaluation.samples},
          {"loss", number_or_null(evaluation.loss)},
          {"metric", number_or_null(evaluation.metric)},
          {"consensus_distance", number_or_null(evaluation.consensus_distance)}};
}

Json json_of(const record::RankUse& rank, std::size_t index) {
  return {{"rank", index},
          {"role", rank.role},
          {"compute_s", number_or_null(rank.compute_s)},
          {"communicate_s", number_or_null(rank.communicate_s)},
          {"wait_s", number_or_null(rank.wait_s)},
          {"down_s", number_or_null(rank.down_s)},
          {"bytes_sent", rank.bytes_sent},
          {"bytes_received", rank.bytes_received},
          {"host_class", rank.host_class},
          {"host", rank.host}};
}

Json json_of(const record::LinkUse& link) {
  Json json = {{"link", link.link},
               {"bytes", link.bytes},
               {"utilisation", number_or_null(link.utilisation)},
               {"link_class", link.link_class}};
  if (link.background_bytes) json["background_bytes"] = *link.background_bytes;
  return json;
}

Json json_of(const record::LinkBin& bin) {
  return {{"link", bin.link},
          {"from_s", number_or_null(bin.from_s)},
          {"to_s", number_or_null(bin.to_s)},
          {"bytes", number_or_null(bin.bytes)},
          {"utilisation", number_or_null(bin.utilisation)}};
}

Json json_of(const record::Wire& wire) { return {{"link", wire.link}, {"from", wire.from}, {"to", wire.to}}; }

Json json_of(const record::CollectiveUse& use) {
  return {{"name", use.name},
          {"members", use.members},
          {"bytes", use.bytes},
          {"calls", use.calls},
          {"predicted_s", number_or_null(use.predicted_s)},
          {"simulated_s", number_or_null(use.simulated_s)},
          {"skew_s", number_or_null(use.skew_s)}};
}

Json json_of(const record::HostUse& host) {
  return {{"host_class", host.host_class},
          {"busy_s", number_or_null(host.busy_s)},
          {"down_s", number_or_null(host.down_s)},
          {"serves", host.serves},
          {"spot", host.spot},
          {"price_usd_per_h", number_or_null(host.price_usd_per_h)},
          {"idle_w", number_or_null(host.idle_w)},
          {"busy_w", number_or_null(host.busy_w)}};
}

template <class Item>
Json array_of(const std::vector<Item>& items) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(json_of(item));
  return array;
}

/// A run a line: two files can be compared line by line, and a run is found with grep.
std::string lines_of(const std::vector<Run>& runs) {
  std::string text;
  for (const Run& run : runs) text += (text.empty() ? "\n    " : ",\n    ") + compact(to_json(run));
  return runs.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace

Json to_json(const Run& run) {
  Json json = summary(run);
  if (run.interference) json["interference"] = number_or_null(run.interference);
  for (const auto& [name, value] : fields_of_some(run))
    if (value) json[name] = number_or_null(value);
  if (!run.record.staleness_counts.empty()) {
    Json& counts = json["staleness_counts"] = Json::array();
    for (const auto& [staleness, gradients] : run.record.staleness_counts) counts.push_back({staleness, gradients});
  }
  json["curve"] = array_of(run.record.curve);
  Json& ranks = json["ranks"] = Json::array();
  for (std::size_t r = 0; r < run.record.ranks.size(); ++r) ranks.push_back(json_of(run.record.ranks[r], r));
  json["hosts"] = array_of(run.record.hosts);
  json["stored_bytes"] = run.record.stored_bytes;
  json["links"] = array_of(run.record.links);
  if (!run.record.wires.empty()) json["wires"] = array_of(run.record.wires);
  if (!run.record.collectives.empty()) json["collectives"] = array_of(run.record.collectives);
  if (!run.record.link_bins.empty()) json["link_utilisation"] = array_of(run.record.link_bins);
  return json;
}

std::string results_json(const Results& results) {
  const Json scenario = results.scenario.is_null() ? Json::object() : results.scenario;
  std::string text = "{\n";
  text += fmt::format("  \"schema\": {},\n", schema);
  text += fmt::format("  \"version\": {},\n", compact(results.version));
  text += fmt::format("  \"name\": {},\n", compact(results.name));
  text += fmt::format("  \"title\": {},\n", compact(results.title));
  text += fmt::format("  \"complete\": {},\n", results.complete);
  if (!results.command.empty()) text += fmt::format("  \"command\": {},\n", compact(results.command));
  text += fmt::format("  \"scenario\": {},\n", compact(scenario));
  text += fmt::format("  \"runs\": {},\n", lines_of(results.runs));
  text += fmt::format("  \"baselines\": {}\n}}\n", lines_of(results.baselines));
  return text;
}

}  // namespace simgrad::outputs
