// Requests answered on a small cluster: the whole input in sight, and each request's times.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/errors.h"
#include "cluster/fabric/cluster.h"
#include "cluster/stragglers/drawn.h"
#include "models/transformer.h"
#include "serving/engine.h"
#include "simulation.h"

namespace simgrad::tests {

struct ServedRun {
  double simulated_s = 0.0, iterations = 0.0, utilisation = 0.0, memory_bound = 0.0, cache_share = 0.0, capacity = 0.0,
         bytes = 0.0, requests_per_s = 0.0, tokens_per_s = 0.0, receiving_s = 0.0,  ///< of the last rank
      notes = 0.0;
  std::vector<record::ServedRequest> requests;

  double mean_queue_s() const {
    double sum = 0.0;
    for (const auto& each : requests) sum += each.start_s - each.arrival_s;
    return sum / static_cast<double>(requests.size());
  }
};

/// Replicas of a transformer on equal hosts, rank r = (replica x pipeline + stage) x tensor + tensor rank.
struct ServingTrial {
  serving::Options options;
  std::shared_ptr<models::Transformer> model = std::make_shared<models::Transformer>();
  int tensor = 1, pipeline = 1, replicas = 1;
  double speed = 1e9, alpha = 0.0, bandwidth = 1e9;  ///< of hosts and links
  std::vector<double> relative_speeds = {};
  std::optional<double> memory_bytes = {};
  double slowdown = 1.0;                                ///< of rank 0's computing
  std::vector<std::vector<std::int64_t>> prompts = {};  ///< with numbers, where there are some
  std::uint64_t seed = 1;
  bool actors = false;  ///< whether stages are actors
  std::optional<double> watchdog_s = {};

  ServingTrial() {
    model->options.vocabulary = 32;
    model->options.hidden = 16;
  }
  models::TransformerShape shape() const { return model->options.shape(); }
  /// Parameters of a block's matrices.
  double block() const {
    const double h = static_cast<double>(shape().hidden), f = static_cast<double>(shape().feed_forward);
    return 4.0 * h * h + 2.0 * h * f;
  }
  double head() const { return static_cast<double>(shape().hidden * shape().vocabulary); }

  cluster::Options cluster() const {
    cluster::Options all;
    all.workers = tensor * pipeline * replicas;
    all.host_spec.speed_flops_per_s = speed;
    all.host_spec.latency_s = alpha;
    all.host_spec.bandwidth_bytes_per_s = bandwidth;
    all.charge_reductions = false;
    all.relative_speeds = relative_speeds;
    all.memory_bytes = memory_bytes;
    if (watchdog_s) all.watchdog.simulated_s = *watchdog_s;
    if (slowdown > 1.0) {
      auto slow = std::make_unique<cluster::ConstantStragglers>();
      slow->slowdown = slowdown;
      slow->ranks = {0};
      all.stragglers = base::Slot<cluster::Stragglers>(cluster::stragglers(), std::move(slow));
    }
    return all;
  }
  serving::Layout layout() const {
    serving::Layout all{.tensor = tensor, .pipeline = pipeline, .ranks = {}};
    int rank = 0;
    for (int r = 0; r < replicas; ++r) {
      auto& stages = all.ranks.emplace_back();
      for (int s = 0; s < pipeline; ++s) {
        auto& ranks = stages.emplace_back();
        for (int t = 0; t < tensor; ++t) ranks.push_back(rank++);
      }
    }
    return all;
  }
  serving::Fleet fleet() const {
    return serving::fleet_of(shape(), layout(), training::Precision::float64, options, cluster(),
                             [this](int) { return speed; });
  }
  /// Gives the cache of each rank room for so many tokens.
  void give_room(double tokens) {
    options.memory_share = 1.0;
    memory_bytes.reset();
    const serving::Fleet built_fleet = fleet();
    const serving::StageCosts& first = built_fleet.costs[0];
    memory_bytes = first.parameter_bytes() + tokens * first.cache_bytes_a_token();
  }
  std::unique_ptr<serving::Answers> answers() const {
    if (prompts.empty()) return nullptr;
    const models::Problem problem{.features = shape().sequence, .vocabulary = shape().vocabulary};
    std::vector<double> w(static_cast<std::size_t>(model->parameters(problem)));
    model->initial_values(problem, 1, w);
    return std::make_unique<serving::Answers>(
        *model, problem, pipeline, tensor, std::move(w), prompts,
        [](const auto& tokens) { return fmt::format("{}", fmt::join(tokens, " ")); });
  }

  ServedRun run() const {
    std::istringstream text(numbers());
    ServedRun all;
    text >> all.simulated_s >> all.iterations >> all.utilisation >> all.memory_bound >> all.cache_share >>
        all.capacity >> all.bytes >> all.requests_per_s >> all.tokens_per_s >> all.receiving_s >> all.notes;
    for (record::ServedRequest each;
         text >> each.arrival_s >> each.start_s >> each.first_token_s >> each.end_s >> each.replica;) {
      std::getline(text, each.answer);
      all.requests.push_back(each);
    }
    return all;
  }
  /// The error with which the run ends.
  std::string failure() const {
    return text_of_child([this] {
      try {
        simulated();
      } catch (const std::exception& error) {
        return std::string(error.what());
      }
      return std::string();
    });
  }
  /// The run's numbers, each behind a blank.
  std::string numbers() const {
    return text_of_child([this] { return simulated(); });
  }

 private:
  std::string simulated() const {
    cluster::Cluster hosts(cluster(), tensor * pipeline * replicas, pipeline > 1);
    base::check(pipeline == 1 || hosts.flows(), "messages between stages need no actors");
    serving::Engine engine(hosts, {.options = options,
                                   .fleet = fleet(),
                                   .requests = serving::requests_of(options, seed),
                                   .precision = training::Precision::float64,
                                   .seed = seed,
                                   .answers = answers(),
                                   .actors = actors});
    engine.start();
    hosts.run();
    const record::Record record = engine.take_record();
    const record::Serving& served = record.serving;
    std::string text = fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", record.simulated_s, *served.iterations,
                                   *served.device_utilisation, served.memory_bound_share.value_or(0.0),
                                   served.cache_share_max.value_or(0.0), *served.capacity_requests_per_s, record.bytes,
                                   *served.requests_per_s, *served.output_tokens_per_s,
                                   record.ranks.back().communicate_s, record.notes.size());
    for (const record::ServedRequest& each : record.requests)
      text += fmt::format("{} {} {} {} {} {}\n", each.arrival_s, each.start_s, each.first_token_s, each.end_s,
                          each.replica, each.answer);
    return text;
  }
};

/// Requests that all come at 0.
inline ServingTrial at_once(std::int64_t requests, std::int64_t prompt, std::int64_t output) {
  ServingTrial trial;
  trial.options.requests = requests;
  trial.options.arrivals = serving::Arrivals::at_once;
  trial.options.prompt_tokens = prompt;
  trial.options.output_tokens = output;
  return trial;
}

}  // namespace simgrad::tests
