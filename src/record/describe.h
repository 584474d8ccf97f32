/// The fields of a record's parts, each named once and in the order of the files. Whatever writes, reads or tabulates
/// them is a visitor of these descriptions, so that a new field is a member and one line here.
///
/// A visitor has index(name), for an item's place in its list; value(name, field, presence), for texts, flags, numbers
/// and optional numbers; and metric(name, field), for the number whose name is the record's `metric_name`.
#pragma once

#include <concepts>
#include <type_traits>

#include "record/record.h"

namespace simgrad::record {

/// Which files have a field, and where it is left out.
enum class Presence {
  always,        ///< in every file; null where there is no value
  newer,         ///< as always, but files of older releases may lack it: they read as its default
  detail,        ///< as newer, and only in JSON
  some,          ///< left out of JSON where there is no value; a column of CSV if any row has a value
  some_or_zero,  ///< as some; where the column is there, rows without a value have 0
};
inline bool left_out_if_absent(Presence presence) {
  return presence == Presence::some || presence == Presence::some_or_zero;
}

/// T, or const T: writers visit what they may not change.
template <class Given, class T>
concept Maybe = std::same_as<std::remove_const_t<Given>, T>;

template <Maybe<Evaluation> Given, class Visitor>
void describe(Given& evaluation, Visitor& v) {
  v.value("step", evaluation.step);
  v.value("simulated_s", evaluation.simulated_s);
  v.value("samples", evaluation.samples);
  v.value("loss", evaluation.loss);
  v.metric("metric", evaluation.metric);
  v.value("consensus_distance", evaluation.consensus_distance);
  v.value("dropped_share", evaluation.dropped_share, Presence::some);
  v.value("expert_imbalance", evaluation.expert_imbalance, Presence::some);
  v.value("bytes", evaluation.bytes, Presence::newer);
  v.value("flops", evaluation.flops, Presence::newer);
  v.value("energy_j", evaluation.energy_j, Presence::newer);
  v.value("hosts_busy_s", evaluation.hosts_busy_s, Presence::detail);
  v.value("hosts_down_s", evaluation.hosts_down_s, Presence::detail);
}

template <Maybe<GradientTimes> Given, class Visitor>
void describe(Given& gradient, Visitor& v) {
  for (std::size_t k = 0; k < gradient_parts; ++k) {
    const auto part = static_cast<GradientPart>(k);
    v.value(field_name(part), gradient[part], Presence::some);
  }
}

template <Maybe<MeshUse> Given, class Visitor>
void describe(Given& mesh, Visitor& v) {
  v.value("place_tensor", mesh.tensor, Presence::some);
  v.value("place_context", mesh.context, Presence::some);
  v.value("place_expert", mesh.expert, Presence::some);
  v.value("place_data", mesh.data, Presence::some);
  v.value("place_pipeline", mesh.pipeline, Presence::some);
  v.value("bubble_s", mesh.bubble_s, Presence::some);
  v.value("hop_s", mesh.hop_s, Presence::some);
  v.value("tensor_s", mesh.tensor_s, Presence::some);
  v.value("context_s", mesh.context_s, Presence::some);
  v.value("expert_s", mesh.expert_s, Presence::some);
  v.value("data_s", mesh.data_s, Presence::some);
}

template <Maybe<RankUse> Given, class Visitor>
void describe(Given& rank, Visitor& v) {
  v.index("rank");
  v.value("role", rank.role);
  v.value("compute_s", rank.compute_s);
  v.value("communicate_s", rank.communicate_s);
  v.value("wait_s", rank.wait_s);
  v.value("down_s", rank.down_s);
  v.value("bytes_sent", rank.bytes_sent);
  v.value("bytes_received", rank.bytes_received);
  v.value("host_class", rank.host_class, Presence::newer);
  v.value("host", rank.host, Presence::detail);
  for (std::size_t k = 0; k < time_parts; ++k)
    if (const auto part = static_cast<TimePart>(k); part != TimePart::down)
      v.value(field_name(part), rank.parts[part], Presence::newer);
  describe(rank.gradient, v);
  v.value("staleness_mean", rank.staleness_mean, Presence::newer);
  v.value("memory_bytes", rank.memory_bytes, Presence::some);
  for (std::size_t k = 0; k < memory_parts; ++k)
    v.value(field_name(static_cast<MemoryPart>(k)), rank.memory[k], Presence::some);
  v.value("memory_limit_bytes", rank.memory_limit_bytes, Presence::some);
  describe(rank.mesh, v);
}

template <Maybe<HostUse> Given, class Visitor>
void describe(Given& host, Visitor& v) {
  v.value("host_class", host.host_class);
  v.value("host_number", host.host_number, Presence::newer);
  v.value("busy_s", host.busy_s);
  v.value("down_s", host.down_s);
  v.value("serves", host.serves);
  v.value("spot", host.spot);
  v.value("price_usd_per_h", host.price_usd_per_h);
  v.value("idle_w", host.idle_w);
  v.value("busy_w", host.busy_w);
}

template <Maybe<LinkUse> Given, class Visitor>
void describe(Given& link, Visitor& v) {
  v.value("link", link.link);
  v.value("bytes", link.bytes);
  v.value("utilisation", link.utilisation);
  v.value("link_class", link.link_class, Presence::newer);
  v.value("background_bytes", link.background_bytes, Presence::some_or_zero);
}

template <Maybe<LinkBin> Given, class Visitor>
void describe(Given& bin, Visitor& v) {
  v.value("link", bin.link);
  v.value("from_s", bin.from_s);
  v.value("to_s", bin.to_s);
  v.value("bytes", bin.bytes);
  v.value("utilisation", bin.utilisation);
}

template <Maybe<CablingEdge> Given, class Visitor>
void describe(Given& wire, Visitor& v) {
  v.value("link", wire.link);
  v.value("from", wire.from);
  v.value("to", wire.to);
}

template <Maybe<CollectiveUse> Given, class Visitor>
void describe(Given& use, Visitor& v) {
  v.value("name", use.name);
  v.value("members", use.members);
  v.value("bytes", use.bytes);
  v.value("calls", use.calls);
  v.value("predicted_s", use.predicted_s);
  v.value("simulated_s", use.simulated_s);
  v.value("skew_s", use.skew_s);
  v.value("duration_s", use.duration_s, Presence::newer);
  v.value("exposed_s", use.exposed_s, Presence::newer);
}

template <Maybe<ServedRequest> Given, class Visitor>
void describe(Given& request, Visitor& v) {
  v.index("request");
  v.value("arrival_s", request.arrival_s);
  v.value("start_s", request.start_s);
  v.value("first_token_s", request.first_token_s);
  v.value("end_s", request.end_s);
  v.value("prompt_tokens", request.prompt_tokens);
  v.value("output_tokens", request.output_tokens);
  v.value("replica", request.replica);
  v.value("prompt", request.prompt, Presence::newer);
  v.value("answer", request.answer);
}

template <Maybe<DimensionUse> Given, class Visitor>
void describe(Given& use, Visitor& v) {
  v.value("dimension", use.dimension);
  v.value("link_class", use.link_class);
  v.value("links", use.links);
  v.value("bytes", use.bytes);
  v.value("utilisation", use.utilisation);
  v.value("utilisation_max", use.utilisation_max);
}

template <Maybe<BlockUse> Given, class Visitor>
void describe(Given& block, Visitor& v) {
  v.value("first", block.first);
  v.value("parameters", block.parameters);
  v.value("synchronisations", block.synchronisations);
  v.value("period", block.period);
  v.value("movement", block.movement);
}

template <Maybe<SourceScore> Given, class Visitor>
void describe(Given& source, Visitor& v) {
  v.value("name", source.name);
  v.value("loss", source.loss);
  v.value("metric_name", source.metric_name);
  v.value("metric", source.metric);
}

}  // namespace simgrad::record
