// Several tasks on shared layers: the shared parameters, those of each task, and the costs.
#include "models/multitask_perceptron.h"

#include <cmath>
#include <numeric>

#include "catch.h"
#include "models/sample_data.h"

namespace multitask_perceptron_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

const Case five_tasks{"multitask_perceptron", 5};

std::vector<double> weights(std::int64_t count) {
  std::vector<double> w(static_cast<std::size_t>(count));
  for (std::size_t j = 0; j < w.size(); ++j) w[j] = 0.3 * std::sin(1.7 * static_cast<double>(j) + 0.4);
  return w;
}

}  // namespace

TEST_CASE("the gradients of single tasks add up to that of all, and touch no other task's output") {
  const auto model = make(five_tasks);
  const auto& multitask = dynamic_cast<const MultitaskPerceptron&>(*model);
  const Data data = sample_data(five_tasks, 15, 7);
  const std::vector<double> w = weights(model->parameters(data.problem));
  const std::vector<double> all = gradient(*model, data.problem, data.all(), w, 0.5, 0.0);
  std::vector<double> sum(w.size());
  for (std::int64_t t = 0; t < 5; ++t) {
    std::vector<double> g(w.size(), 1e300);
    multitask.task_gradient(data.problem, data.all(), {t, 1}, w, 0.5, g);
    for (std::size_t j = 0; j < g.size(); ++j) sum[j] += g[j];
    const ParameterRange shared = multitask.shared(data.problem);
    std::vector<bool> own(w.size());
    std::fill_n(own.begin() + shared.first, shared.count, true);
    for (const ParameterRange& head : multitask.own(data.problem, {t, 1}))
      std::fill_n(own.begin() + head.first, head.count, true);
    for (std::size_t j = 0; j < g.size(); ++j)
      if (!own[j]) CHECK(g[j] == 0.0);
  }
  for (std::size_t j = 0; j < sum.size(); ++j) CHECK(sum[j] == Approx(all[j]).margin(1e-12));
}

TEST_CASE("the shared layers and the outputs of all tasks are all of w, each parameter once") {
  const auto model = make(five_tasks);
  const auto& multitask = dynamic_cast<const MultitaskPerceptron&>(*model);
  const Problem problem{.features = 7, .classes = 5};
  std::vector<int> times(static_cast<std::size_t>(model->parameters(problem)));
  const auto mark = [&](const ParameterRange& stretch) {
    for (std::int64_t j = 0; j < stretch.count; ++j) ++times[static_cast<std::size_t>(stretch.first + j)];
  };
  mark(multitask.shared(problem));
  for (const Tasks& tasks : {Tasks{0, 2}, Tasks{2, 3}})
    for (const ParameterRange& stretch : multitask.own(problem, tasks)) mark(stretch);
  CHECK(times == std::vector<int>(times.size(), 1));
}

TEST_CASE("a task's gradient costs the shared layers and its share of the last one") {
  const auto model = make(five_tasks);
  const auto& multitask = dynamic_cast<const MultitaskPerceptron&>(*model);
  const Problem problem{.features = 7, .classes = 5};
  // 7-4-3-5: 4 x 7 x 4 for the first layer, 6 x 4 x 3 for the second, 6 x 3 an output.
  CHECK(multitask.task_gradient_flops(problem, 10, {1, 2}) == 10.0 * (4 * 28 + 6 * 12 + 2 * 6 * 3));
  CHECK(multitask.task_gradient_flops(problem, 10, {0, 5}) == model->gradient_flops(problem, 10));
}

}  // namespace multitask_perceptron_test
