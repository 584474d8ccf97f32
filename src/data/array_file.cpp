#include "data/array_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/errors.h"
#include "data/labels.h"
#include "data/limits.h"

namespace simgrad::data {

namespace {

/// The number of type T at that place; its bytes are reversed first if their order is not this machine's.
template <class T>
double read(const char* from, bool big_endian) {
  std::array<char, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), from, sizeof(T));
  if (big_endian != (std::endian::native == std::endian::big)) std::reverse(bytes.begin(), bytes.end());
  return static_cast<double>(std::bit_cast<T>(bytes));
}

double decoded(const char* from, const Element& element) {
  const bool big = element.big_endian;
  switch (element.kind) {
    case Element::Kind::unsigned_integer:
      if (element.bytes == 1) return read<std::uint8_t>(from, big);
      if (element.bytes == 2) return read<std::uint16_t>(from, big);
      if (element.bytes == 4) return read<std::uint32_t>(from, big);
      return read<std::uint64_t>(from, big);
    case Element::Kind::signed_integer:
      if (element.bytes == 1) return read<std::int8_t>(from, big);
      if (element.bytes == 2) return read<std::int16_t>(from, big);
      if (element.bytes == 4) return read<std::int32_t>(from, big);
      return read<std::int64_t>(from, big);
    case Element::Kind::floating:
      break;
  }
  return element.bytes == 4 ? read<float>(from, big) : read<double>(from, big);
}

double finite(const ArrayFile& file, std::int64_t row, std::int64_t column) {
  const double value = file.at(row, column);
  if (std::isfinite(value)) return value;
  throw base::ScenarioError(
      fmt::format("{}: row {}, column {} is {}, expected a finite number", file.path, row, column, value));
}

}  // namespace

std::int64_t ArrayFile::columns() const {
  std::int64_t product = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) product *= shape[i];
  return product;
}

double ArrayFile::at(std::int64_t row, std::int64_t column) const {
  const std::int64_t place = columns_first ? column * rows() + row : row * columns() + column;
  return decoded(bytes.data() + begin + static_cast<std::size_t>(place * element.bytes), element);
}

std::int64_t payload_bytes(const std::string& path, const std::vector<std::int64_t>& shape, const Element& element) {
  const auto refuse = [&](const std::string& what) {
    throw base::ScenarioError(fmt::format("{}: the shape ({}) {}", path, fmt::join(shape, ", "), what));
  };
  if (shape.empty()) refuse("has no dimension, expected rows, or rows and columns");
  std::int64_t numbers = 1;
  for (const std::int64_t length : shape) {
    if (length < 1) refuse("holds nothing, expected at least one row and column");
    if (length > cells_most / numbers) refuse(fmt::format("is too large, expected at most {} numbers", cells_most));
    numbers *= length;
  }
  return numbers * element.bytes;
}

void check_length(const ArrayFile& file) {
  const std::int64_t expected = payload_bytes(file.path, file.shape, file.element);
  const auto held = static_cast<std::int64_t>(file.bytes.size() - file.begin);
  if (held == expected) return;
  throw base::ScenarioError(fmt::format("{}: {} {} bytes behind the header, expected {} for the shape ({})", file.path,
                                        held < expected ? "cut short:" : "there are", held, expected,
                                        fmt::join(file.shape, ", ")));
}

Dataset unlabelled(const ArrayFile& samples) {
  Dataset set = sized_dataset(samples.rows(), samples.columns(), samples.path);
  double* next = set.features.data();
  for (std::int64_t row = 0; row < set.rows; ++row)
    for (std::int64_t column = 0; column < set.columns; ++column) *next++ = finite(samples, row, column);
  for (std::int64_t j = 1; j <= set.columns; ++j) set.feature_names.push_back(fmt::format("feature_{}", j));
  set.target_name = "label";
  return set;
}

Dataset labelled(const ArrayFile& samples, const ArrayFile& labels, const Request& request) {
  if (labels.columns() != 1)
    throw base::ScenarioError(fmt::format("{}: {} numbers a row, expected one label", labels.path, labels.columns()));
  if (labels.rows() != samples.rows())
    throw base::ScenarioError(fmt::format("{}: {} labels, expected {}, as many as there are samples in {}", labels.path,
                                          labels.rows(), samples.rows(), samples.path));
  Dataset set = unlabelled(samples);
  for (std::int64_t row = 0; row < set.rows; ++row) set.targets[static_cast<std::size_t>(row)] = finite(labels, row, 0);
  if (request.task != Task::classification) return set;

  const std::vector<double> classes = set.targets;
  for (std::size_t row = 0; row < classes.size(); ++row)
    if (classes[row] != std::floor(classes[row]))
      throw base::ScenarioError(
          fmt::format("{}: row {} is {}, expected a whole number, a class; to predict numbers use a regression model",
                      labels.path, row, classes[row]));
  set_classes<double>(set, classes, fmt::format("{}: the label", labels.path));
  return set;
}

}  // namespace simgrad::data
