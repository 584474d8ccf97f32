#include "capacity/expected_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace simgrad::capacity {

namespace {

/// The probability of k successes in n trials of probability p, 0 < p < 1.
double binomial(int n, int k, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

/// The probability of at most k successes.
double at_most(int n, int k, double p) {
  double sum = 0.0;
  for (int down = 0; down <= k; ++down) sum += binomial(n, down, p);
  return std::min(sum, 1.0);
}

}  // namespace

double expected_time_s(const Computing& work, const JobFailures& failures) {
  const double number = work.checkpoints(), M = failures.mtbf_s;
  if (std::isinf(M)) return work.duration_s();
  const double detection_s =
      failures.detection_s - failures.no_spare * std::min(failures.detection_s, failures.repair_s);
  const double R = detection_s + failures.restart_s + work.write_s;
  const double segment_s = number > 0.0 ? work.interval_s + work.checkpoint_s : 0.0;
  double segments = std::expm1((work.work_s - (number > 0.0 ? number * work.interval_s : 0.0)) / M);
  if (number > 0.0) segments += std::expm1(segment_s / M);
  if (number > 1.0) segments += (number - 1.0) * std::expm1((segment_s + work.stall_s()) / M);
  return M * std::exp(R / M) * segments / failures.enough;
}

double enough_up(int hosts, int spares, double down_share) {
  return down_share > 0.0 ? at_most(hosts + spares, spares, down_share) : 1.0;
}

double no_spare_left(int hosts, int spares, double down_share) {
  if (spares == 0) return 1.0;
  if (!(down_share > 0.0)) return 0.0;
  const int others = hosts + spares - 1;
  return binomial(others, spares, down_share) / at_most(others, spares, down_share);
}

ServerLife server_life(const cluster::FailureProcess& failures, const cluster::Repair& repair, std::uint64_t seed) {
  constexpr int servers = 400;
  constexpr std::int64_t outages_most = 1000;
  constexpr double lives = 10.0;  ///< of a mean server that are looked at
  const std::optional<double> mtbf_s = failures.mtbf_s();
  if (!failures.happens()) return {};
  if (mtbf_s && !failures.repairs()) return {.mtbf_s = *mtbf_s, .repair_s = repair.mean_s().value_or(0.0)};
  const double window_s = lives * mtbf_s.value_or(std::numeric_limits<double>::infinity());
  double up_s = 0.0, down_s = 0.0, count = 0.0, repairs = 0.0;
  for (int server = 0; server < servers; ++server) {
    double since_s = 0.0;
    for (std::int64_t k = 0; k < outages_most; ++k) {
      const auto outage = failures.next(server, k, since_s,
                                        {.seed = seed,
                                         .purpose = base::Purpose::failure,
                                         .step = static_cast<std::uint64_t>(k),
                                         .rank = static_cast<std::uint32_t>(server)},
                                        repair);
      if (!outage || outage->down_s > window_s) break;
      up_s += outage->down_s - since_s;
      count += 1.0;
      if (!outage->up_s) break;
      down_s += *outage->up_s - outage->down_s;
      repairs += 1.0;
      since_s = *outage->up_s;
    }
  }
  ServerLife life;
  if (count > 0.0) life.mtbf_s = mtbf_s.value_or(up_s / count);
  if (repairs > 0.0) life.repair_s = down_s / repairs;
  return life;
}

JobFailures failures_of_job(const ServerLife& life, int hosts, int spares, double detection_s, double restart_s) {
  return {.mtbf_s = life.mtbf_s / hosts,
          .detection_s = detection_s,
          .restart_s = restart_s,
          .enough = enough_up(hosts, spares, life.down_share()),
          .no_spare = no_spare_left(hosts, spares, life.down_share()),
          .repair_s = life.repair_s};
}

}  // namespace simgrad::capacity
