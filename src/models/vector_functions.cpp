#include "models/vector_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/vectors.h"

namespace simgrad::models {

namespace {

#define SIMGRAD_INLINE [[gnu::always_inline]] inline

template <class Real>
struct FormatOf;
template <>
struct FormatOf<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 23, exponent_bias = 127, terms = 7;
  static constexpr float least = -87.0f;                                  ///< below it exp counts as 0
  static constexpr float to_integer = 0x1.8p23f;                          ///< adding it rounds to a whole number
  static constexpr float ln2 = 0x1.62e4p-1f, ln2_rest = 0x1.7f7d1cp-20f;  ///< the first has few digits: n ln2 is exact
  static constexpr std::array tail{1.2375126f,    -0.14024065f,  0.0035862704f, 0.08227842f,
                                   -0.10881427f,  0.09229077f,   -0.05864686f,  0.028409252f,
                                   -0.009844495f, 0.0016759122f, 0.0003963076f, -0.00022411675f};
};
template <>
struct FormatOf<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 52, exponent_bias = 1023, terms = 13;
  static constexpr double least = -708.0;
  static constexpr double to_integer = 0x1.8p52;
  static constexpr double ln2 = 0x1.62e42feep-1, ln2_rest = 0x1.a39ef35793c76p-33;
  static constexpr std::array tail{
      1.2375126308378275796,      -0.14024059858554696245,   0.003585415485464429369,     0.082276738490145207683,
      -0.10880393014174885723,    0.09230432116037747776,    -0.058693398589636774061,    0.028362277418956404286,
      -0.0097465795580292755337,  0.0017556258528952953569,  0.00029371366559134481992,   -0.00029015408054084171105,
      0.000051649098892682403449, 0.00002238423915508222982, -0.000011444146237700523373, -9.7355989673677493407e-7,
      1.7516376488490621431e-6,   -5.7218230603224087501e-8, -2.5866850716155885443e-7,   2.3263508708859123732e-8,
      3.8675334242222356816e-8,   -3.7442100809620186444e-9, -5.1739902140113096269e-9,   3.1114333809799251993e-10,
      4.2514714447963897761e-10};
};

/// exp(x) for x <= 0: 2^n times the series of exp(r), |r| <= ln(2)/2. NaN stays NaN.
template <class Real>
SIMGRAD_INLINE Real exp_below_zero(Real x) {
  using F = FormatOf<Real>;
  using Bits = typename F::Bits;
  const Real bounded = x < F::least ? F::least : x;
  const Real shifted = bounded * static_cast<Real>(1.4426950408889634074) + F::to_integer;
  const Real n = shifted - F::to_integer;
  const Real r = (bounded - n * F::ln2) - n * F::ln2_rest;
  Real series = Real{1};
#pragma GCC unroll 16
  for (int term = F::terms; term > 0; --term) series = Real{1} + series * (r * (Real{1} / static_cast<Real>(term)));
  const Bits power = (std::bit_cast<Bits>(shifted) - std::bit_cast<Bits>(F::to_integer) + Bits{F::exponent_bias})
                     << F::digits;
  const Real result = series * std::bit_cast<Real>(power);
  return x < F::least ? Real{0} : result;
}

/// Phi(-|u|) by erfc(z) = exp(-z^2) f(t) / (1 + 2 z) with z = |u| / sqrt(2), t = (z - 3.75) / (z + 3.75), and
/// f a polynomial that was interpolated at Chebyshev's points with 40 digits. Source of the form: M. M. Shepherd,
/// J. G. Laframboise, Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity, Mathematics of
/// Computation 36, 1981.  gauss: exp(-u^2 / 2).
template <class Real>
SIMGRAD_INLINE Real normal_tail(Real size, Real gauss) {
  using F = FormatOf<Real>;
  const Real z = size * static_cast<Real>(0.70710678118654752440);
  const Real t = (z - Real{3.75}) / (z + Real{3.75});
  Real f = F::tail.back();
#pragma GCC unroll 32
  for (std::size_t i = 1; i < F::tail.size(); ++i) f = f * t + F::tail[F::tail.size() - 1 - i];
  return Real{0.5} * gauss * f / (Real{1} + Real{2} * z);
}

template <class Real>
SIMGRAD_INLINE void gelu_loop(std::int64_t n, const Real* __restrict u, Real* __restrict value,
                              Real* __restrict slope) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Real u_i = u[i], size = u_i < Real{0} ? -u_i : u_i;
    const Real gauss = exp_below_zero(Real{-0.5} * u_i * u_i);
    const Real tail = normal_tail(size, gauss);
    const Real Phi = u_i < Real{0} ? tail : Real{1} - tail;
    value[i] = u_i * Phi;
    slope[i] = Phi + u_i * (gauss * static_cast<Real>(0.39894228040143267794));  // 1 / sqrt(2 pi)
  }
}

/// 1 / (1 + exp(-x)).
template <class Real>
SIMGRAD_INLINE Real sigmoid(Real x) {
  const Real below = exp_below_zero(x < Real{0} ? x : -x);
  return (x < Real{0} ? below : Real{1}) / (Real{1} + below);
}

template <class Real>
SIMGRAD_INLINE void swiglu_loop(std::int64_t n, const Real* __restrict g, const Real* __restrict u,
                                Real* __restrict value) {
  for (std::int64_t i = 0; i < n; ++i) value[i] = g[i] * sigmoid(g[i]) * u[i];
}

template <class Real>
SIMGRAD_INLINE void swiglu_slopes_loop(std::int64_t n, const Real* __restrict d_value, Real* __restrict g,
                                       Real* __restrict u) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Real g_i = g[i], s = sigmoid(g_i);
    g[i] = d_value[i] * u[i] * (s * (Real{1} + g_i * (Real{1} - s)));
    u[i] = d_value[i] * (g_i * s);
  }
}

constexpr std::int64_t bytes_of_lanes = 64;
template <class Real>
constexpr std::int64_t lanes_of = bytes_of_lanes / static_cast<std::int64_t>(sizeof(Real));
using FloatLanes [[gnu::vector_size(64), gnu::aligned(alignof(float)), gnu::may_alias]] = float;
using DoubleLanes [[gnu::vector_size(64), gnu::aligned(alignof(double)), gnu::may_alias]] = double;

template <class Real>
struct LanesOf;
template <>
struct LanesOf<float> {
  using Type = FloatLanes;
};
template <>
struct LanesOf<double> {
  using Type = DoubleLanes;
};

/// The sum of the lanes, halves upon halves.
template <class Real>
SIMGRAD_INLINE Real total(Real* parts) {
  for (std::int64_t half = lanes_of<Real> / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) parts[l] += parts[l + half];
  return parts[0];
}

template <class Real>
SIMGRAD_INLINE Real dot_loop(std::int64_t n, const Real* x, const Real* y) {
  using Lanes = typename LanesOf<Real>::Type;
  constexpr std::int64_t lanes = lanes_of<Real>;
  Lanes sums{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    sums += *reinterpret_cast<const Lanes*>(x + i) * *reinterpret_cast<const Lanes*>(y + i);
  Real parts[lanes];
  for (std::int64_t l = 0; l < lanes; ++l) parts[l] = sums[l];
  for (std::int64_t l = 0; i < n; ++i, ++l) parts[l] += x[i] * y[i];
  return total(parts);
}

template <class Real>
SIMGRAD_INLINE Real sum_loop(std::int64_t n, const Real* x) {
  using Lanes = typename LanesOf<Real>::Type;
  constexpr std::int64_t lanes = lanes_of<Real>;
  Lanes sums{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) sums += *reinterpret_cast<const Lanes*>(x + i);
  Real parts[lanes];
  for (std::int64_t l = 0; l < lanes; ++l) parts[l] = sums[l];
  for (std::int64_t l = 0; i < n; ++i, ++l) parts[l] += x[i];
  return total(parts);
}

/// The greatest of the numbers, some number if one is NaN.
template <class Real>
SIMGRAD_INLINE Real greatest(std::int64_t n, const Real* x) {
  constexpr std::int64_t lanes = lanes_of<Real>;
  Real most[lanes];
  for (std::int64_t l = 0; l < lanes; ++l) most[l] = x[0];
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) most[l] = most[l] < x[i + l] ? x[i + l] : most[l];
  for (; i < n; ++i) most[0] = most[0] < x[i] ? x[i] : most[0];
  return *std::max_element(most, most + lanes);
}

template <class Real>
SIMGRAD_INLINE Real exponentials_loop(std::int64_t n, Real scale, Real* x) {
  const Real most = scale * greatest(n, x);
  for (std::int64_t i = 0; i < n; ++i) x[i] = exp_below_zero(scale * x[i] - most);
  return sum_loop(n, x);
}

}  // namespace

SIMGRAD_AVX2_IF_THERE void gelu(std::int64_t n, const float* u, float* value, float* slope) {
  gelu_loop(n, u, value, slope);
}
SIMGRAD_AVX2_IF_THERE void gelu(std::int64_t n, const double* u, double* value, double* slope) {
  gelu_loop(n, u, value, slope);
}
SIMGRAD_AVX2_IF_THERE void swiglu(std::int64_t n, const float* g, const float* u, float* value) {
  swiglu_loop(n, g, u, value);
}
SIMGRAD_AVX2_IF_THERE void swiglu(std::int64_t n, const double* g, const double* u, double* value) {
  swiglu_loop(n, g, u, value);
}
SIMGRAD_AVX2_IF_THERE void swiglu_slopes(std::int64_t n, const float* d_value, float* g, float* u) {
  swiglu_slopes_loop(n, d_value, g, u);
}
SIMGRAD_AVX2_IF_THERE void swiglu_slopes(std::int64_t n, const double* d_value, double* g, double* u) {
  swiglu_slopes_loop(n, d_value, g, u);
}
SIMGRAD_AVX2_IF_THERE float exponentials(std::int64_t n, float scale, float* x) {
  return exponentials_loop(n, scale, x);
}
SIMGRAD_AVX2_IF_THERE double exponentials(std::int64_t n, double scale, double* x) {
  return exponentials_loop(n, scale, x);
}
SIMGRAD_AVX2_IF_THERE float dot_product(std::int64_t n, const float* x, const float* y) { return dot_loop(n, x, y); }
SIMGRAD_AVX2_IF_THERE double dot_product(std::int64_t n, const double* x, const double* y) { return dot_loop(n, x, y); }
SIMGRAD_AVX2_IF_THERE float sum_of(std::int64_t n, const float* x) { return sum_loop(n, x); }
SIMGRAD_AVX2_IF_THERE double sum_of(std::int64_t n, const double* x) { return sum_loop(n, x); }

SIMGRAD_AVX2_IF_THERE void add_numbers(std::int64_t n, const float* x, float* y) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];
}
SIMGRAD_AVX2_IF_THERE void add_numbers(std::int64_t n, const double* x, double* y) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];
}

#undef SIMGRAD_INLINE

}  // namespace simgrad::models
