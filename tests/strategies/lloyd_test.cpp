// MapReduce's k-means: Lloyd's algorithm as one writes it down, whatever the splits.
#include <memory>

#include "catch.h"
#include "cluster/fabric/cluster.h"
#include "models/k_means.h"
#include "simulation.h"
#include "strategies/mapreduce_programs.h"

namespace lloyd_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr std::int64_t rows = 60;
constexpr std::int64_t d = 2;
constexpr std::int64_t k = 3;
constexpr std::int64_t steps = 8;
const models::Problem problem{.features = d, .classes = 0};

std::shared_ptr<const models::KMeans> three_clusters() {
  auto model = std::make_shared<models::KMeans>();
  model->clusters = k;
  return model;
}

/// Rows around (0, 3), (3, 0) and (-3, -3).
std::shared_ptr<const data::Split> three_heaps() {
  auto split = std::make_shared<data::Split>();
  split->train = linear_data(rows, d, 7);
  const double centres[3][2] = {{0, 3}, {3, 0}, {-3, -3}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < d; ++j)
      split->train.features[static_cast<std::size_t>(i * d + j)] += centres[i % 3][j];
  return split;
}

struct Clustered {
  std::vector<double> losses;
  double simulated_s = 0.0;
};

Clustered clustered(const MapReduceOptions& options, bool numbers = true) {
  const std::vector<double> all = numbers_of_child([&] {
    training::Program program = mapreduce(options);
    cluster::Options star = ideal_star();
    cluster::Cluster hosts(star, 4 + program.traits(4).servers);
    values::Dispatcher dispatcher({.numbers = numbers, .label = {}});
    const training::Learning learning({.data = numbers ? three_heaps() : nullptr,
                                       .model = three_clusters(),
                                       .problem = problem,
                                       .rows = rows,
                                       .batch = rows},
                                      dispatcher);
    training::Training::Setup setup;
    setup.stop.steps = steps;
    setup.evaluate.every_steps = 1;
    training::Training job(hosts, learning, program, setup, 4);
    job.start();
    hosts.run();
    const record::Record record = job.take_record();
    std::vector<double> answer{record.simulated_s};
    for (const auto& row : record.curve) answer.push_back(row.loss.value_or(0.0));
    return answer;
  });
  return {{all.begin() + 1, all.end()}, all.front()};
}

/// Assign, average, and again.
std::vector<double> lloyd() {
  const auto split = three_heaps();
  std::vector<double> w(k * d);
  three_clusters()->initial_values(problem, 1, w);
  std::vector<double> losses;
  for (std::int64_t step = 0; step <= steps; ++step) {
    double loss = 0.0;
    std::vector<double> sums(k * d);
    std::vector<double> counts(k);
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto x = split->train.row(i);
      std::size_t nearest = 0;
      double least = 1e300;
      for (std::size_t c = 0; c < k; ++c) {
        double distance = 0.0;
        for (std::size_t j = 0; j < d; ++j) distance += (x[j] - w[c * d + j]) * (x[j] - w[c * d + j]);
        if (distance < least) {
          least = distance;
          nearest = c;
        }
      }
      loss += 0.5 * least / rows;
      ++counts[nearest];
      for (std::size_t j = 0; j < d; ++j) sums[nearest * d + j] += x[j];
    }
    losses.push_back(loss);
    for (std::size_t c = 0; c < k; ++c)
      for (std::size_t j = 0; j < d && counts[c] > 0.0; ++j) w[c * d + j] = sums[c * d + j] / counts[c];
  }
  return losses;
}

}  // namespace

TEST_CASE("the k-means job is Lloyd's algorithm, with splits, copies and without a combiner, too") {
  const std::vector<double> expected = lloyd();
  CHECK(expected.back() < 0.5 * expected.front());
  for (const bool combiner : {true, false})
    for (const int splits : {1, 3})
      for (const bool speculative : {false, true}) {
        if (speculative && splits == 1) continue;
        const Clustered found = clustered(
            {.job = strategies::Job::k_means, .combiner = combiner, .splits = splits, .speculative = speculative});
        REQUIRE(found.losses.size() == expected.size());
        for (std::size_t step = 0; step < expected.size(); ++step)
          CHECK(found.losses[step] == Approx(expected[step]).epsilon(1e-12));
      }
}

TEST_CASE(
    "a round of k-means takes its assignments, k d numbers out, k (d + 1) back, their additions and k d divisions") {
  constexpr int P = 4;
  const double assign_s = three_clusters()->assignment_flops(problem, rows / P) / speed;
  for (const bool combiner : {true, false}) {
    // Without a combiner every row sends itself and a one.
    const double back = combiner ? P * k * (d + 1) : rows * (d + 1);
    const double bytes = 8.0 * (P * k * d + back);
    const double step = assign_s + 2 * alpha + bytes / B + (back + k * d) / speed;
    for (const bool numbers : {true, false})
      CHECK(clustered({.job = strategies::Job::k_means, .combiner = combiner}, numbers).simulated_s ==
            Approx(steps * step).epsilon(1e-9));
  }
}

}  // namespace lloyd_test
