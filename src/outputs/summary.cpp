#include "outputs/summary.h"

#include <cmath>

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

Json object_or_empty(const Json& json) { return json.is_null() ? Json::object() : json; }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

Json number_or_null(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(); }

std::string compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::optional<std::array<double, 4>> time_parts(const record::Record& record) {
  // From the first worker on, so that the mean of equal numbers is that number, to the last bit.
  std::optional<std::array<double, 4>> first;
  std::array<double, 4> excess{};
  double workers = 0.0;
  for (const auto& rank : record.ranks) {
    if (rank.role != "worker") continue;
    const std::array<double, 4> parts = {rank.compute_s, rank.communicate_s, rank.wait_s, rank.down_s};
    if (!first) first = parts;
    for (std::size_t k = 0; k < parts.size(); ++k) excess[k] += parts[k] - (*first)[k];
    workers += 1.0;
  }
  if (!first) return std::nullopt;
  for (std::size_t k = 0; k < excess.size(); ++k) (*first)[k] += excess[k] / workers;
  return first;
}

std::optional<double> final_metric(const record::Record& record) {
  return record.curve.empty() ? std::nullopt : record.curve.back().metric;
}

std::vector<std::pair<std::string, std::optional<double>>> fields_of_some(const Run& run) {
  return {{"server_imbalance", run.record.server_imbalance}, {"cache_hit_rate", run.record.cache_hit_rate}};
}

Json summary(const Run& run) {
  const record::Record& record = run.record;
  const bool failed = record.status == record::Status::failed;
  const auto parts = time_parts(record);
  const auto part = [&](std::size_t k) { return parts ? number_or_null((*parts)[k]) : Json(); };

  Json json = Json::object();
  json["id"] = run.id;
  json["strategy"] = run.strategy;
  json["label"] = run.label;
  json["options"] = object_or_empty(run.options);
  json["parameters"] = object_or_empty(run.parameters);
  json["seed"] = run.seed;
  json["status"] = record::name(record.status);
  json["simulated_s"] = number_or_null(record.simulated_s);
  json["steps"] = record.steps;
  json["samples"] = record.samples;
  json["epochs"] = number_or_null(record.epochs);
  json["final_loss"] = number_or_null(record.final_loss);
  json["time_to_target_s"] = number_or_null(record.time_to_target_s);
  json["speedup_throughput"] = number_or_null(run.speedup_throughput);
  json["speedup_time_to_target"] = number_or_null(run.speedup_time_to_target);
  json["efficiency"] = number_or_null(run.efficiency);
  json["compute_s"] = part(0);
  json["communicate_s"] = part(1);
  json["wait_s"] = part(2);
  json["down_s"] = part(3);
  json["bytes"] = record.bytes;
  json["messages"] = record.messages;
  json["staleness_mean"] = number_or_null(record.staleness_mean);
  json["staleness_max"] = number_or_null(record.staleness_max);
  json["cost_usd"] = number_or_null(run.bill.cost_usd);
  json["energy_j"] = number_or_null(run.bill.energy_j);
  json["wall_s"] = number_or_null(run.wall_s);
  json["error"] = failed ? Json(record.error) : Json();
  json["workers"] = run.workers;
  json["metric_name"] = text_or_null(record.metric_name);
  json["final_metric"] = number_or_null(final_metric(record));
  json["consensus_distance"] = record.curve.empty() ? Json() : number_or_null(record.curve.back().consensus_distance);
  json["spectral_gap"] = number_or_null(record.spectral_gap);
  json["crashes"] = record.crashes ? Json(*record.crashes) : Json();
  json["lost_s"] = number_or_null(record.lost_s);
  json["recovery_s"] = number_or_null(record.recovery_s);
  json["checkpoint_s"] = number_or_null(record.checkpoint_s);
  json["goodput"] = number_or_null(record.goodput);
  json["network_model"] = text_or_null(record.network_model);
  for (const auto& [name, field] : Bill::fields())
    if (!json.contains(name)) json[std::string(name)] = number_or_null(run.bill.*field);
  json["notes"] = record.notes;
  return json;
}

}  // namespace simgrad::outputs
