// One pool of workers for a model of several sources: groups with all rows, gang scheduling and sharing are the
// training of one device, each in its own time.
#include <cmath>
#include <memory>

#include "cluster/fabric/cluster.h"
#include "data/mixture.h"
#include "models/multimodal_perceptron.h"
#include "strategies/programs.h"

namespace task_pool_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::Multitask;
using strategies::task_groups;
using strategies::TaskGroup;

namespace {

constexpr std::int64_t samples = 24;
constexpr std::int64_t steps = 6;

std::shared_ptr<models::MultimodalPerceptron> towers() {
  auto model = std::make_shared<models::MultimodalPerceptron>();
  model->towers.resize(3);
  model->towers[0].hidden = {6.0};
  model->towers[1].hidden = {};
  model->towers[1].weight = 0.5;
  model->towers[2].hidden = {40.0};
  model->embedding = 5.0;
  model->hidden = {5.0};
  model->activation = models::Activation::tanh;
  return model;
}

/// Two rows of three classes, one and one of numbers, in each of 24 samples.
std::shared_ptr<const data::Split> mixture() {
  auto source = std::make_unique<data::Mixture>();
  source->parts.resize(3);
  source->parts[0].source.choose("blobs");
  source->parts[0].samples = 2 * samples;
  source->parts[0].features = 3;
  source->parts[0].rows = 2;
  source->parts[1].name = "houses";
  source->parts[1].samples = samples - 5;
  source->parts[1].features = 4;
  source->parts[2].name = "more houses";
  source->parts[2].samples = samples;
  source->parts[2].features = 7;
  data::Options options;
  options.source = {data::sources(), std::move(source)};
  return std::make_shared<const data::Split>(data::load(options, {.task = data::Task::mixture, .seed = 5}));
}

models::Problem problem_of(const data::Dataset& set) {
  models::Problem problem{.features = set.columns};
  for (const data::PartColumns& part : set.parts)
    problem.sources.push_back({part.name, part.first, part.features, part.rows, part.classes});
  return problem;
}

struct Setting {
  int P = 1;
  std::int64_t batch = samples;
  bool numbers = true;
  bool charge = true;
  std::string optimizer = "sgd";
  int threads = 0;
  bool device = false;
};

record::Record record_of(const training::Program& program, const Setting& setting) {
  const auto here = [&] {
    cluster::Options options = ideal_star();
    options.charge_reductions = setting.charge;
    if (setting.device) options.device.choose("a100_80gb");
    cluster::Cluster hosts(options, setting.P);
    values::Dispatcher dispatcher({.threads = setting.threads, .numbers = setting.numbers, .label = {}});
    training::Learning::Setup problem;
    const auto data = mixture();
    problem.data = setting.numbers ? data : nullptr;
    problem.model = towers();
    problem.problem = problem_of(data->train);
    problem.rows = samples;
    problem.batch = setting.batch;
    const training::Learning learning(std::move(problem), dispatcher);
    training::Training::Setup setup;
    setup.options.learning_rate = 0.1;
    setup.options.optimizer.choose(setting.optimizer);
    setup.stop.steps = steps;
    setup.evaluate.every_steps = 1;
    training::Training job(hosts, learning, program, setup, setting.P);
    return run_to_the_end(job, hosts);
  };
  const Outcome outcome = in_a_child(here);
  REQUIRE(outcome.record.error.empty());
  return outcome.record;
}

std::vector<double> losses(const record::Record& record) {
  std::vector<double> all;
  for (const auto& row : record.curve) all.push_back(row.loss.value_or(0.0));
  return all;
}

training::Program pool(Multitask::Schedule schedule, std::optional<Multitask::Rows> rows = {},
                       Multitask::Sizes sizes = Multitask::Sizes::equal) {
  auto strategy = around_a_ring<Multitask>();
  strategy->schedule = schedule;
  strategy->rows = rows;
  strategy->sizes = sizes;
  return strategies::program(strategy);
}

using enum Multitask::Schedule;

double ring(int P, double n, bool charge) {
  const double chunk = std::ceil(n / P);  // the longest counts
  return P == 1 ? 0.0 : 2 * (P - 1) * (alpha + 8 * chunk / B) + (charge ? (P - 1) * chunk / speed : 0.0);
}

double length(const std::vector<models::ParameterRange>& ranges) {
  double sum = 0.0;
  for (const auto& range : ranges) sum += static_cast<double>(range.count);
  return sum;
}

}  // namespace

TEST_CASE("groups by work: sizes in proportion to the work of the tasks, each at least one worker") {
  const auto sizes = [](std::vector<double> work, int P) {
    std::vector<int> all;
    int next = 0;
    for (const TaskGroup& group : task_groups(static_cast<std::int64_t>(work.size()), P, work)) {
      CHECK(group.first == next);
      next += group.size;
      all.push_back(group.size);
    }
    CHECK(next == P);
    return all;
  };
  CHECK(sizes({2.0, 1.0}, 9) == std::vector<int>{6, 3});
  CHECK(sizes({5.0, 2.0, 1.0}, 8) == std::vector<int>{5, 2, 1});
  CHECK(sizes({1000.0, 1.0, 1.0}, 4) == std::vector<int>{2, 1, 1});
  // Largest remainders would give 1, 6 and 1, with 1.7 times the work for the first worker.
  CHECK(sizes({1.4, 6.0, 1.0}, 9) == std::vector<int>{2, 6, 1});
  CHECK(sizes({3.0, 1.0, 2.0}, 2) == std::vector<int>{1, 1});
}

TEST_CASE("more tasks than workers: neighbouring tasks together, so that the longest group is as short as it can be") {
  const auto counts = [](std::vector<double> work, int P) {
    std::vector<std::int64_t> all;
    std::int64_t next = 0;
    for (const TaskGroup& group : task_groups(static_cast<std::int64_t>(work.size()), P, work)) {
      CHECK(group.size == 1);
      CHECK(group.tasks.first == next);
      next += group.tasks.count;
      all.push_back(group.tasks.count);
    }
    CHECK(next == static_cast<std::int64_t>(work.size()));
    return all;
  };
  using Counts = std::vector<std::int64_t>;
  CHECK(counts({20.0, 20.0, 1.0, 1.0}, 2) == Counts{1, 3});
  CHECK(counts({1.0, 1.0, 1.0, 9.0, 1.0}, 3) == Counts{3, 1, 1});
  CHECK(counts({4.0, 4.0, 4.0, 4.0}, 3).size() == 3);
}

TEST_CASE("groups with all rows, gang scheduling and sharing are the training of one device") {
  for (const std::int64_t batch : {samples, std::int64_t{10}})
    for (const char* optimizer : {"sgd", "adam"}) {
      const record::Record alone = record_of(single(), {.batch = batch, .optimizer = optimizer});
      for (const int P : {1, 2, 3, 4, 7})
        for (const training::Program& program : {pool(groups), pool(groups, Multitask::Rows::batch),
                                                 pool(groups, {}, Multitask::Sizes::work), pool(gang), pool(sharing)}) {
          const record::Record found = record_of(program, {.P = P, .batch = batch, .optimizer = optimizer});
          CAPTURE(P, batch, optimizer);
          REQUIRE(found.curve.size() == steps + 1);
          CHECK(relative_distance(losses(found), losses(alone)) <= 1e-12);
          CHECK(found.samples == alone.samples);
          REQUIRE(found.sources.size() == 3);
          for (std::size_t s = 0; s < 3; ++s) {
            CHECK(*found.sources[s].loss == Approx(*alone.sources[s].loss).epsilon(1e-12));
            CHECK(*found.sources[s].metric == Approx(*alone.sources[s].metric).epsilon(1e-12));
          }
        }
    }
}

TEST_CASE("the sources' losses, by their weights, are the loss") {
  const record::Record record = record_of(pool(gang), {.P = 2});
  REQUIRE(record.sources.size() == 3);
  CHECK(record.sources[0].metric_name == "accuracy");
  CHECK(record.sources[2].name == "more houses");
  CHECK(record.sources[2].metric_name == "r2");
  CHECK(*record.final_loss ==
        Approx(*record.sources[0].loss + 0.5 * *record.sources[1].loss + *record.sources[2].loss).epsilon(1e-12));
  // A mean loss of numbers is half the variance that the model does not explain; targets have variance 1.
  CHECK(*record.sources[2].loss == Approx(0.5 * (1.0 - *record.sources[2].metric)).epsilon(1e-9));
}

TEST_CASE("a gang's step takes work and sums one after the other, a sharing one hides sums behind work") {
  const auto model = towers();
  const models::Problem problem = problem_of(mixture()->train);
  const int P = 4;
  const auto n = static_cast<double>(model->parameters(problem));
  const auto shared = static_cast<double>(model->shared(problem).count);
  const auto work = [&](std::int64_t task) {
    return model->task_gradient_flops(problem, samples / P, {task, 1}) / speed;
  };
  const auto own = [&](std::int64_t task, bool charge) {
    return ring(P, length(model->own(problem, {task, 1})), charge);
  };
  double gang_s = 0.0;
  for (std::int64_t task = 0; task < 3; ++task) gang_s += work(task) + own(task, true);
  gang_s += 2 * shared / speed + ring(P, shared, true) + 2 * n / speed;  // sums of the trunk's gradients; update
  CHECK(record_of(pool(gang), {.P = P, .numbers = false}).simulated_s == Approx(steps * gang_s).epsilon(1e-9));

  // Sums take longer than the next task's work here: they follow each other.
  REQUIRE(own(0, false) > work(1));
  REQUIRE(own(1, false) > work(2));
  const double sharing_s = work(0) + own(0, false) + own(1, false) + own(2, false) + ring(P, shared, false);
  CHECK(record_of(pool(sharing), {.P = P, .numbers = false, .charge = false}).simulated_s ==
        Approx(steps * sharing_s).epsilon(1e-9));
}

TEST_CASE("a step of groups with all rows takes the slowest group's, and one sum of all") {
  const auto model = towers();
  const models::Problem problem = problem_of(mixture()->train);
  const auto shared = static_cast<double>(model->shared(problem).count);
  // The sum of all begins with the slowest group; then each sums its own, and the next sum of all waits for the last.
  const int s = 2;
  double work = 0.0, own = 0.0;
  for (std::int64_t task = 0; task < 3; ++task) {
    work = std::max(work, model->task_gradient_flops(problem, samples / s, {task, 1}) / speed);
    own = std::max(own, ring(s, length(model->own(problem, {task, 1})), false));
  }
  // The group with the most work has the most to sum here.
  REQUIRE(work == model->task_gradient_flops(problem, samples / s, {2, 1}) / speed);
  REQUIRE(own == ring(s, length(model->own(problem, {2, 1})), false));
  const double step = work + ring(3 * s, shared, false) + own;
  CHECK(record_of(pool(groups, Multitask::Rows::batch), {.P = 3 * s, .numbers = false, .charge = false}).simulated_s ==
        Approx(steps * step).epsilon(1e-9));
}

TEST_CASE("a rank's memory: of groups their tasks' parameters, in turns all of them, and gradients of turns before") {
  const auto model = towers();
  const models::Problem problem = problem_of(mixture()->train);
  // The most bytes of a task's passes: the backward pass has left the layers from i on, whose gradients are there, and
  // still has the activations of those up to i.
  const auto peak = [&](const models::Tasks& tasks, double rows, double before) {
    const std::vector<models::Layer> layers = model->task_layers(problem, tasks);
    double most = 0.0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      double numbers = before;
      for (std::size_t j = i; j < layers.size(); ++j) numbers += static_cast<double>(layers[j].count);
      for (std::size_t j = 0; j <= i; ++j) numbers += rows * layers[j].kept.numbers;
      most = std::max(most, 8 * numbers);
    }
    return most;
  };
  const auto count = [&](std::int64_t task) {
    return length(model->own(problem, {task, 1})) + static_cast<double>(model->shared(problem).count);
  };
  const auto terms = [&](std::int64_t workers) {
    training::MemoryTerms all;
    all.layers = model->layers(problem);
    all.workers = workers;
    all.rows = (samples + workers - 1) / workers;
    all.batch = all.training_rows = samples;
    all.model = model.get();
    all.problem = &problem;
    return all;
  };
  Multitask strategy;
  const record::Record in_groups = record_of(pool(groups), {.P = 3});
  CHECK(strategy.memory(terms(3)).sum() == *in_groups.memory_bytes_max);
  for (std::int64_t task = 0; task < 3; ++task)
    CHECK(*in_groups.ranks.at(static_cast<std::size_t>(task)).memory_bytes ==
          8 * count(task) + peak({task, 1}, samples, 0.0));

  strategy.schedule = gang;
  const record::Record by_gang = record_of(pool(gang), {.P = 3});
  CHECK(strategy.memory(terms(3)).sum() == *by_gang.memory_bytes_max);
  double most = 0.0, before = 0.0;
  for (std::int64_t task = 0; task < 3; ++task) {
    most = std::max(most, peak({task, 1}, samples / 3, before));
    before += task == 0 ? count(0) : length(model->own(problem, {task, 1}));
  }
  CHECK(before == static_cast<double>(model->parameters(problem)));
  CHECK(*by_gang.memory_bytes_max == 8 * before + most);
}

TEST_CASE("on a device a task's gradient takes the time of its layers, as the whole model's does") {
  const auto model = towers();
  const models::Problem problem = problem_of(mixture()->train);
  const auto seconds = [&](const training::Program& program, int P) {
    return record_of(program, {.P = P, .numbers = false, .charge = false, .device = true}).ranks.at(0).compute_s;
  };
  const double alone = seconds(single(), 1);
  // The trunk's kernels are called once for each task: no less than alone, and no more than its work by itself thrice.
  CHECK(seconds(pool(gang), 1) >= alone * (1 - 1e-9));
  CHECK(seconds(pool(gang), 1) < 3 * alone);
  CHECK(seconds(pool(groups), 1) == Approx(alone).epsilon(1e-9));
}

TEST_CASE("numbers and times are the same whatever the threads") {
  for (const training::Program& program : {pool(groups, Multitask::Rows::batch), pool(sharing)}) {
    const record::Record one = record_of(program, {.P = 5, .batch = 10, .threads = 0});
    const record::Record two = record_of(program, {.P = 5, .batch = 10, .threads = 2});
    CHECK(losses(one) == losses(two));
    CHECK(one.simulated_s == two.simulated_s);
  }
}

}  // namespace task_pool_test
