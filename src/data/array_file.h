/// An array of numbers as a binary file holds it: what IDX and NPY files have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source.h"

namespace simgrad::data {

/// How one number is written.
struct Element {
  enum class Kind { unsigned_integer, signed_integer, floating };
  Kind kind = Kind::floating;
  std::int64_t bytes = 8;  ///< 1, 2, 4 or 8; of a floating one 4 or 8
  bool big_endian = false;
};

/// A file's numbers, not yet decoded, and their shape. The first dimension counts rows; the others, flattened, are a
/// row's columns.
struct ArrayFile {
  std::string path;       ///< for errors
  std::string bytes;      ///< of the whole file
  std::size_t begin = 0;  ///< where the numbers start
  Element element;
  std::vector<std::int64_t> shape;
  bool columns_first = false;  ///< two dimensions, column by column (Fortran's order)

  std::int64_t rows() const { return shape.front(); }
  std::int64_t columns() const;
  double at(std::int64_t row, std::int64_t column) const;
};

/// How many bytes the numbers of that shape take.
/// Errors: ScenarioError `path: ...` for no dimension, an empty one, or more than `cells_most` numbers.
std::int64_t payload_bytes(const std::string& path, const std::vector<std::int64_t>& shape, const Element& element);

/// Errors: ScenarioError if the file does not hold exactly the numbers that its shape says.
void check_length(const ArrayFile& file);

/// The data set of a file of samples and a file of their labels, as many as there are samples. Features are called
/// "feature_1", ...; for a classification the different labels, whole numbers, sorted, are the classes 0 .. k-1.
/// Errors: ScenarioError `path: ...` for shapes that do not go together, numbers that are not finite, labels that are
/// no classes.
Dataset labelled(const ArrayFile& samples, const ArrayFile& labels, const Request& request);
/// The same without labels; the target of every sample is 0.
Dataset unlabelled(const ArrayFile& samples);

}  // namespace simgrad::data
