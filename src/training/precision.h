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

/// Bytes of one number of each kind.
struct NumberBytes {
  double parameter = 8.0;   ///< as products read them, and as they are gathered
  double gradient = 8.0;    ///< as they are summed
  double activation = 8.0;  ///< as they are kept for the backward pass
  double product = 8.0;     ///< as the devices' matrix units multiply them
  double master = 0.0;      ///< a float32 copy of a parameter beside it
  double moment = 8.0;      ///< each of the optimizer's vectors
  double wire = 8.0;        ///< in a message, uncompressed
};

constexpr NumberBytes number_bytes(Precision precision) {
  switch (precision) {
    case Precision::float64:
      return {};
    case Precision::float32:
      return {4.0, 4.0, 4.0, 4.0, 0.0, 4.0, 4.0};
    case Precision::bfloat16:
    case Precision::float16:
      return {2.0, 2.0, 2.0, 2.0, 4.0, 4.0, 2.0};
    case Precision::float8:
      return {2.0, 2.0, 2.0, 1.0, 4.0, 4.0, 2.0};
  }
  return {};
}

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

constexpr NumberBytes number_bytes(Precision precision, Wire wire) {
  NumberBytes bytes = number_bytes(precision);
  bytes.wire = values::wire_format(travels_as(precision, wire)).bytes_per_number;
  return bytes;
}

}  // namespace simgrad::training
