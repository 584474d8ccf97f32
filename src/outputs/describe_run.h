/// The fields of a run, each named once and in the order of the contract: results.json, a run's record, the columns of
/// runs.csv and the metrics of [[expect]] are visitors of this description. A run's lists: record/describe.h.
///
/// Beside value(), a visitor of a run has grid_point(), for the table of the grid's keys; text_or_null(), for a text
/// that is null where it is empty; computed(), for a number that follows from other fields, so that nothing reads it;
/// counts(), for pairs of integers; and items(), for a list of described items.
#pragma once

#include <optional>

#include "outputs/summary.h"
#include "record/describe.h"

namespace simgrad::outputs {

/// The two sums of the bill stand among the run's first fields, their parts further back.
template <record::Maybe<Bill> Given, class Visitor>
void describe(Given& bill, Visitor& v, bool sums) {
  for (const auto& [name, field] : Bill::fields())
    if ((name == "cost_usd" || name == "energy_j") == sums) v.value(name, bill.*field, record::Presence::newer);
}

template <record::Maybe<record::Throughput> Given, class Visitor>
void describe(Given& throughput, Visitor& v) {
  using enum record::Presence;
  v.value("tokens", throughput.tokens, some);
  v.value("samples_per_s", throughput.samples_per_s, some);
  v.value("samples_per_s_per_device", throughput.samples_per_s_per_device, some);
  v.value("tokens_per_s", throughput.tokens_per_s, some);
  v.value("tokens_per_s_per_device", throughput.tokens_per_s_per_device, some);
  v.value("mfu", throughput.mfu, some);
  v.value("hfu", throughput.hfu, some);
  v.value("days_per_trillion_tokens", throughput.days_per_trillion_tokens, some);
  v.value("dollars_per_trillion_tokens", throughput.dollars_per_trillion_tokens, some);
  v.value("kwh_per_trillion_tokens", throughput.kwh_per_trillion_tokens, some);
}

template <record::Maybe<record::Serving> Given, class Visitor>
void describe(Given& serving, Visitor& v) {
  using enum record::Presence;
  v.value("requests", serving.requests, some);
  v.value("requests_per_s", serving.requests_per_s, some);
  v.value("output_tokens", serving.output_tokens, some);
  v.value("prompt_tokens", serving.prompt_tokens, some);
  v.value("output_tokens_per_s", serving.output_tokens_per_s, some);
  v.value("ttft_s_mean", serving.ttft_s.mean, some);
  v.value("ttft_s_median", serving.ttft_s.median, some);
  v.value("ttft_s_p95", serving.ttft_s.p95, some);
  v.value("ttft_s_p99", serving.ttft_s.p99, some);
  v.value("tpot_s_mean", serving.tpot_s.mean, some);
  v.value("tpot_s_median", serving.tpot_s.median, some);
  v.value("tpot_s_p95", serving.tpot_s.p95, some);
  v.value("tpot_s_p99", serving.tpot_s.p99, some);
  v.value("latency_s_mean", serving.latency_s.mean, some);
  v.value("latency_s_median", serving.latency_s.median, some);
  v.value("latency_s_p95", serving.latency_s.p95, some);
  v.value("latency_s_p99", serving.latency_s.p99, some);
  v.value("queue_s_mean", serving.queue_s.mean, some);
  v.value("queue_s_median", serving.queue_s.median, some);
  v.value("queue_s_p95", serving.queue_s.p95, some);
  v.value("queue_s_p99", serving.queue_s.p99, some);
  v.value("device_utilisation", serving.device_utilisation, some);
  v.value("memory_bound_share", serving.memory_bound_share, some);
  v.value("iterations", serving.iterations, some);
  v.value("batch_mean", serving.batch_mean, some);
  v.value("cache_share_max", serving.cache_share_max, some);
  v.value("cache_bytes_max", serving.cache_bytes_max, some);
  v.value("capacity_requests_per_s", serving.capacity_requests_per_s, some);
  v.value("within_limits", serving.within_limits, some);
  v.value("dollars_per_million_tokens", serving.dollars_per_million_tokens, some);
  v.value("joules_per_token", serving.joules_per_token, some);
}

/// The run's lists: evaluations, ranks, hosts, links, collectives.
template <record::Maybe<record::Record> Given, class Visitor>
void describe_lists(Given& record, Visitor& v) {
  using enum record::Presence;
  v.counts("staleness_counts", record.staleness_counts);
  v.items("curve", record.curve, always);
  v.items("ranks", record.ranks, always);
  v.items("hosts", record.hosts, newer);
  v.value("stored_bytes", record.stored_bytes, detail);
  v.items("links", record.links, always);
  v.items("wires", record.wires, some);
  v.items("collectives", record.collectives, some);
  v.items("dimensions", record.dimensions, some);
  v.items("served_requests", record.requests, some);
  v.items("blocks", record.blocks, some);
  v.items("sources", record.sources, some);
  v.items("link_utilisation", record.link_bins, some);
}

/// The parts of the four activities, means over the workers.
template <class Visitor>
void describe_parts(const record::Record& record, Visitor& v) {
  const auto by_part = time_by_part(record);
  for (std::size_t k = 0; k < record::time_parts; ++k)
    if (const auto part = static_cast<record::TimePart>(k); part != record::TimePart::down)
      v.computed(record::field_name(part), by_part ? std::optional((*by_part)[part]) : std::nullopt);
}

/// The numbers that only runs of some kinds have.
template <record::Maybe<record::Record> Given, class Visitor>
void describe_numbers_of_some(Given& record, Visitor& v) {
  using enum record::Presence;
  v.value("server_imbalance", record.server_imbalance, some);
  v.value("cache_hit_rate", record.cache_hit_rate, some);
  v.value("memory_bytes_max", record.memory_bytes_max, some);
  v.value("bubble_s", record.bubble_s, some);
  v.value("bubble_share", record.bubble_share, some);
  v.value("dropped_share", record.dropped_share, some);
  v.value("expert_imbalance", record.expert_imbalance, some);
  v.value("loss_floor", record.loss_floor, some);
  v.value("predicted_step_s", record.predicted_step_s, some);
  v.value("prediction_error", record.prediction_error, some);
  v.value("synchronised_share", record.synchronised_share, some);
  v.value("bytes_saved", record.bytes_saved, some);
  describe(record.throughput, v);
  describe(record.serving, v);
  describe(record.gradient, v);
}

template <record::Maybe<Run> Given, class Visitor>
void describe(Given& run, Visitor& v) {
  using enum record::Presence;
  auto& record = run.record;
  const auto parts_s = time_parts(record);
  const auto part_s = [&](std::size_t k) { return parts_s ? std::optional((*parts_s)[k]) : std::nullopt; };
  std::optional<double> consensus_distance;
  if (!record.curve.empty()) consensus_distance = record.curve.back().consensus_distance;
  std::optional<double> bytes_to_target;
  if (record.time_to_target_s) bytes_to_target = static_cast<double>(record.bytes);  // the run ends there
  v.value("id", run.id);
  v.value("strategy", run.strategy);
  v.value("label", run.label);
  v.value("options", run.options);
  v.grid_point("parameters", run.parameters);
  v.value("seed", run.seed);
  v.value("status", record.status);
  v.value("simulated_s", record.simulated_s);
  v.value("steps", record.steps);
  v.value("samples", record.samples);
  v.value("epochs", record.epochs);
  v.value("final_loss", record.final_loss);
  v.value("time_to_target_s", record.time_to_target_s);
  v.value("speedup_throughput", run.speedup_throughput);
  v.value("speedup_time_to_target", run.speedup_time_to_target);
  v.value("efficiency", run.efficiency);
  v.computed("compute_s", part_s(0));
  v.computed("communicate_s", part_s(1));
  v.computed("wait_s", part_s(2));
  v.computed("down_s", part_s(3));
  v.value("bytes", record.bytes);
  v.value("messages", record.messages);
  v.value("staleness_mean", record.staleness_mean);
  v.value("staleness_max", record.staleness_max);
  describe(run.bill, v, true);
  v.value("wall_s", run.wall_s);
  v.text_or_null("error", record.error);
  v.value("workers", run.workers);
  v.text_or_null("metric_name", record.metric_name);
  v.computed("final_metric", final_metric(record));
  v.computed("consensus_distance", consensus_distance);
  v.value("spectral_gap", record.spectral_gap);
  v.value("crashes", record.crashes);
  v.value("lost_s", record.lost_s);
  v.value("recovery_s", record.recovery_s);
  v.value("checkpoint_s", record.checkpoint_s);
  v.value("goodput", record.goodput);
  v.value("samples_seen", record.samples_seen, newer);
  v.value("diverged_step", record.diverged_step, newer);
  v.text_or_null("network_model", record.network_model);
  v.computed("bytes_to_target", bytes_to_target);
  describe(run.bill, v, false);
  v.value("notes", record.notes);
  v.value("interference", run.interference, some);
  v.value("parallel", run.parallel, some);
  describe_numbers_of_some(record, v);
  describe_parts(record, v);
  describe_lists(record, v);
}

}  // namespace simgrad::outputs
