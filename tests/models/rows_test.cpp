// The kernel against plain loops that add in the same order, bit for bit, and against Eigen's products.
#include "models/rows.h"

#include <Eigen/Core>
#include <cmath>

#include "catch.h"
#include "models/sample_data.h"

namespace rows_test {

using namespace simgrad::models;
using namespace simgrad::models::test;

namespace {

// Columns j, j + 4, j + 8, ... make four sums; the pairs of sums are added; columns past the last multiple of 4 follow.
double plain_dot(const double* x, const double* w, std::int64_t d) {
  double sums[4] = {};
  const std::int64_t whole = d / 4 * 4;
  for (std::int64_t j = 0; j < whole; ++j) sums[j % 4] += x[j] * w[j];
  double s = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (std::int64_t j = whole; j < d; ++j) s += x[j] * w[j];
  return s;
}

// Numbers with full mantissas, so that another order of additions shows in the last bits.
Data rough_data(std::int64_t n, std::int64_t d, int classes) {
  Data data = sample_data(n, d, classes);
  for (std::size_t i = 0; i < data.x.size(); ++i) data.x[i] += std::sin(static_cast<double>(i));
  return data;
}

}  // namespace

TEST_CASE("dot and add are bitwise the plain loops, at every length, alignment and size of a block") {
  for (std::int64_t d = 1; d <= 21; ++d)
    for (std::int64_t n = 1; n <= 9; ++n) {
      CAPTURE(d, n);
      const Data data = rough_data(n, d, 0);
      std::vector<double> w(static_cast<std::size_t>(d)), g(w.size(), 0.5), g_plain(w.size(), 0.5);
      for (std::size_t j = 0; j < w.size(); ++j) w[j] = std::cos(static_cast<double>(j));
      std::int64_t visited = 0;
      for_each_block(data.all(), [&](const RowBlock& block) {
        const BlockNumbers s = dot(block, w.data(), d);
        add(block, s, g.data(), d);
        for (std::size_t i = 0; i < static_cast<std::size_t>(block.count); ++i, ++visited) {
          const double* const x = data.x.data() + visited * d;
          REQUIRE(block.y[i] == data.y[static_cast<std::size_t>(visited)]);
          REQUIRE(s[i] == plain_dot(x, w.data(), d));
          REQUIRE(first_dot(block, w.data(), d)[i] == s[i]);
          for (std::size_t j = 0; j < w.size(); ++j) g_plain[j] += s[i] * x[j];
        }
      });
      REQUIRE(visited == n);
      REQUIRE(g == g_plain);
    }
}

TEST_CASE("reading ahead stays within the rows, also of an index list, and changes no product") {
  for (const std::int64_t d : {3, 16, 5000}) {  // the last are too long to be read ahead whole
    const std::int64_t n = 7;
    const Data data = rough_data(n, d, 0);
    const std::vector<double> w(static_cast<std::size_t>(d), 0.5);
    const std::vector<std::int64_t> list{6, 0, 3, 3, 5, 1};
    Samples listed = data.all();
    listed.indices = list.data();
    listed.count = static_cast<std::int64_t>(list.size());
    for (const Samples& rows : {data.all(), listed}) {
      const double* const end = data.x.data() + n * d;
      for_each_block(rows, [&](const RowBlock& block) {
        for (const double* const next : block.next) REQUIRE((next >= data.x.data() && next + d <= end));
        REQUIRE(first_dot(block, w.data(), d) == dot(block, w.data(), d));
      });
    }
  }
}

TEST_CASE("the gradients are Eigen's X^T r") {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const Case& c : linear_models) {
    CAPTURE(c.kind, c.classes);
    const std::int64_t n = 123, d = 37;
    const Data data = rough_data(n, d, c.classes);
    const auto model = make(c.kind);
    const std::vector<double> w = sample_parameters(model->parameters(data.problem));
    const Eigen::Map<const Matrix> X(data.x.data(), n, d);
    const Eigen::Map<const Eigen::MatrixXd> W(w.data(), d, std::ssize(w) / d);  // (d x k), class after class
    Eigen::MatrixXd R = X * W;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double y = data.y[static_cast<std::size_t>(i)];
      if (c.kind == "least_squares") {
        R(i, 0) -= y;
      } else if (c.kind == "logistic_regression") {
        R(i, 0) = 1.0 / (1.0 + std::exp(-R(i, 0))) - y;
      } else {
        R.row(i) = R.row(i).array().exp() / R.row(i).array().exp().sum();
        R(i, static_cast<Eigen::Index>(y)) -= 1.0;
      }
    }
    const Eigen::MatrixXd G = X.transpose() * R;
    const auto g = gradient(*model, data.problem, data.all(), w, 1.0, 0.0);
    for (std::size_t j = 0; j < g.size(); ++j) CHECK(std::abs(g[j] - G.data()[j]) < 1e-13 * G.norm());
  }
}

}  // namespace rows_test
