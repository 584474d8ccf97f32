// Reductions of the workers' gradients: on small vectors by hand, and in trainings against plain recursions.
#include <algorithm>
#include <limits>
#include <numbers>

#include "strategies/fragile.h"
#include "strategies/reductions/krum.h"
#include "strategies/reductions/order_statistics.h"

namespace reductions_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Reduce;
using Vectors = std::vector<std::vector<double>>;

namespace {

Reduce reduce_by(std::string_view kind) { return {strategies::reductions(), kind}; }

Reduce trimmed(double trim) {
  auto mean = std::make_unique<strategies::TrimmedMean>();
  mean->trim = trim;
  return {strategies::reductions(), std::move(mean)};
}

Reduce krum(std::optional<std::int64_t> faulty, std::int64_t selected = 1) {
  auto reduction = std::make_unique<strategies::Krum>();
  reduction->faulty = faulty;
  reduction->selected = selected;
  return {strategies::reductions(), std::move(reduction)};
}

std::vector<double> result_of(const Reduce& reduce, const Vectors& vectors) {
  std::vector<std::span<const double>> inputs;
  for (const std::vector<double>& vector : vectors) inputs.emplace_back(vector);
  std::vector<double> result(vectors.front().size());
  reduce->kernel()(inputs, result);
  return result;
}

training::Program server_with(const Reduce& reduce) {
  auto strategy = std::make_shared<strategies::ParameterServer>();
  strategy->reduce = reduce;
  return strategies::program(strategy);
}

Trial least_squares(training::Program program, int workers = 5) {
  Trial trial{.program = std::move(program), .workers = workers, .rows = 16 * workers, .features = 6};
  trial.stop.steps = 30;
  return trial;
}

/// Workers 1 and 2 are faulty, or those that are named.
template <class Fault>
Trial attacked(Trial trial, Fault fault, std::vector<double> workers = {1, 2}) {
  fault.workers = std::move(workers);
  trial.cluster.faulty = {cluster::faulty_workers(), std::make_unique<Fault>(std::move(fault))};
  return trial;
}

cluster::SignFlip flipped(double times) {
  cluster::SignFlip fault;
  fault.times = times;
  return fault;
}

/// The gradient of each worker's mean loss; faulty ones hand over a multiple of it.
Vectors gradients(const Trial& trial, const std::vector<double>& w, double multiple = 1.0) {
  const data::Dataset set = trial.data().train;
  const training::Batches batches = trial.batches();
  Vectors all;
  std::int64_t first = 0;
  for (int r = 0; r < trial.workers; ++r) {
    const std::int64_t rows = batches.rows_of(r, trial.workers);
    all.push_back(gradient_of(trial, set, {first, rows, {}}, w, 1.0 / static_cast<double>(rows)));
    if (r == 1 || r == 2)
      for (double& g : all.back()) g *= multiple;
    first += rows;
  }
  return all;
}

/// w after so many steps along the results of reduce(gradients).
template <class ReduceThem>
std::vector<double> recursion(const Trial& trial, double multiple, ReduceThem reduce) {
  std::vector<double> w(static_cast<std::size_t>(trial.features));
  for (std::int64_t step = 0; step < *trial.stop.steps; ++step) {
    const std::vector<double> g = reduce(gradients(trial, w, multiple));
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= trial.training.learning_rate * g[j];
  }
  return w;
}

std::vector<double> at_each_place(const Vectors& vectors, double (*reduce)(std::vector<double>)) {
  std::vector<double> result;
  for (std::size_t j = 0; j < vectors.front().size(); ++j) {
    std::vector<double> numbers;
    for (const std::vector<double>& vector : vectors) numbers.push_back(vector[j]);
    std::ranges::sort(numbers);
    result.push_back(reduce(numbers));
  }
  return result;
}

std::vector<double> medians(const Vectors& vectors) {
  return at_each_place(vectors, [](std::vector<double> sorted) {
    const std::size_t n = sorted.size();
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  });
}

double largest_loss(const Outcome& outcome) {
  double most = 0.0;
  for (const auto& row : outcome.record.curve) most = std::max(most, row.loss.value_or(0.0));
  return most;
}

}  // namespace

TEST_CASE("the median of an odd number is the middle one, of an even number the mean of the middle two") {
  CHECK(result_of(reduce_by("median"), {{5, -1}, {1, 7}, {3, 1e9}}) == std::vector<double>{3, 7});
  CHECK(result_of(reduce_by("median"), {{5, 4}, {1, 4}, {4, -9}, {100, 6}}) == std::vector<double>{4.5, 4});
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  CHECK(result_of(reduce_by("median"), {{nothing}, {1}, {2}}) == std::vector<double>{2});
}

TEST_CASE("a trimmed mean leaves out as many of the largest as of the smallest numbers") {
  // Two numbers of 1 .. 8, -1000 and 1000 are left out at either end: the mean is that of 2 .. 7.
  const Vectors numbers{{3}, {1000}, {1}, {8}, {-1000}, {2}, {7}, {5}, {4}, {6}};
  CHECK(result_of(trimmed(0.2), numbers) == std::vector<double>{4.5});
  CHECK(result_of(trimmed(0.29), numbers) == std::vector<double>{4.5});
  CHECK(result_of(trimmed(0.0), numbers) == std::vector<double>{3.6});
  // 0.29 of 100 numbers are 29: of the squares of 0 .. 99 the mean of those of 29 .. 70, (116795 - 7714) / 42, be the
  // largest whatever it is.
  Vectors many;
  for (int i = 0; i < 99; ++i) many.push_back({static_cast<double>(i * i)});
  many.push_back({1e9});
  CHECK(result_of(trimmed(0.29), many)[0] == Approx(109081.0 / 42).epsilon(1e-15));
}

TEST_CASE("min, max and sum are those of the numbers at each place") {
  const Vectors numbers{{1, 9}, {-4, 2}, {6, 5}};
  CHECK(result_of(reduce_by("min"), numbers) == std::vector<double>{-4, 2});
  CHECK(result_of(reduce_by("max"), numbers) == std::vector<double>{6, 9});
  CHECK(result_of(reduce_by("sum"), numbers) == std::vector<double>{3, 16});
}

TEST_CASE("krum takes the gradient that is nearest to its P - f - 2 neighbours, and multi-krum the mean of several") {
  // On a line: 0, 1, 3, 7, 100. With f = 1 two neighbours count: the scores are 1 + 9, 1 + 4, 4 + 9, 16 + 36 and
  // 93^2 + 97^2. With f = 0 it is three: 59, 41, 4 + 9 + 16 = 29, 16 + 36 + 49, ...
  const Vectors line{{0}, {1}, {3}, {7}, {100}};
  CHECK(result_of(krum(1), line) == std::vector<double>{1});
  CHECK(result_of(krum(0), line) == std::vector<double>{3});
  CHECK(result_of(krum({}), line) == std::vector<double>{1});  // (P - 3) / 2
  CHECK(result_of(krum(1, 2), line) == std::vector<double>{0.5});
  CHECK(result_of(krum(1, 3), line)[0] == Approx(4.0 / 3).epsilon(1e-15));
  // In the plane the whole vector is near or far: (0, 9) is near at its first place alone.
  CHECK(result_of(krum(1), {{0, 9}, {5, 0}, {5.5, 0}, {6.5, 0}, {0, -9}}) == std::vector<double>{5.5, 0});
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  CHECK(result_of(krum(1), {{nothing}, {1}, {3}, {7}, {0}}) == std::vector<double>{1});
}

TEST_CASE("a server's step goes along the median of the workers' mean gradients, however unequal their rows") {
  for (const int workers : {5, 6})
    for (const char* partition : {"contiguous", "quantity"}) {
      Trial trial = attacked(least_squares(server_with(reduce_by("median")), workers), flipped(3.0));
      trial.training.partition.choose(partition);
      CAPTURE(workers, partition);
      CHECK(relative_distance(trial.run().final_parameters(), recursion(trial, -3.0, medians)) < 1e-12);
    }
}

TEST_CASE("a server's step goes along the gradient that krum takes, the sum, and the trimmed mean") {
  const Trial base = attacked(least_squares(mapreduce()), flipped(2.0));
  const auto end = [&](const Reduce& reduce) {
    Trial trial = base;
    trial.program = server_with(reduce);
    return trial.run().final_parameters();
  };
  const auto nearest = [](const Vectors& g) {  // one of five may be faulty: two neighbours count
    std::vector<double> scores;
    for (const auto& a : g) {
      std::vector<double> distances;
      for (const auto& b : g) {
        double sum = 0.0;
        for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
        distances.push_back(sum);
      }
      std::ranges::sort(distances);
      scores.push_back(distances[1] + distances[2]);  // its own is the first
    }
    return g[static_cast<std::size_t>(std::ranges::min_element(scores) - scores.begin())];
  };
  CHECK(relative_distance(end(krum(1)), recursion(base, -2.0, nearest)) < 1e-12);
  const auto sums = [](const Vectors& g) {
    return at_each_place(g, [](std::vector<double> numbers) {
      double sum = 0.0;
      for (const double number : numbers) sum += number;
      return sum;
    });
  };
  CHECK(relative_distance(end(reduce_by("sum")), recursion(base, -2.0, sums)) < 1e-12);
  const auto middle_three = [](const Vectors& g) {
    return at_each_place(g, [](std::vector<double> sorted) { return (sorted[1] + sorted[2] + sorted[3]) / 3; });
  };
  CHECK(relative_distance(end(trimmed(0.2)), recursion(base, -2.0, middle_three)) < 1e-12);
}

TEST_CASE("mapreduce, its splits, shards, buckets and late gradients reduce as one server does, bit for bit") {
  Trial trial = attacked(least_squares(server_with(reduce_by("median"))), flipped(3.0));
  trial.layers = 3;
  const std::vector<double> expected = trial.run().final_parameters();
  const auto with = [&](auto strategy) {
    strategy.reduce = reduce_by("median");
    trial.program = strategies::program(std::make_shared<decltype(strategy)>(std::move(strategy)));
    return trial.run().final_parameters();
  };
  strategies::ParameterServer servers;
  servers.shards = 3;
  CHECK(with(servers) == expected);
  servers.bucket_bytes = 8.0;
  CHECK(with(servers) == expected);
  strategies::MapReduce job;
  CHECK(with(job) == expected);
  job.reducers = 2;
  CHECK(with(job) == expected);
  job.bucket_bytes = 8.0;
  CHECK(with(job) == expected);
  // All five gradients are in time: nobody is late.
  strategies::ParameterServer first;
  first.k_batch = 5;
  CHECK(with(first) == expected);
}

TEST_CASE("each split's gradient is one of those that mapreduce reduces") {
  strategies::MapReduce job;
  job.splits = 2;
  job.reduce = reduce_by("max");
  Trial trial = least_squares(strategies::program(std::make_shared<strategies::MapReduce>(job)), 2);
  trial.stop.steps = 1;
  Trial four = trial;  // the splits are the shares of four workers
  four.workers = 4;
  const auto largest = [](const Vectors& g) {
    return at_each_place(g, [](std::vector<double> sorted) { return sorted.back(); });
  };
  CHECK(relative_distance(trial.run().final_parameters(), recursion(four, 1.0, largest)) < 1e-12);
}

TEST_CASE("federated averaging with one local step of all workers is a server's training, by the median, too") {
  for (const char* kind : {"median", "trimmed_mean", "krum"}) {
    const Trial trial = attacked(least_squares(server_with(reduce_by(kind))), flipped(3.0));
    strategies::FederatedAveraging averaging;
    averaging.local_steps = 1;
    averaging.reduce = reduce_by(kind);
    Trial rounds = trial;
    rounds.program = federated(averaging);
    CAPTURE(kind);
    CHECK(relative_distance(rounds.run().final_parameters(), trial.run().final_parameters()) < 1e-12);
  }
}

TEST_CASE("two of ten workers that send flipped gradients spoil the mean, and no robust reduction") {
  const Trial honest = least_squares(server_with(reduce_by("mean")), 10);
  const Outcome undisturbed = honest.run();
  const auto end = [&](const Reduce& reduce) {
    Trial trial = attacked(honest, flipped(10.0));
    trial.program = server_with(reduce);
    return trial.run();
  };
  CHECK(largest_loss(end(reduce_by("mean"))) > 100 * largest_loss(undisturbed));
  for (const Reduce& robust : {reduce_by("median"), trimmed(0.2), krum(2), krum(2, 5)})
    CHECK(relative_distance(end(robust).final_parameters(), undisturbed.final_parameters()) < 0.15);
}

TEST_CASE("a reduction takes the flops that its cost says, after P n for the workers' weights") {
  constexpr double n = 10'000, P = 5;
  const auto step_s = [&](const Reduce& reduce) {
    Trial trial = least_squares(server_with(reduce));
    trial.features = 10'000;
    trial.stop.steps = 2;
    trial.training.numbers = false;
    return trial.run().record.simulated_s / 2 - trial.gradient_s() - 2 * (alpha + P * 8 * n / B) - 2 * n / speed;
  };
  const double selecting = 2 * (1 + std::numbers::ln2);
  CHECK(step_s(reduce_by("mean")) == Approx(P * n / speed).epsilon(1e-9));
  for (const char* kind : {"sum", "min", "max"})
    CHECK(step_s(reduce_by(kind)) == Approx(2 * P * n / speed).epsilon(1e-9));
  CHECK(step_s(reduce_by("median")) == Approx((1 + selecting) * P * n / speed).epsilon(1e-9));
  CHECK(step_s(trimmed(0.2)) == Approx(((1 + 2 * selecting) * P + P - 2) * n / speed).epsilon(1e-9));
  CHECK(step_s(trimmed(0.1)) == Approx(2 * P * n / speed).epsilon(1e-9));  // nothing is left out
  const double distances = 3 * n * P * (P - 1) / 2, scores = P * (P - 1) * std::log2(P);
  CHECK(step_s(krum(1)) == Approx((P * n + distances + scores) / speed).epsilon(1e-9));
  CHECK(step_s(krum(1, 3)) == Approx((P * n + distances + scores + 3 * n) / speed).epsilon(1e-9));
}

TEST_CASE("with numbers or without a reduction takes as long") {
  for (const Reduce& reduce : {reduce_by("median"), trimmed(0.2), krum(1)}) {
    Trial trial = least_squares(server_with(reduce));
    const double with_numbers_s = trial.run().record.simulated_s;
    trial.training.numbers = false;
    CHECK(trial.run().record.simulated_s == Approx(with_numbers_s).epsilon(1e-9));
  }
}

TEST_CASE("a robust reduction holds all gradients at the server, and the others one") {
  const auto server_holds = [](const Reduce& reduce) {
    Trial trial = least_squares(server_with(reduce));
    const record::Record record = trial.run().record;
    return record.ranks.back().memory[static_cast<std::size_t>(record::MemoryPart::gradients)].value();
  };
  strategies::ParameterServer strategy;
  for (const char* kind : {"mean", "sum", "min", "max", "median", "trimmed_mean", "krum"}) {
    strategy.reduce = reduce_by(kind);
    const bool robust = std::string_view(kind) == "median" || std::string_view(kind) == "trimmed_mean" ||
                        std::string_view(kind) == "krum";
    CAPTURE(kind);
    CHECK(server_holds(strategy.reduce) == 8 * 6 * (robust ? 5 : 1));
    CHECK(strategy.traits(5).gradients_held == (robust ? 5 : 1));
  }
}

TEST_CASE("the median is that of the numbers that travel, where these are rounded") {
  Trial trial = attacked(least_squares(server_with(reduce_by("median"))), flipped(3.0));
  trial.training.wire = training::Wire::float32;
  const auto as_float = [](std::vector<double> numbers) {
    for (double& number : numbers) number = static_cast<double>(static_cast<float>(number));
    return numbers;
  };
  const data::Dataset set = trial.data().train;
  std::vector<double> w(6);
  for (int step = 0; step < 30; ++step) {
    Vectors all;
    for (int r = 0; r < 5; ++r) {
      std::vector<double> part = gradient_of(trial, set, {16 * r, 16, {}}, as_float(w), 1.0 / 80);
      for (double& number : part) number *= r == 1 || r == 2 ? -3.0 : 1.0;
      part = as_float(part);
      for (double& number : part) number *= 5.0;
      all.push_back(part);
    }
    const std::vector<double> g = medians(all);
    for (std::size_t j = 0; j < 6; ++j) w[j] -= trial.training.learning_rate * g[j];
  }
  CHECK(relative_distance(trial.run().final_parameters(), w) < 1e-12);
}

TEST_CASE("the network changes no number of a robust training") {
  for (const char* kind : {"median", "trimmed_mean", "krum"}) {
    Trial trial = attacked(least_squares(server_with(reduce_by(kind))), cluster::RandomGradients());
    const std::vector<double> expected = trial.run().final_parameters();
    trial.cluster.network_model = cluster::NetworkModel::tcp;
    CHECK(trial.run().final_parameters() == expected);
    trial.cluster.network_model = cluster::NetworkModel::ideal;
    trial.cluster.topology.choose("two_tier");
    CHECK(trial.run().final_parameters() == expected);
  }
}

TEST_CASE("a training with faulty workers that crashes goes on as the undisturbed one, bit for bit") {
  const auto random = [](Trial trial) { return attacked(std::move(trial), cluster::RandomGradients()); };
  for (const char* kind : {"median", "krum"}) {
    const Trial trial = random(fragile(server_with(reduce_by(kind))));
    const Outcome undisturbed = trial.run();
    const Outcome outcome = with_crashes(trial, {crash(3, undisturbed.record.curve[10].simulated_s + 0.5 * t_c)}).run();
    check_sound(outcome.record);
    CHECK(outcome.final_parameters() == undisturbed.final_parameters());
  }
}

TEST_CASE("threads that compute the numbers do not change them") {
  for (const Reduce& reduce : {reduce_by("median"), krum(1)}) {
    Trial trial = attacked(least_squares(server_with(reduce)), cluster::RandomGradients());
    const std::vector<double> alone = trial.run().final_parameters();
    trial.threads = 3;
    CHECK(trial.run().final_parameters() == alone);
  }
}

}  // namespace reductions_test
