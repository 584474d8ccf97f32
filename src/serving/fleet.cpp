#include "serving/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/units.h"

namespace simgrad::serving {

namespace {

template <class Visit>
void each_of(const Layout& layout, int replica, int stage, const Visit& visit) {
  for (const int rank : layout.ranks[static_cast<std::size_t>(replica)][static_cast<std::size_t>(stage)]) visit(rank);
}

template <class Visit>
void each_rank(const Layout& layout, int replica, const Visit& visit) {
  for (int stage = 0; stage < layout.pipeline; ++stage)
    each_of(layout, replica, stage, [&](int rank) { visit(stage, rank); });
}

/// To four digits.
std::string bytes_text(double bytes) {
  const double least = bytes >= 1e4 ? std::pow(10.0, std::floor(std::log10(bytes)) - 3.0) : 1.0;
  return base::format_quantity(std::round(bytes / least) * least, base::Unit::bytes);
}

/// The work of a request of mean lengths, whose tokens after the first one pass one by one.
Load mean_load(const Expected& requests) {
  const double p = requests.prompt_tokens, later = requests.output_tokens - 1.0;
  const double single = later * p + 0.5 * later * (later + 1.0);
  return {.tokens = p + later,
          .answers = requests.output_tokens,
          .pairs = 0.5 * p * (p + 1.0) + single,
          .cached = p + single};
}

}  // namespace

Fleet fleet_of(const models::TransformerShape& shape, const Layout& layout, training::Precision precision,
               const Options& options, const cluster::Options& cluster,
               const std::function<double(int host)>& flops_per_s) {
  Fleet fleet{.shape = shape, .layout = layout, .costs = {}, .memory_bytes = {}};
  std::vector<StageWork> works;
  for (int stage = 0; stage < layout.pipeline; ++stage)
    works.push_back(stage_work(shape, chunk_of(shape, stage, layout.pipeline, layout.tensor)));
  std::vector<int> stages(static_cast<std::size_t>(layout.count()));
  for (int replica = 0; replica < layout.replicas(); ++replica)
    each_rank(layout, replica, [&](int stage, int rank) { stages[static_cast<std::size_t>(rank)] = stage; });
  for (int rank = 0; rank < layout.count(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    const cluster::Device* const device = cluster.device_of(rank);
    const bool relative = at < cluster.relative_speeds.size();
    fleet.costs.emplace_back(works[static_cast<std::size_t>(stages[at])],
                             RankSpeed{.device = device,
                                       .flops_per_s = device ? 0.0 : flops_per_s(rank),
                                       .bytes_per_s = options.memory_bandwidth_bytes_per_s,
                                       .relative = relative ? cluster.relative_speeds[at] : 1.0},
                             precision);
    auto& memory = fleet.memory_bytes.emplace_back(cluster.memory_bytes);
    if (!memory && device && device->memory_bytes > 0.0) memory = device->memory_bytes;
  }
  return fleet;
}

double room_tokens(const Fleet& fleet, int replica, double memory_share) {
  double room = std::numeric_limits<double>::infinity();
  each_rank(fleet.layout, replica, [&](int, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (!fleet.memory_bytes[at]) return;
    const StageCosts& costs = fleet.costs[at];
    room = std::min(room,
                    (memory_share * *fleet.memory_bytes[at] - costs.parameter_bytes()) / costs.cache_bytes_a_token());
  });
  return room;
}

std::string memory_refusal(const Fleet& fleet, const Options& options, const Expected& requests) {
  for (int replica = 0; replica < fleet.layout.replicas(); ++replica) {
    const double room = room_tokens(fleet, replica, options.memory_share);
    if (room >= static_cast<double>(requests.longest)) continue;
    std::string text;
    each_rank(fleet.layout, replica, [&](int stage, int rank) {
      const auto at = static_cast<std::size_t>(rank);
      if (!text.empty() || !fleet.memory_bytes[at]) return;
      const StageCosts& costs = fleet.costs[at];
      const double given = options.memory_share * *fleet.memory_bytes[at];
      const double cache = static_cast<double>(requests.longest) * costs.cache_bytes_a_token();
      if (costs.parameter_bytes() + cache <= given) return;
      text = fmt::format(
          "the cache does not fit: a rank of stage {} needs {} for its parameters and {} for the keys and values of a "
          "request of {} tokens, but memory_share = {} of its device is {}; take more tensor or pipeline ranks, "
          "shorter requests, or a smaller model",
          stage, bytes_text(costs.parameter_bytes()), bytes_text(cache), requests.longest, options.memory_share,
          bytes_text(given));
    });
    return text;
  }
  return {};
}

namespace {

/// The least time of a request in a replica.
double least_request_s(const Fleet& fleet, int replica, const Options& options, const Expected& requests,
                       const LinesOf& lines) {
  const int stages = fleet.layout.pipeline;
  const Load load = mean_load(requests);
  const double numbers = load.tokens * static_cast<double>(fleet.shape.hidden);
  const double held =
      requests.prompt_tokens +
      (options.cache == CacheRoom::on_demand ? 0.5 * (requests.output_tokens - 1.0) : requests.output_tokens);
  const double fit = room_tokens(fleet, replica, options.memory_share) / held;
  const double together = std::max(std::min(static_cast<double>(options.batch_size), fit), 1.0);
  const double iterations = requests.output_tokens / std::max(together / stages, 1.0);
  double longest_s = 0.0, slot_s = 0.0;
  for (int stage = 0; stage < stages; ++stage) {
    const StageLines stage_lines = lines ? lines(replica, stage) : StageLines();
    double slowest_s = 0.0;
    each_of(fleet.layout, replica, stage, [&](int rank) {
      const StageCosts& costs = fleet.costs[static_cast<std::size_t>(rank)];
      const double sums = costs.work().sums;
      double seconds =
          costs.share(load, iterations).seconds + stage_lines.sum.seconds(sums * iterations, sums * numbers);
      if (costs.work().of_answers) seconds += stage_lines.sum.seconds(iterations, 2.0 * load.answers);
      if (stage > 0) seconds += stage_lines.spread.seconds(iterations, numbers);
      slowest_s = std::max(slowest_s, seconds);
    });
    const double carried = stage + 1 == stages ? load.answers : numbers;
    longest_s = std::max({longest_s, slowest_s, stage_lines.message.seconds(0.0, carried)});
    slot_s += slowest_s + stage_lines.message.seconds(iterations, carried);
  }
  return std::max(longest_s, slot_s / std::min(together, static_cast<double>(stages)));
}

}  // namespace

double capacity_requests_per_s(const Fleet& fleet, const Options& options, const Expected& requests,
                               const LinesOf& lines) {
  const int replicas = fleet.layout.replicas();
  double sum = 0.0, least = std::numeric_limits<double>::infinity();
  for (int replica = 0; replica < replicas; ++replica) {
    const double rate_per_s = 1.0 / least_request_s(fleet, replica, options, requests, lines);
    sum += rate_per_s;
    least = std::min(least, rate_per_s);
  }
  return options.router == Router::round_robin ? replicas * least : sum;
}

}  // namespace simgrad::serving
