/// The formats of a training's numbers: how many bytes they take, and how they are rounded.
#pragma once

#include <string_view>

#include "values/wire_format.h"

namespace simgrad::training {

/// [training] precision. Mixed: parameters, gradients and activations in half precision beside a float32 copy of the
/// parameters, which the optimizer updates. Source: P. Micikevicius et al., "Mixed Precision Training", ICLR 2018.
enum class Precision : unsigned char {
  float64,
  float32,
  bfloat16,  ///< mixed
  float16,   ///< mixed, with a loss scale
  float8     ///< as bfloat16, with products of float8 numbers
};

std::string_view name(Precision precision);

/// Whether gradients that are kept in more bytes than passes make them in have one buffer of all parameters:
/// Megatron-LM's main_grad, which is there from the beginning on. Products add to it, and it is summed in place,
/// without copies.
enum class MainGradients : unsigned char {
  never,
  on_demand,  ///< where gradient_precision asks for more bytes
  by_default  ///< likewise, and gradient_precision = "framework" does beside bfloat16
};

/// Bytes of one number of each kind.
struct NumberBytes {
  double parameter = 8.0;      ///< as products read them, and as they are gathered
  double gradient = 8.0;       ///< as a pass makes it, and as it is summed
  double activation = 8.0;     ///< as they are kept for the backward pass
  double product = 8.0;        ///< as the devices' matrix units multiply them
  double master = 0.0;         ///< a float32 copy of a parameter beside it
  double moment = 8.0;         ///< each of the optimizer's vectors
  double wire = 8.0;           ///< in a message, uncompressed
  double kept_gradient = 8.0;  ///< a gradient in memory until the update
  double main_gradient = 8.0;  ///< likewise, by_default

  /// Returns the bytes with the kept gradients of such a strategy.
  constexpr NumberBytes of_gradients(MainGradients main) const {
    NumberBytes bytes = *this;
    if (main == MainGradients::by_default) bytes.kept_gradient = main_gradient;
    return bytes;
  }
  /// Whether its gradients are in a buffer.
  constexpr bool in_buffer(MainGradients main) const {
    return main != MainGradients::never && of_gradients(main).kept_gradient > gradient;
  }
};

/// [training] gradient_precision: the format of gradients in memory until the update.
enum class GradientPrecision : unsigned char {
  framework,  ///< float32 in Megatron-LM's main_grad beside bfloat16, else as_made
  as_made,    ///< the format in which passes make them
  float32
};

/// [training] wire: the format in which uncompressed numbers travel. They are rounded to it when they are sent, and
/// sums on the way in every addition.
enum class Wire : unsigned char {
  as_precision,  ///< as they are in memory
  float64,
  float32,
  float16,
  bfloat16
};

/// The format in which gradients and parameters of that precision are in memory.
constexpr values::Format travels_as(Precision precision) {
  switch (precision) {
    case Precision::float64:
      return values::Format::float64;
    case Precision::float32:
      return values::Format::float32;
    case Precision::float16:
      return values::Format::float16;
    case Precision::bfloat16:
    case Precision::float8:
      return values::Format::bfloat16;
  }
  return values::Format::float64;
}

/// The format in which they travel.
constexpr values::Format travels_as(Precision precision, Wire wire) {
  switch (wire) {
    case Wire::as_precision:
      return travels_as(precision);
    case Wire::float64:
      return values::Format::float64;
    case Wire::float32:
      return values::Format::float32;
    case Wire::float16:
      return values::Format::float16;
    case Wire::bfloat16:
      return values::Format::bfloat16;
  }
  return travels_as(precision);
}

constexpr NumberBytes number_bytes(Precision precision, Wire wire = Wire::as_precision,
                                   GradientPrecision gradients = GradientPrecision::framework) {
  NumberBytes bytes;
  switch (precision) {
    case Precision::float64:
      break;
    case Precision::float32:
      bytes = {4.0, 4.0, 4.0, 4.0, 0.0, 4.0};
      break;
    case Precision::bfloat16:
    case Precision::float16:
      bytes = {2.0, 2.0, 2.0, 2.0, 4.0, 4.0};
      break;
    case Precision::float8:
      bytes = {2.0, 2.0, 2.0, 1.0, 4.0, 4.0};
      break;
  }
  bytes.wire = values::wire_format(travels_as(precision, wire)).bytes_per_number;
  bytes.kept_gradient = gradients == GradientPrecision::float32 ? 4.0 : bytes.gradient;
  const bool bfloat16 = precision == Precision::bfloat16 || precision == Precision::float8;
  const bool main_grad = gradients == GradientPrecision::framework && bfloat16;
  bytes.main_gradient = main_grad ? 4.0 : bytes.kept_gradient;
  return bytes;
}

}  // namespace simgrad::training
