// One small training with its whole input in sight: a test says what differs from the defaults, runs it in a child
// process, and looks at everything that came out.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "catch.h"
#include "cluster/cluster.h"
#include "data/dataset.h"
#include "models/model.h"
#include "record/record.h"
#include "simulation.h"
#include "training/training.h"
#include "training/worker.h"
#include "values/dispatcher.h"

namespace simgrad::tests {

/// Parameters that a model was asked about, and for which rows.
struct Seen {
  std::int64_t first_row = 0;
  std::vector<double> w;
};

/// What came out of a trial.
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
  void operator()(const T& x) {
    bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
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
  a(x.step), a(x.simulated_s), a(x.samples), a(x.loss), a(x.metric), a(x.consensus_distance);
}
template <class Archive>
void carry(Archive& a, record::RankUse& x) {
  a(x.role), a(x.compute_s), a(x.communicate_s), a(x.wait_s), a(x.down_s), a(x.bytes_sent), a(x.bytes_received);
}
template <class Archive>
void carry(Archive& a, record::LinkUse& x) {
  a(x.link), a(x.bytes), a(x.utilisation);
}
template <class Archive>
void carry(Archive& a, record::Record& x) {
  a(x.status), a(x.error), a(x.simulated_s), a(x.steps), a(x.samples), a(x.epochs), a(x.final_loss);
  a(x.time_to_target_s), a(x.bytes), a(x.messages), a(x.staleness_mean), a(x.staleness_max), a(x.spectral_gap);
  a(x.metric_name), a(x.network_model), a(x.notes), a(x.curve), a(x.ranks), a(x.links);
}
template <class Archive>
void carry(Archive& a, Outcome& x) {
  carry(a, x.record);
  a(x.evaluated), a(x.gradients_at);
}

}  // namespace archive

/// A model that notes at which parameters it is asked for scores and gradients.
class WatchedModel final : public models::Model {
 public:
  explicit WatchedModel(std::string_view kind) : model_(models::registry().find(kind)->make()) {}

  std::optional<double> flops_a_row;  ///< instead of the model's own

  bool classifies() const override { return model_->classifies(); }
  std::string_view metric() const override { return model_->metric(); }
  std::int64_t parameters(const models::Problem& problem) const override { return model_->parameters(problem); }
  double gradient_flops(const models::Problem& problem, std::int64_t rows) const override {
    return flops_a_row ? *flops_a_row * static_cast<double>(rows) : model_->gradient_flops(problem, rows);
  }
  void gradient(const models::Problem& problem, const models::Samples& rows, std::span<const double> w, double scale,
                double penalty_scale, std::span<double> g) const override {
    model_->gradient(problem, rows, w, scale, penalty_scale, g);
    const std::lock_guard lock(mutex_);
    gradients_at.push_back({rows.first, {w.begin(), w.end()}});
  }
  models::Score score(const models::Problem& problem, const models::Samples& rows,
                      std::span<const double> w) const override {
    {
      const std::lock_guard lock(mutex_);
      evaluated.emplace_back(w.begin(), w.end());
    }
    return model_->score(problem, rows, w);
  }

  mutable std::vector<std::vector<double>> evaluated;
  mutable std::vector<Seen> gradients_at;

 private:
  std::unique_ptr<models::Model> model_;
  mutable std::mutex mutex_;  // kernels run on the dispatcher's threads
};

/// x_ij ~ N(0, 1), y = x . (1, 2, ..., d) / d + N(0, 1) / 10
inline data::Dataset linear_data(std::int64_t rows, std::int64_t features, std::uint64_t seed) {
  data::Dataset set;
  set.rows = rows;
  set.columns = features;
  base::Stream stream({.seed = seed, .purpose = base::Purpose::test});
  for (std::int64_t i = 0; i < rows; ++i) {
    double y = 0.1 * stream.normal();
    for (std::int64_t j = 0; j < features; ++j) {
      const double x = stream.normal();
      set.features.push_back(x);
      y += x * static_cast<double>(j + 1) / static_cast<double>(features);
    }
    set.targets.push_back(y);
  }
  return set;
}

/// Every case of these tests: latency, each NIC's bandwidth each way, each host's flop/s.
constexpr double alpha = 50e-6;
constexpr double B = 1.25e9;  // 10 Gb/s
constexpr double speed = 1e9;

inline cluster::Options ideal_star() {
  cluster::Options options;
  options.machine = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = B, .latency_s = alpha};
  return options;
}

struct Trial {
  training::Program program;
  int workers = 4;
  std::int64_t rows = 48;
  std::int64_t test_rows = 0;
  std::int64_t features = 5;
  std::optional<std::int64_t> batch = {};  ///< none: all rows
  std::uint64_t seed = 1;
  std::optional<double> flops_a_row = {};  ///< none: the model's own, 4 d
  int threads = 0;
  cluster::Options cluster = ideal_star();
  training::Options training = {};
  training::StopOptions stop = {};
  training::EvaluateOptions evaluate = {};

  models::Problem problem() const { return {.features = features, .classes = 0}; }
  data::Split data() const { return {linear_data(rows, features, seed), linear_data(test_rows, features, seed + 1)}; }
  training::Batches batches() const { return training::Batches({rows, batch.value_or(rows), training.partition, seed}); }
  /// The time rank r's gradient takes.
  double gradient_s(int r = 0) const {
    const double flops = flops_a_row.value_or(4.0 * static_cast<double>(features));
    return flops * static_cast<double>(batches().count(r, workers)) / cluster.machine.speed_flops_per_s;
  }
  double message_bytes() const { return 8.0 * static_cast<double>(features); }

  /// Runs it in a child process. What the run throws is a record that failed, as it is for a user.
  Outcome run() const {
    archive::Reader reader{text_of_child([this] {
      alarm(60);  // a run that hangs is a child that dies
      archive::Writer writer;
      Outcome outcome = run_here();
      carry(writer, outcome);
      return writer.bytes;
    })};
    Outcome outcome;
    carry(reader, outcome);
    return outcome;
  }

 private:
  Outcome run_here() const {
    const auto model = std::make_shared<WatchedModel>("least_squares");
    model->flops_a_row = flops_a_row;
    values::Dispatcher dispatcher({.threads = threads, .numbers = training.numbers, .label = {}});
    cluster::Cluster hosts(cluster, workers + program.servers);
    const training::Learning learning({.data = training.numbers ? std::make_shared<const data::Split>(data()) : nullptr,
                                       .model = model,
                                       .problem = problem(),
                                       .rows = rows,
                                       .batch = batch.value_or(rows),
                                       .partition = training.partition,
                                       .evaluate_on = evaluate.on,
                                       .seed = seed},
                                      dispatcher);
    training::Training job(hosts, learning, program, {training, stop, evaluate}, workers);
    std::string error;
    try {
      job.start();
      hosts.run();
      if (!job.world().ended()) error = "every rank has ended, but the training has not";
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    job.world().end();
    Outcome outcome{job.take_record(), {}, {}};
    if (!error.empty()) {
      outcome.record.status = record::Status::failed;
      outcome.record.error = error;
    }
    outcome.evaluated = model->evaluated;
    outcome.gradients_at = model->gradients_at;
    return outcome;
  }
};

/// compute + communicate + wait + down = simulated, of every rank.
inline void check_partition_of_time(const record::Record& record) {
  for (const record::RankUse& use : record.ranks) {
    CHECK(use.compute_s + use.communicate_s + use.wait_s + use.down_s ==
          Approx(record.simulated_s).epsilon(1e-12).margin(1e-15));
    CHECK(std::min({use.compute_s, use.communicate_s, use.wait_s, use.down_s}) >= 0.0);
  }
}

/// |a - b| / |b|
inline double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

/// The gradient of the mean loss over rows of `set`, all or those named.
inline std::vector<double> gradient_of(const Trial& trial, const data::Dataset& set, const training::RowSet& rows,
                                       const std::vector<double>& w, double scale) {
  const auto model = models::registry().find("least_squares")->make();
  const models::Samples samples{set.features.data(), set.targets.data(), set.columns, rows.first, rows.count,
                                rows.indices.empty() ? nullptr : rows.indices.data()};
  std::vector<double> g(w.size());
  model->gradient(trial.problem(), samples, w, scale, 0.0, g);
  return g;
}

}  // namespace simgrad::tests
