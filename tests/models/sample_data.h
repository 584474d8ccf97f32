// Small inputs made by integer formulas, so that a program in any language can make the very same numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/factorization_machine.h"
#include "models/model.h"
#include "models/multitask_perceptron.h"
#include "models/perceptron.h"
#include "models/wide_and_deep.h"

namespace simgrad::models::test {

struct Data {
  Problem problem;
  std::vector<double> x;  // (n, d), row-major
  std::vector<double> y;  // (n)
  // For sparse models: every entry of x, zeros too, so that each of d fields has one.
  std::vector<std::int64_t> starts = {};
  std::vector<std::uint32_t> keys = {};

  void make_sparse() {
    const auto d = static_cast<std::size_t>(problem.features);
    for (std::size_t i = 0; i <= y.size(); ++i) starts.push_back(static_cast<std::int64_t>(i * d));
    for (std::size_t i = 0; i < x.size(); ++i) keys.push_back(static_cast<std::uint32_t>(i % d));
    problem.nonzeros = static_cast<double>(d);
    problem.fields = problem.features;
  }
  Samples with_entries(Samples rows) const {
    if (starts.empty()) return rows;
    rows.starts = starts.data();
    rows.keys = keys.data();
    rows.values = x.data();
    rows.features = nullptr;
    return rows;
  }

  Samples range(std::int64_t first, std::int64_t count) const {
    return with_entries(
        {.features = x.data(), .targets = y.data(), .columns = problem.features, .first = first, .count = count});
  }
  Samples list(std::span<const std::int64_t> indices) const {
    return with_entries({.features = x.data(),
                         .targets = y.data(),
                         .columns = problem.features,
                         .count = static_cast<std::int64_t>(indices.size()),
                         .indices = indices.data()});
  }
  Samples all() const { return range(0, static_cast<std::int64_t>(y.size())); }
};

/// x_ij = ((7 i + 3 j + i j) mod 11 - 5) / 4; y_i = ((5 i + i^2) mod 7 - 3) / 2, or class (i^2 + (i mod 3)) mod
/// classes.
inline Data sample_data(std::int64_t n, std::int64_t d, int classes) {
  Data data{.problem = {.features = d, .classes = classes}, .x = {}, .y = {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < d; ++j) data.x.push_back(static_cast<double>((7 * i + 3 * j + i * j) % 11 - 5) / 4.0);
    data.y.push_back(classes == 0 ? static_cast<double>((5 * i + i * i) % 7 - 3) / 2.0
                                  : static_cast<double>((i * i + i % 3) % classes));
  }
  return data;
}

/// w_j = ((5 j) mod 9 - 4) / 8
inline std::vector<double> sample_parameters(std::int64_t length) {
  std::vector<double> w;
  for (std::int64_t j = 0; j < length; ++j) w.push_back(static_cast<double>((5 * j) % 9 - 4) / 8.0);
  return w;
}

inline std::unique_ptr<Model> make(std::string_view kind, double l2 = 0.0) {
  std::unique_ptr<Model> model = registry().find(kind)->make();
  model->l2 = l2;
  return model;
}

inline std::vector<double> gradient(const Model& model, const Problem& problem, const Samples& rows,
                                    std::span<const double> w, double scale, double penalty_scale) {
  std::vector<double> g(w.size(), 1e300);  // a gradient overwrites any contents
  model.gradient(problem, rows, w, scale, penalty_scale, g);
  return g;
}

/// Every model with the data that it can be fitted to.
struct Case {
  std::string_view kind;
  int classes = 0;
};
inline constexpr Case linear_models[] = {
    {"least_squares", 0}, {"logistic_regression", 2}, {"softmax_regression", 2}, {"softmax_regression", 5}};
inline constexpr Case all_models[] = {{"least_squares", 0},
                                      {"logistic_regression", 2},
                                      {"softmax_regression", 2},
                                      {"softmax_regression", 5},
                                      {"perceptron", 0},
                                      {"perceptron", 5},
                                      {"k_means", 0},
                                      {"matrix_factorization", 0},
                                      {"multitask_perceptron", 5},
                                      {"sparse_logistic", 2},
                                      {"factorization_machine", 2},
                                      {"wide_and_deep", 2}};

/// A perceptron is 7-4-3-outputs here, and smooth.
inline std::unique_ptr<Model> make(const Case& c, double l2 = 0.0) {
  std::unique_ptr<Model> model = make(c.kind, l2);
  if (auto* perceptron = dynamic_cast<Perceptron*>(model.get())) {
    perceptron->hidden = {4.0, 3.0};
    perceptron->activation = Activation::tanh;
  }
  if (auto* perceptron = dynamic_cast<MultitaskPerceptron*>(model.get())) {
    perceptron->hidden = {4.0, 3.0};
    perceptron->activation = Activation::tanh;
  }
  if (auto* sparse = dynamic_cast<WideAndDeep*>(model.get())) {
    sparse->hidden = {4.0, 3.0};
    sparse->embedding = 2;
  }
  if (auto* sparse = dynamic_cast<FactorizationMachine*>(model.get())) sparse->factors = 2;
  return model;
}

/// Rating i is of item (5 i + 1) mod 3 by user (3 i + i^2) mod 4.
inline Data sample_ratings(std::int64_t n) {
  Data data{.problem = {.features = 2, .classes = 0, .users = 4, .items = 3}, .x = {}, .y = sample_data(n, 1, 0).y};
  for (std::int64_t i = 0; i < n; ++i) {
    data.x.push_back(static_cast<double>((3 * i + i * i) % 4));
    data.x.push_back(static_cast<double>((5 * i + 1) % 3));
  }
  return data;
}

/// Data to which the model can be fitted.
inline Data sample_data(const Case& c, std::int64_t n, std::int64_t d) {
  if (c.kind == "matrix_factorization") return sample_ratings(n);
  Data data = sample_data(n, d, c.classes);
  if (make(c.kind)->takes_sparse_rows()) data.make_sparse();
  return data;
}

}  // namespace simgrad::models::test
