// The goodput of published clusters, by formula and by simulation.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "capacity/fleet.h"
#include "catch.h"
#include "cluster/failures/processes.h"
#include "training/checkpoint_efficiency.h"
#include "training/checkpoints/checkpoint_clock.h"

namespace published_goodput_test {

using namespace simgrad;
using namespace simgrad::capacity;

namespace {

constexpr double hour_s = 3600.0, day_s = 24.0 * hour_s;

/// A training whose failures were published; the times of checkpoint and restart are assumed.
struct Published {
  std::string name;
  int servers = 1;
  double mtbf_s = 0.0;  ///< of the training
  double checkpoint_s = 60.0;
  double restart_s = 300.0;

  double interval_s() const { return training::daly_interval_s(mtbf_s, checkpoint_s); }
  double formula() const { return tests::checkpoint_efficiency(interval_s(), mtbf_s, checkpoint_s, restart_s); }
  /// The goodput to first order in the failures: each costs the restart and half an interval.
  double first_order() const {
    const double cycle_s = interval_s() + checkpoint_s;
    return 1.0 - checkpoint_s / cycle_s - (restart_s + cycle_s / 2.0) / mtbf_s;
  }
  /// The goodput of ten simulated trainings that each compute for 54 days; a repaired server is there at once.
  double simulated() const {
    cluster::ExponentialFailures failures;
    failures.mean_s = mtbf_s * servers;
    cluster::ConstantRepair repair;
    repair.time_s = 1.0;
    const double work_s = 54.0 * day_s;
    double useful_s = 0.0, all_s = 0.0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const FleetOutcome outcome = simulate({.hosts = servers,
                                             .spares = 8,
                                             .horizon_s = 10.0 * work_s,
                                             .until_done = true,
                                             .restart_s = restart_s,
                                             .checkpoint_s = checkpoint_s},
                                            {.failures = failures, .repair = repair, .seed = seed},
                                            {{.hosts = servers, .work_s = work_s, .interval_s = interval_s()}});
      REQUIRE(outcome.jobs.front().end_s);
      useful_s += work_s;
      all_s += outcome.end_s;
    }
    return useful_s / all_s;
  }
};

}  // namespace

/// Sources: A. Kokolis et al., "Revisiting Reliability in Large-Scale Machine Learning Research Clusters", 2024: 6.5
/// failures of a server of RSC-1 in 1,000 days, and 7.9 hours between failures of trainings on 1,024 GPUs; Llama Team,
/// "The Llama 3 Herd of Models", 2024: 419 unexpected interruptions in 54 days on 16,384 GPUs, and more than 90 % of
/// the time useful.
TEST_CASE("the goodput of Llama 3 and of RSC by simulation is within 2 % of the formulas") {
  const Published rsc_large{.name = "RSC-1, 16,384 GPUs", .servers = 2048, .mtbf_s = 1000.0 / 6.5 / 2048.0 * day_s};
  const Published rsc_small{.name = "RSC, 1,024 GPUs", .servers = 128, .mtbf_s = 7.9 * hour_s};
  const Published llama{.name = "Llama 3", .servers = 2048, .mtbf_s = 54.0 / 419.0 * day_s, .checkpoint_s = 5.0};
  CHECK(rsc_large.mtbf_s == Approx(1.8 * hour_s).epsilon(0.002));
  CHECK(rsc_small.formula() == Approx(0.9266).epsilon(1e-4));
  for (const Published& each : {rsc_large, rsc_small, llama}) {
    CAPTURE(each.name);
    const double simulated = each.simulated();
    CHECK(simulated == Approx(each.formula()).epsilon(0.01));
    CHECK(simulated == Approx(each.first_order()).epsilon(0.02));
  }
  CHECK(llama.simulated() > 0.9);
}

}  // namespace published_goodput_test
