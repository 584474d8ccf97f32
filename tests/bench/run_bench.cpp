// The whole run against its own kernel in a plain loop: what simulating costs, and what threads for the numbers gain.
//
// run_bench SCENARIO [rounds]        (tests/bench/full_batch.toml)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/measure.h"
#include "experiment/plan/plan.h"
#include "experiment/run/simulate.h"
#include "simulation.h"
#include "training/learning/batches.h"

using namespace simgrad;

namespace {

double real_s(const std::function<void()>& body) {
  return tests::numbers_of_child([&] {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::vector{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  })[0];
}

/// Computes the gradients, sums and updates of the run one after the other, with the loss at both ends.
void plain_loop(const experiment::RunPlan& run, const data::Split& data) {
  const experiment::Settings& settings = *run.settings;
  const models::Model& model = *settings.model.model;
  const models::Problem problem{data.train.columns, data.train.classes};
  const auto d = static_cast<std::size_t>(model.parameters(problem));
  std::vector<double> w(d, 0.0);
  std::vector<double> part(d);
  std::vector<double> g(d);
  models::Samples all{
      data.train.features.data(), data.train.targets.data(), data.train.columns, 0, data.train.rows, nullptr};
  double loss = model.score(problem, all, w).loss;
  for (std::int64_t step = 0; step < *settings.stop.steps; ++step) {
    std::fill(g.begin(), g.end(), 0.0);
    for (std::int64_t r = 0; r < run.workers; ++r) {
      models::Samples rows = all;
      rows.first = training::stretch(all.count, r, run.workers);
      rows.count = training::stretch(all.count, r + 1, run.workers) - rows.first;
      model.gradient(problem, rows, w, 1.0 / static_cast<double>(all.count), 0.0, part);
      for (std::size_t i = 0; i < d; ++i) g[i] += part[i];
    }
    for (std::size_t i = 0; i < d; ++i) w[i] -= settings.training.learning_rate * g[i];
  }
  loss += model.score(problem, all, w).loss;
  if (!(loss > 0.0)) std::abort();  // the loop must not be optimised away
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // children must not inherit unwritten lines
  if (argc < 2) return std::fputs("usage: run_bench SCENARIO [rounds]\n", stderr), 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  experiment::Selection selection;
  selection.baselines = false;
  const experiment::Plan plan = experiment::make_plan(argv[1], selection);
  const experiment::Data data = experiment::load_data(plan.runs.front());
  for (const experiment::RunPlan& run : plan.runs) {
    std::vector<double> loop;
    std::vector<double> inline_ratio;
    std::vector<double> pool_ratio;
    for (int i = 0; i < rounds; ++i) {
      loop.push_back(real_s([&] { plain_loop(run, *data); }));
      inline_ratio.push_back(real_s([&] { experiment::simulate(run, data, 0, nullptr); }) / loop.back());
      pool_ratio.push_back(real_s([&] { experiment::simulate(run, data, 2, nullptr); }) / loop.back());
    }
    fmt::print(
        "{}: plain loop {:.2f} s; the run with --threads 0: {:.2f} x, with --threads 2: {:.2f} x (medians of {})\n",
        run.label, bench::median(loop), bench::median(inline_ratio), bench::median(pool_ratio), rounds);
  }
}
