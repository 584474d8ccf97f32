// The outcome of a trial, and its way back from a child process.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "record/record.h"

namespace simgrad::tests {

/// Parameters that a model was asked about, and for which rows.
struct Seen {
  std::int64_t first_row = 0;
  std::vector<double> w;
};

/// The outcome of a trial.
struct Outcome {
  record::Record record;
  std::vector<std::vector<double>> evaluated;  ///< mean parameters at every evaluation with new ones, the last one last
  std::vector<Seen> gradients_at;              ///< every replica's parameters, whenever a gradient was computed

  const std::vector<double>& final_parameters() const { return evaluated.back(); }
  std::vector<double> losses() const {
    std::vector<double> all;
    for (const auto& row : record.curve) all.push_back(row.loss.value());
    return all;
  }
};

namespace archive {

/// Appends plain numbers, strings, optionals and vectors to a string.
struct Writer {
  std::string bytes;

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(const T& x) { bytes.append(reinterpret_cast<const char*>(&x), sizeof x); }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes += text;
  }
  template <class T>
  void operator()(const std::optional<T>& x) {
    (*this)(x.has_value());
    if (x) (*this)(*x);
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    (*this)(items.size());
    for (T& item : items) carry(*this, item);
  }
  void operator()(const std::map<std::int64_t, std::int64_t>& counts) {
    (*this)(counts.size());
    for (const auto& [key, count] : counts) (*this)(key), (*this)(count);
  }
};

/// Takes the same out again.
struct Reader {
  std::string bytes;
  std::size_t at = 0;

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void operator()(T& x) {
    std::memcpy(&x, bytes.data() + at, sizeof x);
    at += sizeof x;
  }
  void operator()(std::string& text) {
    const auto size = take<std::size_t>();
    text = bytes.substr(at, size);
    at += size;
  }
  template <class T>
  void operator()(std::optional<T>& x) {
    if (take<bool>()) x = take<T>();
  }
  template <class T>
  void operator()(std::vector<T>& items) {
    items.resize(take<std::size_t>());
    for (T& item : items) carry(*this, item);
  }
  void operator()(std::map<std::int64_t, std::int64_t>& counts) {
    for (auto left = take<std::size_t>(); left > 0; --left) {
      const auto key = take<std::int64_t>();
      counts[key] = take<std::int64_t>();
    }
  }

 private:
  template <class T>
  T take() {
    T x{};
    (*this)(x);
    return x;
  }
};

// One description of every struct serves both directions.
template <class Archive, class T>
void carry(Archive& a, T& x) {
  a(x);
}
template <class Archive>
void carry(Archive& a, Seen& x) {
  a(x.first_row), a(x.w);
}
template <class Archive>
void carry(Archive& a, record::Evaluation& x) {
  a(x.step), a(x.simulated_s), a(x.samples), a(x.loss), a(x.metric), a(x.consensus_distance), a(x.dropped_share),
      a(x.expert_imbalance), a(x.bytes), a(x.flops), a(x.hosts_busy_s), a(x.hosts_down_s);
}
template <class Archive>
void carry(Archive& a, record::DimensionUse& x) {
  a(x.dimension), a(x.link_class), a(x.links), a(x.bytes), a(x.utilisation), a(x.utilisation_max);
}
template <class Archive>
void carry(Archive& a, record::BlockUse& x) {
  a(x.first), a(x.parameters), a(x.synchronisations), a(x.period), a(x.movement);
}
template <class Archive>
void carry(Archive& a, record::SourceScore& x) {
  a(x.name), a(x.loss), a(x.metric_name), a(x.metric);
}
template <class Archive>
void carry(Archive& a, record::RankUse& x) {
  a(x.role), a(x.compute_s), a(x.communicate_s), a(x.wait_s), a(x.down_s), a(x.bytes_sent), a(x.bytes_received),
      a(x.host_class), a(x.staleness_mean);
  for (std::size_t k = 0; k < record::time_parts; ++k) a(x.parts[static_cast<record::TimePart>(k)]);
  a(x.memory_bytes);
  for (auto& part : x.memory) a(part);
  a(x.memory_limit_bytes);
  a(x.mesh.tensor), a(x.mesh.data), a(x.mesh.pipeline), a(x.mesh.bubble_s), a(x.mesh.hop_s), a(x.mesh.tensor_s),
      a(x.mesh.context), a(x.mesh.expert), a(x.mesh.context_s), a(x.mesh.expert_s), a(x.mesh.data_s);
  for (std::size_t k = 0; k < record::gradient_parts; ++k) a(x.gradient[static_cast<record::GradientPart>(k)]);
}
template <class Archive>
void carry(Archive& a, record::LinkUse& x) {
  a(x.link), a(x.bytes), a(x.utilisation), a(x.link_class), a(x.background_bytes);
}
template <class Archive>
void carry(Archive& a, record::LinkBin& x) {
  a(x.link), a(x.from_s), a(x.to_s), a(x.bytes), a(x.utilisation);
}
template <class Archive>
void carry(Archive& a, record::CollectiveUse& x) {
  a(x.name), a(x.members), a(x.bytes), a(x.calls), a(x.predicted_s), a(x.simulated_s), a(x.skew_s), a(x.duration_s),
      a(x.exposed_s);
}
template <class Archive>
void carry(Archive& a, record::Record& x) {
  a(x.status), a(x.error), a(x.simulated_s), a(x.steps), a(x.samples), a(x.samples_seen), a(x.diverged_step),
      a(x.epochs);
  a(x.final_loss);
  a(x.time_to_target_s), a(x.bytes), a(x.messages), a(x.staleness_mean), a(x.staleness_max), a(x.spectral_gap);
  a(x.crashes), a(x.lost_s), a(x.recovery_s), a(x.checkpoint_s), a(x.goodput), a(x.server_imbalance),
      a(x.cache_hit_rate), a(x.memory_bytes_max), a(x.bubble_s), a(x.bubble_share), a(x.dropped_share),
      a(x.expert_imbalance), a(x.predicted_step_s), a(x.prediction_error), a(x.dimensions), a(x.synchronised_share),
      a(x.bytes_saved), a(x.blocks), a(x.sources);
  a(x.throughput.tokens), a(x.throughput.samples_per_s), a(x.throughput.tokens_per_s), a(x.throughput.mfu),
      a(x.throughput.hfu);
  a(x.staleness_counts);
  a(x.metric_name), a(x.network_model), a(x.notes), a(x.curve), a(x.ranks), a(x.links), a(x.link_bins),
      a(x.collectives);
}
template <class Archive>
void carry(Archive& a, Outcome& x) {
  carry(a, x.record);
  a(x.evaluated), a(x.gradients_at);
}

}  // namespace archive

}  // namespace simgrad::tests
