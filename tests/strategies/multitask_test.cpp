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
  auto strategy = around_a_ring<strategies::Multitask>();
  strategy->compression = Compressor(compression, {.rank = 1000}).slot();
  return strategies::program(strategy);
}
training::Program multitask() { return strategies::program(around_a_ring<strategies::Multitask>()); }

/// A worker's tasks, first and behind the last, and the size of its group.
struct Dealt {
  std::size_t first, end;
  double workers;
};
/// Three tasks among P workers, in groups of nearly equal size.
std::vector<Dealt> dealt(int P) {
  switch (P) {
    case 1:
      return {{0, 3, 1}};
    case 2:
      return {{0, 1, 1}, {1, 3, 1}};
    case 3:
      return {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}};
    case 4:
      return {{0, 1, 1}, {1, 2, 1}, {2, 3, 2}, {2, 3, 2}};
    default:
      return {{0, 1, 2}, {0, 1, 2}, {1, 2, 2}, {1, 2, 2}, {2, 3, 2}, {2, 3, 2}};
  }
}

constexpr std::size_t units = 4, inputs = 3, outputs = 3;
/// w: weights of the hidden layer (4 x 3) and its biases, then the outputs' (3 x 4) and theirs.
constexpr std::size_t biases_at = units * inputs, outputs_at = biases_at + units, thresholds_at = outputs_at + 12;

/// z_t = V_t tanh(W x + b) + c_t, and the sum of the tasks' losses, log(1 + exp(-z)) of the row's own one and
/// log(1 + exp(z)) of the others. Adds `scale` times the gradient of the losses of the tasks first .. end - 1 to g.
double row_by_hand(const double* x, std::size_t own, const std::vector<double>& w, const Dealt& tasks, double scale,
                   std::vector<double>& g) {
  double a[units], loss = 0.0;
  for (std::size_t u = 0; u < units; ++u) {
    double sum = w[biases_at + u];
    for (std::size_t j = 0; j < inputs; ++j) sum += w[u * inputs + j] * x[j];
    a[u] = std::tanh(sum);
  }
  for (std::size_t t = 0; t < outputs; ++t) {
    double z = w[thresholds_at + t];
    for (std::size_t u = 0; u < units; ++u) z += w[outputs_at + t * units + u] * a[u];
    loss += std::log(1.0 + std::exp(t == own ? -z : z));
    if (t < tasks.first || t >= tasks.end) continue;
    const double slope = scale * (1.0 / (1.0 + std::exp(-z)) - (t == own ? 1.0 : 0.0));
    g[thresholds_at + t] += slope;
    for (std::size_t u = 0; u < units; ++u) {
      g[outputs_at + t * units + u] += slope * a[u];
      const double below = slope * w[outputs_at + t * units + u] * (1.0 - a[u] * a[u]);
      g[biases_at + u] += below;
      for (std::size_t j = 0; j < inputs; ++j) g[u * inputs + j] += below * x[j];
    }
  }
  return loss;
}

/// Multitask without ranks: each group's tasks on its own rows, times the share of the batch that these are.
std::vector<double> by_hand(int P) {
  const data::Dataset set = three_classes()->train;
  std::vector<double> w(static_cast<std::size_t>(network()->parameters(problem)));
  network()->initial_values(problem, 1, w);
  REQUIRE(w.size() == thresholds_at + outputs);
  std::vector<double> losses;
  for (std::int64_t k = 0; k <= steps; ++k) {
    std::vector<double> g(w.size());
    double loss = 0.0;
    for (std::int64_t i = 0; i < rows; ++i) {
      const Dealt task_group = dealt(P)[static_cast<std::size_t>(i * P / rows)];
      loss += row_by_hand(set.features.data() + i * d, static_cast<std::size_t>(i % T), w, task_group,
                          P / task_group.workers / static_cast<double>(rows), g);
    }
    losses.push_back(loss / rows);
    for (std::size_t j = 0; j < w.size(); ++j) w[j] -= rate * g[j];
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
