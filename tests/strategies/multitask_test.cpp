// Joint training: the shared layers by all, every task's outputs by its own group, as one would write it down.
#include <cmath>
#include <memory>

#include "cluster/fabric/cluster.h"
#include "models/multitask_perceptron.h"
#include "strategies/compressed.h"
#include "strategies/programs.h"

namespace multitask_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::task_group;
using strategies::task_groups;

namespace {

constexpr std::int64_t rows = 48;
constexpr std::int64_t d = 3;
constexpr int T = 3;
constexpr std::int64_t steps = 6;
constexpr double rate = 0.2;
const models::Problem problem{.features = d, .classes = T};

std::shared_ptr<const models::MultitaskPerceptron> network() {
  auto model = std::make_shared<models::MultitaskPerceptron>();
  model->hidden = {4.0};
  model->activation = models::Activation::tanh;
  return model;
}

std::shared_ptr<const data::Split> three_classes() {
  auto split = std::make_shared<data::Split>();
  split->train = linear_data(rows, d, 7);
  split->train.classes = T;
  for (std::int64_t i = 0; i < rows; ++i) {
    split->train.targets[static_cast<std::size_t>(i)] = static_cast<double>(i % T);
    split->train.features[static_cast<std::size_t>(i * d + i % T)] += 2.0;
  }
  return split;
}

/// The losses of every step, then the time.
std::vector<double> trained(const training::Program& program, int P, bool numbers = true) {
  return numbers_of_child([&] {
    cluster::Cluster hosts(ideal_star(), P);
    values::Dispatcher dispatcher({.numbers = numbers, .label = {}});
    training::Learning::Setup problem_setup;
    problem_setup.data = numbers ? three_classes() : nullptr;
    problem_setup.model = network();
    problem_setup.problem = problem;
    problem_setup.rows = problem_setup.batch = rows;
    const training::Learning learning(std::move(problem_setup), dispatcher);
    training::Training::Setup setup;
    setup.options.learning_rate = rate;
    setup.stop.steps = steps;
    setup.evaluate.every_steps = 1;
    training::Training job(hosts, learning, program, setup, P);
    job.start();
    hosts.run();
    const record::Record record = job.take_record();
    std::vector<double> answer;
    for (const auto& row : record.curve) answer.push_back(row.loss.value_or(0.0));
    answer.push_back(record.simulated_s);
    return answer;
  });
}

training::Program multitask(std::string_view compression) {
  auto strategy = std::make_shared<strategies::Multitask>();
  strategy->compression = Compressor(compression, {.rank = 1000}).slot();
  return strategies::program(strategy);
}
training::Program multitask() { return strategies::program(std::make_shared<strategies::Multitask>()); }

/// Multitask without ranks: every group's tasks on its own rows, P/s times.
std::vector<double> by_hand(int P) {
  const auto model = network();
  const data::Dataset set = three_classes()->train;
  const auto samples = [&](std::int64_t first, std::int64_t count) {
    return models::Samples{set.features.data(), set.targets.data(), d, first, count, nullptr};
  };
  std::vector<double> w(static_cast<std::size_t>(model->parameters(problem)));
  model->initial_values(problem, 1, w);
  std::vector<double> losses;
  for (std::int64_t k = 0; k <= steps; ++k) {
    losses.push_back(model->score(problem, samples(0, rows), w).loss / rows);
    std::vector<double> sum(w.size()), g(w.size());
    for (int r = 0; r < P; ++r) {
      const strategies::TaskGroup own = task_group(task_groups(T, P), r);
      model->task_gradient(problem, samples(rows * r / P, rows * (r + 1) / P - rows * r / P), own.tasks, w,
                           static_cast<double>(P) / own.size / rows, g);
      for (std::size_t j = 0; j < w.size(); ++j) sum[j] += g[j];
    }
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= rate * sum[j];
  }
  return losses;
}

}  // namespace

TEST_CASE("tasks and workers are dealt to as many groups as there are of the fewer") {
  for (const auto& [tasks, P] : {std::pair{3, 8}, {8, 3}, {4, 4}, {1, 5}, {5, 1}}) {
    std::vector<int> times(static_cast<std::size_t>(tasks));
    for (int r = 0; r < P; ++r) {
      const strategies::TaskGroup group = task_group(task_groups(tasks, P), r);
      CAPTURE(tasks, P, r);
      CHECK(group.tasks.count >= 1);
      CHECK(group.first <= r);
      CHECK(r < group.first + group.size);
      if (r == group.first)
        for (std::int64_t t = 0; t < group.tasks.count; ++t) ++times[static_cast<std::size_t>(group.tasks.first + t)];
    }
    CHECK(times == std::vector<int>(static_cast<std::size_t>(tasks), 1));
  }
}

TEST_CASE("joint training is every group's tasks on its own rows, and the sum of all on the shared layers") {
  for (const int P : {1, 2, 3, 4, 6}) {
    const std::vector<double> found = trained(multitask(), P);
    const std::vector<double> expected = by_hand(P);
    REQUIRE(found.size() == expected.size() + 1);
    CAPTURE(P);
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(found[k] == Approx(expected[k]).epsilon(1e-12));
    CHECK(expected.back() < expected.front());
  }
}

TEST_CASE("joint training by codes that leave nothing out is joint training, and by others it trains") {
  const auto losses = [](const training::Program& program) {
    std::vector<double> all = trained(program, 6);
    all.pop_back();  // the time
    return all;
  };
  const std::vector<double> plain = losses(multitask());
  for (const char* exact : {"float64", "power_sgd"}) CHECK(relative_distance(losses(multitask(exact)), plain) <= 1e-9);
  CHECK(relative_distance(losses(multitask("float16")), plain) < 0.01);
  CHECK(losses(multitask("top_k")).size() == plain.size());
}

TEST_CASE("one worker trains all tasks: that is sequential gradient descent") {
  const std::vector<double> joint = trained(multitask(), 1);
  const std::vector<double> sequential = trained(single(), 1);
  for (std::size_t k = 0; k <= steps; ++k) CHECK(joint[k] == Approx(sequential[k]).epsilon(1e-12));
}

TEST_CASE("a step takes its tasks' flops, a ring of all on the shared layers, one of its group, an update of both") {
  const auto model = network();
  const auto ring = [](int P, double n) {
    const double chunk = std::ceil(n / P);  // the longest counts
    return 2 * (P - 1) * (alpha + 8 * chunk / B) + (P - 1) * chunk / speed;
  };
  // Six workers, two a task: 16 shared parameters in chunks of 3 or 2, outputs of 4 weights and a bias.
  const double compute = model->task_gradient_flops(problem, rows / 6, {0, 1}) / speed;
  const double shared = static_cast<double>(model->shared(problem).count);
  REQUIRE(shared == 16.0);
  const double step = compute + ring(6, shared) + ring(2, 5) + 2 * (shared + 5) / speed;
  CHECK(trained(multitask(), 6, false).back() == Approx(steps * step).epsilon(1e-9));
}

}  // namespace multitask_test
