// One small training with its whole input in sight: a test says what differs from the defaults, runs it in a child
// process, and looks at everything that came out.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "cluster/ranks/world.h"
#include "data/dataset.h"
#include "models/model.h"
#include "simulation.h"
#include "training/outcome.h"
#include "training/session/training.h"
#include "training/watched_model.h"
#include "training/worker.h"
#include "values/dispatcher.h"

namespace simgrad::tests {

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
  options.host_spec = {.speed_flops_per_s = speed, .bandwidth_bytes_per_s = B, .latency_s = alpha};
  return options;
}

/// Closed forms are of equal gradients that begin together; tests of asynchronous workers' phases set a spread.
inline training::Options in_phase() {
  training::Options options;
  options.desynchronise = 0.0;
  return options;
}

/// compute + communicate + wait + down = simulated, of every rank, and the parts of each add up to it.
inline void check_partition_of_time(const record::Record& record) {
  for (const record::RankUse& use : record.ranks) {
    CHECK(use.compute_s + use.communicate_s + use.wait_s + use.down_s ==
          Approx(record.simulated_s).epsilon(1e-12).margin(1e-15));
    CHECK(std::min({use.compute_s, use.communicate_s, use.wait_s, use.down_s}) >= 0.0);
    CHECK(use.parts.sum(record::Activity::compute) == Approx(use.compute_s).epsilon(1e-12).margin(1e-15));
    CHECK(use.parts.sum(record::Activity::communicate) == Approx(use.communicate_s).epsilon(1e-12).margin(1e-15));
    CHECK(use.parts.sum(record::Activity::wait) == Approx(use.wait_s).epsilon(1e-12).margin(1e-15));
    CHECK(use.parts[record::TimePart::down] == use.down_s);
    for (std::size_t k = 0; k < record::time_parts; ++k) CHECK(use.parts[static_cast<record::TimePart>(k)] >= 0.0);
  }
}

/// An error that the run throws becomes a failed record, as it does for a user.
inline Outcome run_to_the_end(training::Training& job, cluster::Cluster& hosts) {
  std::string error;
  try {
    job.start();
    hosts.run();
    if (!job.world().ended()) error = "every rank has ended, but the training has not";
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  Outcome outcome;
  if (hosts.contended_link().empty()) {  // else it is given up
    job.world().end();
    outcome.record = job.take_record();
  }
  if (!error.empty()) {
    outcome.record.status = record::Status::failed;
    outcome.record.error = error;
  }
  return outcome;
}

/// Whether transfers may meet on a link, so that the run is one for messages.
inline bool is_given_up(const Outcome& outcome) {
  return outcome.record.error.find("must go message by message") != std::string::npos;
}

/// Runs it in a child process, and checks where its time went.  here: runs it in this process.
template <class Here>
Outcome in_a_child(Here here) {
  archive::Reader reader{text_of_child([&] {
    alarm(60);  // a run that hangs is a child that dies
    archive::Writer writer;
    Outcome outcome = here();
    carry(writer, outcome);
    return writer.bytes;
  })};
  Outcome outcome;
  carry(reader, outcome);
  if (!is_given_up(outcome)) check_partition_of_time(outcome.record);
  return outcome;
}

/// Runs a trial as an experiment does: once more, message by message, where transfers may meet on a link.
template <class AnyTrial, class Here>
Outcome by_messages_where_they_meet(const AnyTrial& trial, Here here) {
  Outcome outcome = in_a_child([&] { return here(trial); });
  if (!is_given_up(outcome)) return outcome;
  AnyTrial again = trial;
  again.cluster.collectives = cluster::Collectives::messages;
  return in_a_child([&] { return here(again); });
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
  int layers = 1;                          ///< the model's, equally long
  double kept = 0.0;                       ///< numbers of a row that each of several layers keeps
  int threads = 0;
  cluster::Options cluster = ideal_star();
  training::Options training = in_phase();
  std::vector<double> speeds = {};  ///< speed of each rank's host, for shares by speed
  training::StopOptions stop = {};
  training::EvaluateOptions evaluate = {};

  models::Problem problem() const { return {.features = features, .classes = 0}; }
  data::Split data() const { return {linear_data(rows, features, seed), linear_data(test_rows, features, seed + 1)}; }
  training::Batches batches() const {
    return training::Batches({.rows = rows,
                              .batch = batch.value_or(rows),
                              .partition = training.partition.shared(),
                              .seed = seed,
                              .labelled = {},
                              .speeds = speeds});
  }
  /// The time rank r's gradient takes.
  double gradient_s(int r = 0) const {
    const double flops = flops_a_row.value_or(4.0 * static_cast<double>(features));
    return flops * static_cast<double>(batches().count(r, workers)) / cluster.host_spec.speed_flops_per_s;
  }
  double message_bytes() const { return 8.0 * static_cast<double>(features); }

  Outcome run() const {
    return by_messages_where_they_meet(*this, [](const Trial& trial) { return trial.run_here(); });
  }

  std::shared_ptr<WatchedModel> watched() const {
    auto model = std::make_shared<WatchedModel>("least_squares");
    model->flops_a_row = flops_a_row;
    model->layers_made = layers;
    model->kept = kept;
    return model;
  }

 private:
  Outcome run_here() const {
    const auto model = watched();
    values::Dispatcher dispatcher({.threads = threads, .numbers = training.numbers, .label = {}});
    const training::Traits traits = program.traits(workers);
    cluster::Cluster hosts(cluster, traits.hosts_needed(workers), traits.many_to_many);
    const training::Learning learning({.data = training.numbers ? std::make_shared<const data::Split>(data()) : nullptr,
                                       .model = model,
                                       .problem = problem(),
                                       .rows = rows,
                                       .batch = batch.value_or(rows),
                                       .partition = training.partition.shared(),
                                       .evaluate_on = evaluate.on,
                                       .seed = seed,
                                       .speeds = speeds,
                                       .recompute = training.recompute,
                                       .precision = training.precision,
                                       .wire = training.wire},
                                      dispatcher);
    training::Training job(hosts, learning, program, {training, stop, evaluate}, workers);
    Outcome outcome = run_to_the_end(job, hosts);
    outcome.evaluated = model->evaluated;
    outcome.gradients_at = model->gradients_at;
    return outcome;
  }
};

/// |a - b| / |b|
inline double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return difference == 0.0 ? 0.0 : std::sqrt(difference / norm);
}

/// The gradient of the mean loss over rows of `set`, all or those named.
inline std::vector<double> gradient_of(const Trial& trial, const data::Dataset& set, const training::RowSet& rows,
                                       const std::vector<double>& w, double scale) {
  const auto model = models::registry().find("least_squares")->make();
  const models::Samples samples{set.features.data(), set.targets.data(),
                                set.columns,         rows.first,
                                rows.count,          rows.indices.empty() ? nullptr : rows.indices.data()};
  std::vector<double> g(w.size());
  model->gradient(trial.problem(), samples, w, scale, 0.0, g);
  return g;
}

}  // namespace simgrad::tests
