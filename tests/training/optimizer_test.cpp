#include "training/optimizers/optimizer.h"

#include <map>
#include <string>

#include "base/errors.h"
#include "catch.h"
#include "training/optimizers/adamw.h"
#include "training/optimizers/lamb.h"
#include "values/dispatcher.h"

namespace optimizer_test {

using namespace simgrad;
using training::State;

namespace {

std::vector<double> numbers(const values::Tensor& x) { return {x.value().begin(), x.value().end()}; }

/// Two layers, of three parameters and of two.
const std::vector<models::Layer> layers{{.first = 0, .count = 3}, {.first = 3, .count = 2}};

/// w after five updates at learning rate 0.1, from w_j = ((5 j) mod 9 - 4) / 8 + 0.1 by the gradients of
/// sum of (j + 1) / 2 (w_j - c_j)^2, c_j = (-1)^j / (j + 1), j = 0..4.
std::vector<double> after_five_updates(const training::Optimizer& optimizer) {
  values::Dispatcher dispatcher({.label = {}});
  std::vector<double> w;
  for (int j = 0; j < 5; ++j) w.push_back(((5 * j) % 9 - 4) / 8.0 + 0.1);
  State state{.w = dispatcher.constant(w)};
  optimizer.start(state);
  for (; state.step < 5; ++state.step) {
    std::vector<double> g = numbers(state.w);
    for (int j = 0; j < 5; ++j) {
      double& g_j = g[static_cast<std::size_t>(j)];
      g_j = (j + 1) * (g_j - (j % 2 == 0 ? 1.0 : -1.0) / (j + 1));
    }
    optimizer.update(state, dispatcher.constant(g), 0.1, layers);
  }
  return numbers(state.w);
}

}  // namespace

TEST_CASE("adam's correction counts the updates in its averages, whatever the step: Kingma and Ba, 2015, Algorithm 1") {
  // The first update from empty averages has m / (1 - beta1) = g and s / (1 - beta2) = g^2, and moves w by
  // lr g / (|g| + epsilon).
  values::Dispatcher dispatcher({.label = {}});
  for (const char* kind : {"adam", "adamw", "lamb"}) {
    CAPTURE(kind);
    const auto optimizer = training::optimizers().find(kind)->make();
    State fresh{.w = dispatcher.constant({0.5, -1.0})}, late{.w = fresh.w, .step = 40};
    for (State* state : {&fresh, &late}) {
      optimizer->start(*state);
      optimizer->update(*state, dispatcher.constant({2.0, -0.25}), 0.125, {{{.count = 2}}});
      CHECK(state->optimizer_updates == 1);
    }
    CHECK(numbers(fresh.w) == numbers(late.w));
    if (kind != std::string("adam")) continue;
    CHECK(numbers(late.w)[0] == Approx(0.5 - 0.125 * 2.0 / (2.0 + 1e-8)).epsilon(1e-12));
    CHECK(numbers(late.w)[1] == Approx(-1.0 + 0.125 * 0.25 / (0.25 + 1e-8)).epsilon(1e-12));
  }
}

TEST_CASE("sgd: w <- w - lr g, 2 flops a parameter") {
  values::Dispatcher dispatcher({.label = {}});
  const auto sgd = training::optimizers().find("sgd")->make();
  State state{.w = dispatcher.constant({1.0, -2.0, 0.5})};
  sgd->start(state);
  sgd->update(state, dispatcher.constant({0.5, 1.0, -4.0}), 0.25, {});
  CHECK(numbers(state.w) == std::vector<double>{1.0 - 0.25 * 0.5, -2.0 - 0.25, 0.5 + 0.25 * 4.0});
  CHECK(state.optimizer.empty());
  CHECK(state.step == 0);  // counting is the caller's
  CHECK(sgd->flops() == 2.0);
}

TEST_CASE("momentum: v <- 0.9 v + g, w <- w - lr v, 4 flops a parameter") {
  values::Dispatcher dispatcher({.label = {}});
  const auto momentum = training::optimizers().find("momentum")->make();
  State state{.w = dispatcher.constant({1.0, -2.0})};
  momentum->start(state);
  REQUIRE(state.optimizer.size() == 1);
  CHECK(numbers(state.optimizer[0]) == std::vector<double>{0.0, 0.0});
  double v0 = 0.0;
  double v1 = 0.0;
  double w0 = 1.0;
  double w1 = -2.0;
  for (int k = 0; k < 5; ++k) {
    momentum->update(state, dispatcher.constant({0.3 + k, -0.7}), 0.1, {});
    v0 = 0.9 * v0 + (0.3 + k);
    v1 = 0.9 * v1 - 0.7;
    w0 -= 0.1 * v0;
    w1 -= 0.1 * v1;
    CHECK(state.w.value()[0] == Approx(w0).epsilon(1e-14));
    CHECK(state.w.value()[1] == Approx(w1).epsilon(1e-14));
  }
  CHECK(momentum->flops() == 4.0);
}

TEST_CASE("a state that was copied is not changed by the updates of the other") {
  values::Dispatcher dispatcher({.label = {}});
  const auto momentum = training::optimizers().find("momentum")->make();
  State state{.w = dispatcher.constant({1.0})};
  momentum->start(state);
  const State kept = state;
  momentum->update(state, dispatcher.constant({1.0}), 0.5, {});
  CHECK(kept.w.value()[0] == 1.0);
  CHECK(kept.optimizer[0].value()[0] == 0.0);
}

// Recorded from PyTorch 1.13.1 (float64): torch.optim.SGD, Adagrad, RMSprop, Adam, AdamW with their defaults beside
// lr = 0.1 and momentum = 0.9; lamb from the formulas of the paper on torch tensors, layer by layer. AdamW's program:
//   import torch
//   torch.set_default_dtype(torch.float64)
//   w = torch.tensor([((5 * j) % 9 - 4) / 8 + 0.1 for j in range(5)], requires_grad=True)
//   optimizer = torch.optim.AdamW([w], lr=0.1)
//   for _ in range(5):
//       optimizer.zero_grad()
//       sum((j + 1) / 2 * (w[j] - (-1) ** j / (j + 1)) ** 2 for j in range(5)).backward()
//       optimizer.step()
//   print(w.tolist())
TEST_CASE("five updates of every optimizer are PyTorch's") {
  const std::map<std::string, std::vector<double>> recorded{
      {"sgd", {0.173314, -0.262432, 0.23109075, -0.203344, 0.1890625}},
      {"momentum", {1.040824, -0.9208045, 0.806787, -0.6874, 0.38263}},
      {"nesterov", {1.14641435746, -0.80139524608, 0.5449434458175, -0.34908148096, 0.203898015625}},
      {"adagrad",
       {-0.09132857390529409, -0.06828238467716885, 0.011656892910691913, 0.06392794579026212, 0.10310381014771844}},
      {"rmsprop",
       {0.9964558747532154, -0.5022078689413455, 0.34088800576375555, -0.25793627924905976, 0.20641336639194355}},
      {"adam",
       {0.0951955141177784, -0.2613355977579439, 0.2061223995884453, -0.13061850728674881, 0.29019386088022553}},
      {"adamw",
       {0.09617625504119429, -0.261440598020791, 0.20644801705377902, -0.1312884230397958, 0.2899179335439196}},
      {"lamb",
       {-0.27229441189978026, 0.09755220429743561, -0.1476703562849038, 0.23734430963264863, -0.03782550393703475}}};
  CHECK(recorded.size() == training::optimizers().entries().size());
  for (const auto& entry : training::optimizers().entries()) {
    const std::string kind(entry.about.kind);
    CAPTURE(kind);
    const std::vector<double> w = after_five_updates(*entry.make());
    for (std::size_t j = 0; j < w.size(); ++j) CHECK(w[j] == Approx(recorded.at(kind)[j]).epsilon(1e-12));
  }
  training::Lamb decaying;
  decaying.weight_decay = 0.01;
  const std::vector<double> expected{-0.27217394333936595, 0.09765359762836469, -0.1477079414462422, 0.2372443218086539,
                                     -0.03794819518245238};
  const std::vector<double> w = after_five_updates(decaying);
  for (std::size_t j = 0; j < w.size(); ++j) CHECK(w[j] == Approx(expected[j]).epsilon(1e-12));
}

// AdamW(..., weight_decay=0.3) in the program above.
TEST_CASE("adamw decays by weight_decay, and without it is adam bit for bit") {
  training::Adamw adamw;
  adamw.weight_decay = 0.3;
  const std::vector<double> expected{0.12211899173490343, -0.2634850591877305, 0.21448103305582628,
                                     -0.14864977638811697, 0.28164631855079214};
  const std::vector<double> w = after_five_updates(adamw);
  for (std::size_t j = 0; j < w.size(); ++j) CHECK(w[j] == Approx(expected[j]).epsilon(1e-12));
  adamw.weight_decay = 0.0;
  CHECK(after_five_updates(adamw) == after_five_updates(training::Adam{}));
}

TEST_CASE("flops a parameter of every optimizer, counted by hand, and in its cost line") {
  // adagrad: square, add; root, add epsilon, divide, multiply, subtract. rmsprop: 4 for the average. adam: 3 + 4 for
  // its averages, then root, divide, add, divide, multiply, subtract. adamw: 1 for the decay of w. lamb: 3 + 4, 5 for
  // the direction, 2 for the decay, 2 + 2 for the norms, 2 for the step.
  const std::map<std::string, int> counted{
      {"sgd", 2},         {"momentum", 4},     {"nesterov", 2 + 2 + 2},  {"adagrad", 2 + 5},
      {"rmsprop", 4 + 5}, {"adam", 3 + 4 + 6}, {"adamw", 3 + 4 + 6 + 1}, {"lamb", 3 + 4 + 5 + 2 + 4 + 2}};
  for (const auto& entry : training::optimizers().entries()) {
    const std::string kind(entry.about.kind);
    CAPTURE(kind);
    const auto optimizer = entry.make();
    CHECK(optimizer->flops() == counted.at(kind));
    CHECK(entry.about.cost == std::to_string(counted.at(kind)) + " d flops an update");
    CHECK(optimizer->elementwise() == (kind != "lamb"));
  }
}

TEST_CASE("element-wise optimizers update a part of w as they do the whole") {
  for (const auto& entry : training::optimizers().entries()) {
    const auto optimizer = entry.make();
    if (!optimizer->elementwise()) continue;
    CAPTURE(std::string(entry.about.kind));
    values::Dispatcher dispatcher({.label = {}});
    const values::Tensor w = dispatcher.constant({1.0, -2.0, 0.5, 3.0}), g = dispatcher.constant({0.1, 0.4, -0.2, 0.0});
    State whole{.w = w}, part{.w = values::slice(w, 1, 2)};
    optimizer->start(whole);
    optimizer->start(part);
    for (int k = 0; k < 3; ++k, ++whole.step, ++part.step) {
      optimizer->update(whole, g, 0.1, {});
      optimizer->update(part, values::slice(g, 1, 2), 0.1, {});
    }
    CHECK(numbers(part.w) == numbers(values::slice(whole.w, 1, 2)));
  }
}

TEST_CASE("lamb takes the whole learning rate where parameters or directions are zero, and refuses a part of w") {
  values::Dispatcher dispatcher({.label = {}});
  const training::Lamb lamb;
  State state{.w = dispatcher.constant({0.0, 0.0, 0.0, 2.0, 1.0})};
  lamb.start(state);
  lamb.update(state, dispatcher.constant({3.0, 3.0, 3.0, 0.0, 0.0}), 0.1, layers);
  // g / (|g| + epsilon) in the first layer; nothing moves in the second.
  const double first = -0.1 * 3.0 / (3.0 + 1e-6);
  CHECK(state.w.value()[0] == Approx(first).epsilon(1e-12));
  CHECK(state.w.value()[3] == 2.0);
  State part{.w = dispatcher.constant({1.0, 2.0})};
  lamb.start(part);
  CHECK_THROWS_AS(lamb.update(part, part.w, 0.1, layers), base::InvariantError);
}

}  // namespace optimizer_test
