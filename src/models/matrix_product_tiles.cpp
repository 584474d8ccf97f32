/// The accumulators of a tile stay in registers over all of k: 24 of the 32 of AVX-512, 12 of the 16 of AVX2.
#include "models/matrix_product_tiles.h"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace simgrad::models {

namespace {

template <class Real, int rows, int columns>
void portable_tile(std::int64_t k, const Real* a, const Real* b, Real* c, std::int64_t stride, bool fresh) {
  Real sums[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) sums[i][j] = fresh ? Real{0} : c[i * stride + j];
  for (std::int64_t p = 0; p < k; ++p, a += rows, b += columns)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) sums[i][j] = std::fma(a[i], b[j], sums[i][j]);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) c[i * stride + j] = sums[i][j];
}

#if defined(__x86_64__)

#define SIMGRAD_AVX2 [[gnu::target("avx2,fma")]]
#define SIMGRAD_AVX512 [[gnu::target("avx512f")]]

struct Avx2Floats {
  using Number = float;
  using Vector = __m256;
  SIMGRAD_AVX2 static Vector load(const float* x) { return _mm256_loadu_ps(x); }
  SIMGRAD_AVX2 static Vector all(float x) { return _mm256_set1_ps(x); }
  SIMGRAD_AVX2 static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  SIMGRAD_AVX2 static void store(float* x, Vector v) { _mm256_storeu_ps(x, v); }
};
struct Avx2Doubles {
  using Number = double;
  using Vector = __m256d;
  SIMGRAD_AVX2 static Vector load(const double* x) { return _mm256_loadu_pd(x); }
  SIMGRAD_AVX2 static Vector all(double x) { return _mm256_set1_pd(x); }
  SIMGRAD_AVX2 static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
  SIMGRAD_AVX2 static void store(double* x, Vector v) { _mm256_storeu_pd(x, v); }
};
struct Avx512Floats {
  using Number = float;
  using Vector = __m512;
  SIMGRAD_AVX512 static Vector load(const float* x) { return _mm512_loadu_ps(x); }
  SIMGRAD_AVX512 static Vector all(float x) { return _mm512_set1_ps(x); }
  SIMGRAD_AVX512 static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  SIMGRAD_AVX512 static void store(float* x, Vector v) { _mm512_storeu_ps(x, v); }
};
struct Avx512Doubles {
  using Number = double;
  using Vector = __m512d;
  SIMGRAD_AVX512 static Vector load(const double* x) { return _mm512_loadu_pd(x); }
  SIMGRAD_AVX512 static Vector all(double x) { return _mm512_set1_pd(x); }
  SIMGRAD_AVX512 static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
  SIMGRAD_AVX512 static void store(double* x, Vector v) { _mm512_storeu_pd(x, v); }
};

// The two functions below have one text. A function is compiled for the instructions that it names itself, and a
// function that both call would be compiled for none of them.

template <class Of, int rows, int vectors>
SIMGRAD_AVX2 void avx2_tile(std::int64_t k, const typename Of::Number* a, const typename Of::Number* b,
                            typename Of::Number* c, std::int64_t stride, bool fresh) {
  using Register = typename Of::Vector;
  constexpr int lanes = sizeof(Register) / sizeof(typename Of::Number);
  Register sums[rows][vectors];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) sums[i][j] = fresh ? Of::all(0) : Of::load(c + i * stride + j * lanes);
  for (std::int64_t p = 0; p < k; ++p, a += rows, b += vectors * lanes) {
    Register b_p[vectors];
    for (int j = 0; j < vectors; ++j) b_p[j] = Of::load(b + j * lanes);
    for (int i = 0; i < rows; ++i) {
      const Register a_ip = Of::all(a[i]);
      for (int j = 0; j < vectors; ++j) sums[i][j] = Of::fma(a_ip, b_p[j], sums[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) Of::store(c + i * stride + j * lanes, sums[i][j]);
}

template <class Of, int rows, int vectors>
SIMGRAD_AVX512 void avx512_tile(std::int64_t k, const typename Of::Number* a, const typename Of::Number* b,
                                typename Of::Number* c, std::int64_t stride, bool fresh) {
  using Register = typename Of::Vector;
  constexpr int lanes = sizeof(Register) / sizeof(typename Of::Number);
  Register sums[rows][vectors];
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) sums[i][j] = fresh ? Of::all(0) : Of::load(c + i * stride + j * lanes);
  for (std::int64_t p = 0; p < k; ++p, a += rows, b += vectors * lanes) {
    Register b_p[vectors];
    for (int j = 0; j < vectors; ++j) b_p[j] = Of::load(b + j * lanes);
    for (int i = 0; i < rows; ++i) {
      const Register a_ip = Of::all(a[i]);
      for (int j = 0; j < vectors; ++j) sums[i][j] = Of::fma(a_ip, b_p[j], sums[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j) Of::store(c + i * stride + j * lanes, sums[i][j]);
}

#endif

}  // namespace

bool has(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return __builtin_cpu_supports("avx512f");
  if (instructions == Instructions::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return instructions == Instructions::portable;
}

Instructions widest_instructions() {
  if (has(Instructions::avx512)) return Instructions::avx512;
  return has(Instructions::avx2) ? Instructions::avx2 : Instructions::portable;
}

template <>
Tile<float> tile_for(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return {12, 32, avx512_tile<Avx512Floats, 12, 2>};
  if (instructions == Instructions::avx2) return {6, 16, avx2_tile<Avx2Floats, 6, 2>};
#endif
  static_cast<void>(instructions);
  return {4, 8, portable_tile<float, 4, 8>};
}

template <>
Tile<double> tile_for(Instructions instructions) {
#if defined(__x86_64__)
  if (instructions == Instructions::avx512) return {12, 16, avx512_tile<Avx512Doubles, 12, 2>};
  if (instructions == Instructions::avx2) return {6, 8, avx2_tile<Avx2Doubles, 6, 2>};
#endif
  static_cast<void>(instructions);
  return {4, 4, portable_tile<double, 4, 4>};
}

}  // namespace simgrad::models
