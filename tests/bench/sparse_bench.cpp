/// Samples a second of an asynchronous sparse parameter server against those of a plain loop over the same rows, and
/// the memory that it takes against the data's. Numbers on one thread, seconds of the processor.
///
///     sparse_bench [features [samples [nonzeros [workers [rows a batch and worker [servers]]]]]]
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "cluster/fabric/cluster.h"
#include "data/click_log.h"
#include "models/sparse_model.h"
#include "simulation.h"
#include "strategies/servers/sparse_parameter_server.h"
#include "training/session/training.h"

namespace {

using namespace simgrad;

/// Returns the processor time: both sides have one thread, and other programs' turns are nobody's.
double now_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// Stochastic gradient descent, row by row, as one would write it down.
/// order: which row comes when; empty: as they stand.
double plain_loop_s(const data::Dataset& set, double learning_rate, const std::vector<std::int64_t>& order) {
  std::vector<double> w(static_cast<std::size_t>(set.columns), 0.0);
  const double start = now_s();
  for (std::size_t i = 0; i < set.targets.size(); ++i) {
    const std::size_t row = order.empty() ? i : static_cast<std::size_t>(order[i]);
    const std::uint32_t* const first = set.sparse.keys.data() + set.sparse.starts[row];
    const std::uint32_t* const last = set.sparse.keys.data() + set.sparse.starts[row + 1];
    double s = 0.0;
    for (const std::uint32_t* key = first; key < last; ++key) s += w[*key];
    const double r = learning_rate * models::logistic_slope(s, set.targets[row]);
    for (const std::uint32_t* key = first; key < last; ++key) w[*key] -= r;
  }
  return now_s() - start;
}

double simulated_s(const std::shared_ptr<const data::Split>& data, int workers, std::int64_t rows_a_worker,
                   std::int64_t servers, double epochs) {
  const auto strategy = std::make_shared<strategies::SparseParameterServer>();
  strategy->consistency = strategies::Consistency::asp;
  strategy->shards = servers;
  if (servers > 1) strategy->dealt_by = training::Sharding::hash;
  training::Program program = strategies::program(strategy);
  const std::shared_ptr<const models::Model> model = models::registry().find("sparse_logistic")->make();
  values::Dispatcher dispatcher({.threads = 0, .numbers = true, .label = {}});
  cluster::Options options;
  options.host_spec = {.speed_flops_per_s = 1e9, .bandwidth_bytes_per_s = 1.25e9, .latency_s = 50e-6};
  cluster::Cluster hosts(options, program.traits(workers).hosts_needed(workers), program.traits(workers).many_to_many);
  const data::Dataset& train = data->train;
  const training::Learning learning(
      {.data = data,
       .model = model,
       .problem = {.features = train.columns,
                   .classes = 2,
                   .nonzeros = static_cast<double>(train.sparse.entries()) / static_cast<double>(train.rows),
                   .fields = train.fields},
       .rows = train.rows,
       .batch = rows_a_worker * workers,
       .evaluate_on = training::EvaluationSet::test,
       .seed = 1},
      dispatcher);
  training::Options how;
  how.learning_rate = 2.0;
  training::StopOptions stop;
  stop.epochs = epochs;
  training::EvaluateOptions evaluate;
  evaluate.every_steps = 1'000'000'000;
  evaluate.on = training::EvaluationSet::test;
  training::Training training(hosts, learning, std::move(program), {how, stop, evaluate}, workers);
  const double start = now_s();
  training.start();
  hosts.run();
  const double took = now_s() - start;
  const record::Record record = training.take_record();
  std::printf("  loss on other rows %.4f -> %.4f, %lld updates, %.3g s simulated, staleness %.1f\n",
              *record.curve.front().loss, *record.final_loss, static_cast<long long>(record.steps), record.simulated_s,
              record.staleness_mean.value_or(0.0));
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, std::int64_t otherwise) { return argc > i ? std::atoll(argv[i]) : otherwise; };
  data::ClickLog log;
  log.fields = argument(3, 40);
  auto data = std::make_shared<data::Split>();
  const auto made = [&](std::uint64_t seed, std::int64_t samples) {
    return log.load(
        {.task = data::Task::classification, .seed = seed, .samples = samples, .features = argument(1, 10'000'000)});
  };
  double start = now_s();
  data->train = made(1, argument(2, 1'000'000));
  data->test = made(1, 10'000);
  std::printf("made in %.1f s\n", now_s() - start);
  const auto rows = static_cast<double>(data->train.rows);
  const double data_bytes = 4.0 * static_cast<double>(data->train.sparse.entries()) + 16.0 * rows;
  // The rows in the order in which a run takes them: a permutation by the seed.
  const base::Permutation permutation({.seed = 1, .purpose = base::Purpose::batch},
                                      static_cast<std::uint64_t>(data->train.rows));
  std::vector<std::int64_t> order(static_cast<std::size_t>(data->train.rows));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(permutation(i));
  const double as_they_stand_s = std::min(plain_loop_s(data->train, 0.05, {}), plain_loop_s(data->train, 0.05, {}));
  const double plain_s = std::min(plain_loop_s(data->train, 0.05, order), plain_loop_s(data->train, 0.05, order));
  std::fflush(stdout);
  std::printf("plain loop: %.0f samples/s; over rows as they stand: %.0f\n", rows / plain_s, rows / as_they_stand_s);
  std::fflush(stdout);
  // A run's beginning and end are in both.
  const auto child = [&](double epochs) {
    return tests::numbers_of_child([&] {
      const double took =
          simulated_s(data, static_cast<int>(argument(4, 16)), argument(5, 512), argument(6, 1), epochs);
      std::fflush(stdout);
      return std::vector<double>{took, peak_bytes()};
    });
  };
  const std::vector<double> one = child(1.0), three = child(3.0);
  const double took_s = (three[0] - one[0]) / 2.0;
  std::printf("simulated: %.2f s for one epoch, %.2f s for three\n", one[0], three[0]);
  std::printf("simulated: %.0f samples/s, %.2f of the plain loop's (%.2f as they stand)\n", rows / took_s,
              plain_s / took_s, as_they_stand_s / took_s);
  const double peak = std::max(peak_bytes(), three[1]);
  std::printf("memory: %.0f MB at most, %.2f of the data's %.0f MB\n", peak / 1e6, peak / data_bytes, data_bytes / 1e6);
  return 0;
}
