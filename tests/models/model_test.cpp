// A model's options, shapes, costs and refusals, and its scores on rows computed by hand.
#include <cmath>
#include <limits>

#include "catch.h"
#include "models/sample_data.h"

namespace model_test {

using namespace simgrad::models;
using namespace simgrad::models::test;
using simgrad::base::Bounds;

namespace {

/// Lists the flags and numbers of a component; a model has no other options.
class OptionLister final : public simgrad::base::Describer {
 public:
  struct Option {
    std::string key;
    double value;
    Bounds bounds;
  };
  std::vector<Option> options;

  void flag(std::string_view key, bool& value, std::string_view) override {
    options.push_back({std::string(key), double(value), {}});
  }
  void number(std::string_view key, double& value, std::string_view, Bounds bounds) override {
    options.push_back({std::string(key), value, bounds});
  }
  using Text = std::string_view;
  void integer(Text, std::int64_t&, Text, Bounds) override { FAIL(); }
  void quantity(Text, double&, simgrad::base::Unit, Text, Bounds) override { FAIL(); }
  void text(Text, std::string&, Text) override { FAIL(); }
  void path(Text, std::string&, Text) override { FAIL(); }
  void numbers(Text, std::vector<double>&, Text, Bounds) override { FAIL(); }
  void names_or_indices(Text, std::vector<std::string>&, Text) override { FAIL(); }
  void integer(Text, std::optional<std::int64_t>&, Text, Bounds) override { FAIL(); }
  void number(Text, std::optional<double>&, Text, Bounds) override { FAIL(); }
  void quantity(Text, std::optional<double>&, simgrad::base::Unit, Text, Bounds) override { FAIL(); }
  void text(Text, std::optional<std::string>&, Text) override { FAIL(); }
  void name_or_index(Text, std::optional<std::string>&, Text) override { FAIL(); }
  void integer_or(Text, std::optional<std::int64_t>&, Text, Text, Bounds) override { FAIL(); }
  void number_or(Text, std::optional<double>&, Text, Text, Bounds) override { FAIL(); }
  void quantity_or(Text, std::optional<double>&, simgrad::base::Unit, Text, Text, Bounds) override { FAIL(); }
  void component(Text, simgrad::base::AnySlot&, Text) override { FAIL(); }
  void inline_component(Text, simgrad::base::AnySlot&, Text) override { FAIL(); }
  void section(Text, simgrad::base::Described&, Text) override { FAIL(); }
  void refuse(Text, Text) override { FAIL(); }
  bool given(Text) const override { return false; }

 private:
  void any_choice(Text, int&, std::span<const simgrad::base::Choice>, Text) override { FAIL(); }
  void any_list(Text, AnyList&, Text) override { FAIL(); }
};

/// One row of one feature 1, so that the parameters are the scores.
Data one_row(double target, int classes) {
  return {.problem = {.features = 1, .classes = classes}, .x = {1.0}, .y = {target}};
}

}  // namespace

TEST_CASE("linear models have the options bias and l2, off, and l2 is not negative") {
  for (const auto* kind : {"least_squares", "logistic_regression", "softmax_regression"}) {
    OptionLister lister;
    make(kind)->describe(lister);
    REQUIRE(lister.options.size() == 2);
    CHECK(lister.options[0].key == "bias");
    CHECK(lister.options[0].value == 0.0);
    CHECK(lister.options[1].key == "l2");
    CHECK(lister.options[1].value == 0.0);
    CHECK(lister.options[1].bounds.contains(0.0));
    CHECK_FALSE(lister.options[1].bounds.contains(-1e-300));
  }
}

TEST_CASE("every model is known by its name and says its cost and source") {
  const auto& entries = registry().entries();
  REQUIRE(entries.size() == 21);
  CHECK(entries[0].about.kind == "least_squares");
  CHECK(entries[1].about.kind == "logistic_regression");
  CHECK(entries[2].about.kind == "softmax_regression");
  CHECK(entries[3].about.kind == "perceptron");
  CHECK(entries[4].about.kind == "matrix_factorization");
  CHECK(entries[5].about.kind == "k_means");
  CHECK(entries[6].about.kind == "multitask_perceptron");
  for (const auto& entry : entries) {
    CHECK_FALSE(entry.about.summary.empty());
    CHECK_FALSE(entry.about.cost.empty());
    CHECK_FALSE(entry.about.source.empty());
  }
}

TEST_CASE("regressions are measured by r2, classifiers by accuracy") {
  CHECK(make("least_squares")->predicts() == Predicts::number);
  CHECK(make("least_squares")->metric({.features = 1, .classes = 0}) == "r2");
  for (const auto* kind : {"logistic_regression", "softmax_regression"}) {
    CHECK(make(kind)->predicts() == Predicts::classes);
    CHECK(make(kind)->metric({.features = 1, .classes = 2}) == "accuracy");
  }
}

TEST_CASE("a gradient costs 4 flops a parameter and sample") {
  // d = 3, 7 rows: 3 multiplications, 3 additions for the score; 3 and 3 for r x into g.
  CHECK(make("least_squares")->gradient_flops({.features = 3, .classes = 0}, 7) == 7 * (3 + 3 + 3 + 3));
  CHECK(make("logistic_regression")->gradient_flops({.features = 3, .classes = 2}, 7) == 7 * (3 + 3 + 3 + 3));
  // As many for each of 5 classes.
  CHECK(make("softmax_regression")->gradient_flops({.features = 3, .classes = 5}, 7) == 5 * 7 * (3 + 3 + 3 + 3));
  // 1e12 rows of 1e6 features: more than an integer of 32 or 64 bits counts.
  CHECK(make("least_squares")->gradient_flops({.features = 1'000'000, .classes = 0}, 1'000'000'000'000) == 4e18);
}

TEST_CASE("the layers of every model lie side by side and cover w, and linear models are one") {
  for (const Case& c : all_models) {
    CAPTURE(c.kind, c.classes);
    const Problem problem = sample_data(c, 1, 6).problem;
    const auto model = make(c);
    std::int64_t end = 0;
    for (const Layer& layer : model->layers(problem)) {
      CHECK(layer.first == end);
      CHECK(layer.count > 0);
      end += layer.count;
    }
    CHECK(end == model->parameters(problem));
  }
  const auto layers = make("softmax_regression")->layers({.features = 3, .classes = 5});
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].forward_flops == 2 * 3 * 5);
  CHECK(layers[0].backward_flops == 2 * 3 * 5);
}

TEST_CASE("a model has a parameter a feature, and class where it has a score a class, and all start at zero") {
  CHECK(make("least_squares")->parameters({.features = 6, .classes = 0}) == 6);
  CHECK(make("logistic_regression")->parameters({.features = 6, .classes = 2}) == 6);
  CHECK(make("softmax_regression")->parameters({.features = 6, .classes = 4}) == 6 * 4);
  std::vector<double> w(24, 1.0);
  make("softmax_regression")->initial_values({.features = 6, .classes = 4}, 1, w);
  CHECK(w == std::vector<double>(24, 0.0));
}

TEST_CASE("the penalty is l2/2 |w|^2") {
  // 0.5 / 2 * (1 + 4 + 9)
  CHECK(make("least_squares", 0.5)->penalty(std::vector<double>{1.0, -2.0, 3.0}) == 3.5);
}

TEST_CASE("a model says why it cannot be fitted to data of another kind, and what can") {
  const auto refusal = [](std::string_view kind, int classes) {
    return make(kind)->refusal({.features = 3, .classes = classes});
  };
  CHECK(refusal("least_squares", 0).empty());
  CHECK(refusal("least_squares", 2) ==
        "least_squares needs a regression, but the data have 2 classes; use logistic_regression");
  CHECK(refusal("least_squares", 3) ==
        "least_squares needs a regression, but the data have 3 classes; use softmax_regression");
  CHECK(refusal("logistic_regression", 0) ==
        "logistic_regression needs two classes, but the data are a regression; use least_squares");
  CHECK(refusal("logistic_regression", 1) == "logistic_regression needs two classes, but the data have 1");
  CHECK(refusal("logistic_regression", 2).empty());
  CHECK(refusal("logistic_regression", 3) ==
        "logistic_regression needs two classes, but the data have 3; use softmax_regression");
  CHECK(refusal("logistic_regression", 595) ==
        "logistic_regression needs two classes, but the data have 595; to predict a number use least_squares");
  CHECK(refusal("softmax_regression", 0) ==
        "softmax_regression needs classes, but the data are a regression; use least_squares");
  CHECK(refusal("softmax_regression", 1) == "softmax_regression needs two classes or more, but the data have 1");
  CHECK(refusal("softmax_regression", 2).empty());
}

TEST_CASE("least squares sums half the squared residuals, and the squared residuals for r2") {
  // Residuals of w = 2 on x = 1, 2 and y = 5, 1: -3 and 3.
  const Data data{.problem = {.features = 1, .classes = 0}, .x = {1.0, 2.0}, .y = {5.0, 1.0}};
  const Score score = make("least_squares")->score(data.problem, data.all(), std::vector<double>{2.0});
  CHECK(score.loss == (9.0 + 9.0) / 2.0);
  CHECK(score.metric == 9.0 + 9.0);
}

TEST_CASE("the classifiers count the rows predicted right, and a tie is the first class") {
  // Scores 2, -4, 0, 0, 6 of classes 1, 1, 0, 0, 0: right, wrong, right, right, wrong.
  const Data two{.problem = {.features = 1, .classes = 2}, .x = {1, -2, 0, 0, 3}, .y = {1, 1, 0, 0, 0}};
  CHECK(make("logistic_regression")->score(two.problem, two.all(), std::vector<double>{2.0}).metric == 3.0);
  CHECK(make("softmax_regression")->score(two.problem, two.all(), std::vector<double>{-1.0, 1.0}).metric == 3.0);
  // Scores (x, 0, -x) for x = 1, -2, 0: classes 0, 2, and 0 by the tie, of 0, 1, 0.
  const Data three{.problem = {.features = 1, .classes = 3}, .x = {1, -2, 0}, .y = {0, 1, 0}};
  CHECK(make("softmax_regression")->score(three.problem, three.all(), std::vector<double>{1.0, 0.0, -1.0}).metric ==
        2.0);
}

TEST_CASE("logistic regression is exact at scores of a thousand") {
  const auto model = make("logistic_regression");
  for (const double s : {1000.0, -1000.0})
    for (const double y : {0.0, 1.0}) {
      CAPTURE(s, y);
      const Data data = one_row(y, 2);
      const std::vector<double> w{s};
      // log(1 + exp(-m)) = max(-m, 0) and its slope -sign [m < 0], to the last bit.
      const double sign = y == 1.0 ? 1.0 : -1.0;
      const double m = sign * s;
      CHECK(model->score(data.problem, data.all(), w).loss == std::max(-m, 0.0));
      CHECK(gradient(*model, data.problem, data.all(), w, 1.0, 0.0)[0] == (m < 0.0 ? -sign : 0.0));
    }
}

TEST_CASE("logistic regression keeps the small loss and residual of a row that is clearly right") {
  // m = 40: log(1 + exp(-40)) = exp(-40) to 17 digits, and the residual is its negative; 1 - sigmoid(40) would be 0.
  const Data data = one_row(1.0, 2);
  const std::vector<double> w{40.0};
  const auto model = make("logistic_regression");
  CHECK(model->score(data.problem, data.all(), w).loss == Approx(std::exp(-40.0)).epsilon(1e-14).margin(0.0));
  CHECK(gradient(*model, data.problem, data.all(), w, 1.0, 0.0)[0] ==
        Approx(-std::exp(-40.0)).epsilon(1e-14).margin(0.0));
}

TEST_CASE("softmax regression is exact at scores of a thousand") {
  // Scores 1000, -1000, 1000: the probabilities are 1/2, 0, 1/2.
  const std::vector<double> w{1000.0, -1000.0, 1000.0};
  const auto model = make("softmax_regression");
  const Data likely = one_row(0.0, 3), unlikely = one_row(1.0, 3);
  CHECK(model->score(likely.problem, likely.all(), w).loss == std::log(2.0));
  CHECK(model->score(unlikely.problem, unlikely.all(), w).loss == 2000.0 + std::log(2.0));
  CHECK(gradient(*model, likely.problem, likely.all(), w, 1.0, 0.0) == std::vector<double>{0.5 - 1.0, 0.0, 0.5});
  CHECK(gradient(*model, unlikely.problem, unlikely.all(), w, 1.0, 0.0) == std::vector<double>{0.5, -1.0, 0.5});
}

TEST_CASE("softmax regression refuses a target that is no class") {
  const auto model = make("softmax_regression");
  const std::vector<double> w(3, 0.0);
  std::vector<double> g(3);
  for (const double target : {3.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const Data data = one_row(target, 3);
    CHECK_THROWS(model->score(data.problem, data.all(), w));
    CHECK_THROWS(model->gradient(data.problem, data.all(), w, 1.0, 0.0, g));
  }
}

TEST_CASE("softmax regression of two classes is logistic regression on the difference of their weights") {
  const Data data = sample_data(31, 4, 2);
  const std::vector<double> w = sample_parameters(8);
  std::vector<double> difference(4);
  for (std::size_t j = 0; j < 4; ++j) difference[j] = w[4 + j] - w[j];
  const auto soft = gradient(*make("softmax_regression"), data.problem, data.all(), w, 1.0, 0.0);
  const auto logistic = gradient(*make("logistic_regression"), data.problem, data.all(), difference, 1.0, 0.0);
  for (std::size_t j = 0; j < 4; ++j) {
    CHECK(soft[4 + j] == Approx(logistic[j]).epsilon(1e-12));
    CHECK(soft[j] == Approx(-logistic[j]).epsilon(1e-12));
  }
}

}  // namespace model_test
