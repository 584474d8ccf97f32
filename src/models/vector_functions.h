/// Functions of many numbers at once, for float and double: one text for both, and the same bits on every machine.
///
/// Polynomials of our own instead of the C library's functions, which loops cannot be vectorised over. Sums over a row
/// have sixteen interleaved parts (eight of doubles), whatever the instructions.
/// Errors of exponentials: 2 units in the last place; of gelu: some 1e-7 (float) and 1e-15 (double) of the input.
#pragma once

#include <cstdint>

namespace simgrad::models {

/// value_i = u_i Phi(u_i), slope_i = its derivative Phi(u_i) + u_i phi(u_i), with the normal distribution's function
/// and density.  Source: D. Hendrycks, K. Gimpel, Gaussian Error Linear Units, 2016 (the exact form).
void gelu(std::int64_t n, const float* u, float* value, float* slope);
void gelu(std::int64_t n, const double* u, double* value, double* slope);

/// value_i = g_i sigmoid(g_i) u_i.  Source: N. Shazeer, GLU Variants Improve Transformer, 2020 (SwiGLU).
void swiglu(std::int64_t n, const float* g, const float* u, float* value);
void swiglu(std::int64_t n, const double* g, const double* u, double* value);
/// Replaces g and u by the derivatives of a loss with respect to them, whose derivatives by the values are d_value.
void swiglu_slopes(std::int64_t n, const float* d_value, float* g, float* u);
void swiglu_slopes(std::int64_t n, const double* d_value, double* g, double* u);

/// Replaces x_i by exp(scale x_i - max over j of scale x_j), scale > 0.  Returns the sum, which lies between 1 and n.
float exponentials(std::int64_t n, float scale, float* x);
double exponentials(std::int64_t n, double scale, double* x);

/// The sum of x_i y_i.
float dot_product(std::int64_t n, const float* x, const float* y);
double dot_product(std::int64_t n, const double* x, const double* y);
/// The sum of x_i.
float sum_of(std::int64_t n, const float* x);
double sum_of(std::int64_t n, const double* x);

/// y_i <- y_i + x_i.
void add_numbers(std::int64_t n, const float* x, float* y);
void add_numbers(std::int64_t n, const double* x, double* y);

}  // namespace simgrad::models
