// Measures the cost of simulating disturbances of the cluster: the real time of a run with each kind, divided by that
// of the run without.
//
// weather_bench SCENARIO [rounds]        (tests/bench/weather.toml)
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure.h"
#include "experiment/plan/plan.h"
#include "experiment/run/simulate.h"
#include "simulation.h"

using namespace simgrad;

namespace {

experiment::Plan plan_of(const char* file, std::vector<std::string> sets) {
  experiment::Selection selection;
  selection.sets = std::move(sets);
  selection.baselines = false;
  return experiment::make_plan(file, selection);
}

double real_s(const experiment::RunPlan& run, const experiment::Data& data) {
  return tests::numbers_of_child([&] {
    const auto start = std::chrono::steady_clock::now();
    experiment::simulate(run, data, 0, nullptr);
    return std::vector{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  })[0];
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // children must not inherit unwritten lines
  if (argc < 2) return std::fputs("usage: weather_bench SCENARIO [rounds]\n", stderr), 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const experiment::Data data = experiment::load_data(plan_of(argv[1], {}).runs.front());
  // Ranks that come one after the other cost SimGrid more than ranks that come together, whatever makes them differ:
  // the cost of drawing is seen beside workers of different speeds.
  std::string uneven = "cluster.relative_speeds=[1";
  for (std::int64_t rank = 1; rank < plan_of(argv[1], {}).runs.front().settings->cluster.workers; ++rank)
    uneven += fmt::format(",{}", 1.0 - 0.004 * static_cast<double>(rank * 37 % 97));
  uneven += "]";
  const std::string drawn = "cluster.stragglers={kind=\"log_normal\",sigma=0.5}";
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> pairs{
      {{}, {"cluster.stragglers=none"}}, {{}, {drawn}}, {{uneven}, {uneven, drawn}}};
  const char* names[] = {"none", "log_normal", "log_normal, both with workers of uneven speeds"};
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const experiment::Plan calm = plan_of(argv[1], pairs[k].first);
    const experiment::Plan plan = plan_of(argv[1], pairs[k].second);
    for (std::size_t i = 0; i < plan.runs.size(); ++i) {
      std::vector<double> ratios;
      for (int round = 0; round < rounds; ++round) {
        // Which one comes first alternates: a machine warms up, and slows down.
        const double first = real_s(round % 2 ? calm.runs[i] : plan.runs[i], data);
        const double second = real_s(round % 2 ? plan.runs[i] : calm.runs[i], data);
        ratios.push_back(round % 2 ? second / first : first / second);
      }
      fmt::print("{}, {}: {:.3f} x (median of {})\n", plan.runs[i].label, names[k], bench::median(ratios), rounds);
    }
  }
}
