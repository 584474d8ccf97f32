// Exponentials, GELU and SwiGLU against the C library's functions, and sums against their order.
#include "models/vector_functions.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "catch.h"

namespace vector_functions_test {

using namespace simgrad::models;

namespace {

double Phi(double u) { return 0.5 * std::erfc(-u / std::sqrt(2.0)); }
double phi(double u) { return std::exp(-0.5 * u * u) / std::sqrt(2.0 * 3.14159265358979323846); }
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// From -12 to 12.
template <class Real>
std::vector<Real> grid() {
  std::vector<Real> all;
  for (int i = -1200; i <= 1200; ++i) all.push_back(static_cast<Real>(i) / Real{100});
  return all;
}

template <class Real>
void check_gelu(double tolerance) {
  const std::vector<Real> u = grid<Real>();
  std::vector<Real> value(u.size()), slope(u.size());
  gelu(static_cast<std::int64_t>(u.size()), u.data(), value.data(), slope.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double u_i = static_cast<double>(u[i]), scale = std::max(1.0, std::abs(u_i));
    worst = std::max(worst, std::abs(static_cast<double>(value[i]) - u_i * Phi(u_i)) / scale);
    worst = std::max(worst, std::abs(static_cast<double>(slope[i]) - (Phi(u_i) + u_i * phi(u_i))));
  }
  CHECK(worst < tolerance);
}

template <class Real>
void check_swiglu(double tolerance) {
  const std::vector<Real> g = grid<Real>();
  const auto n = static_cast<std::int64_t>(g.size());
  std::vector<Real> u(g.rbegin(), g.rend()), value(g.size()), dg = g, du = u;
  swiglu(n, g.data(), u.data(), value.data());
  const std::vector<Real> ones(g.size(), Real{1});
  swiglu_slopes(n, ones.data(), dg.data(), du.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double g_i = static_cast<double>(g[i]), u_i = static_cast<double>(u[i]), s = sigmoid(g_i);
    worst = std::max(worst, std::abs(static_cast<double>(value[i]) - g_i * s * u_i));
    worst = std::max(worst, std::abs(static_cast<double>(dg[i]) - u_i * (s + g_i * s * (1.0 - s))));
    worst = std::max(worst, std::abs(static_cast<double>(du[i]) - g_i * s));
  }
  CHECK(worst < tolerance);
}

template <class Real>
void check_exponentials(double tolerance) {
  std::vector<Real> x = grid<Real>();
  const std::vector<Real> before = x;
  const double sum = static_cast<double>(exponentials(static_cast<std::int64_t>(x.size()), Real{2}, x.data()));
  double worst = 0.0, expected = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(static_cast<double>(Real{2} * before[i] - Real{24}));
    worst = std::max(worst, std::abs(static_cast<double>(x[i]) / exact - 1.0));
    expected += exact;
  }
  CHECK(worst < tolerance);
  CHECK(sum == Approx(expected).epsilon(tolerance));
}

}  // namespace

TEST_CASE("gelu and its slope are u Phi(u) and Phi(u) + u phi(u)") {
  check_gelu<double>(1e-15);
  check_gelu<float>(3e-7);
}

TEST_CASE("swiglu and its slopes are those of g sigmoid(g) u") {
  check_swiglu<double>(5e-15);
  check_swiglu<float>(3e-5);  // values up to 144, each a few units of 2^-24
}

TEST_CASE("exponentials are exp(scale x - the greatest) to two units in the last place, and return their sum") {
  check_exponentials<double>(5e-16);
  check_exponentials<float>(2.4e-7);
  std::vector<double> far{0.0, -1e6, -std::numeric_limits<double>::infinity()};
  CHECK(exponentials(3, 1.0, far.data()) == 1.0);
  CHECK(far == std::vector<double>{1.0, 0.0, 0.0});
  std::vector<float> broken{1.0F, std::numeric_limits<float>::quiet_NaN()};
  CHECK(std::isnan(exponentials(2, 1.0F, broken.data())));
}

TEST_CASE("sums have sixteen interleaved parts of floats and eight of doubles, halves upon halves") {
  std::vector<float> x;
  for (int i = 0; i < 37; ++i) x.push_back(1.0F / static_cast<float>(3 + i));
  // lanes[l] = x_l + x_(l+16) + x_(l+32), then lanes[l] + lanes[l + half]
  std::vector<float> lanes(16, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) lanes[i % 16] += x[i];
  for (std::size_t half = 8; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  CHECK(sum_of(37, x.data()) == lanes[0]);
  const std::vector<float> ones(37, 1.0F);
  CHECK(dot_product(37, x.data(), ones.data()) == lanes[0]);
  const std::vector<double> y{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0};
  CHECK(sum_of(9, y.data()) == 45.0);
  CHECK(dot_product(9, y.data(), y.data()) == 285.0);
}

}  // namespace vector_functions_test
