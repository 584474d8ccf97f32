/// An array of numbers in a binary file: the part that IDX and NPY files share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source.h"

namespace simgrad::data {

/// The type and byte order of a file's numbers.
struct Element {
  enum class Kind { unsigned_integer, signed_integer, floating };
  Kind kind = Kind::floating;
  std::int64_t bytes = 8;  ///< 1, 2, 4 or 8; for a floating type 4 or 8
  bool big_endian = false;
};

/// A file's numbers, not yet decoded, and their shape. The first dimension counts rows. The other dimensions,
/// flattened, are a row's columns.
struct ArrayFile {
  std::string path;       ///< for errors
  std::string bytes;      ///< the whole file
  std::size_t begin = 0;  ///< where the numbers start
  Element element;
  std::vector<std::int64_t> shape;
  bool columns_first = false;  ///< two dimensions, stored column by column (Fortran's order)

  std::int64_t rows() const { return shape.front(); }
  std::int64_t columns() const;
  double at(std::int64_t row, std::int64_t column) const;
};

/// The bytes of as many numbers as the shape says.
/// Errors: ScenarioError `path: ...` for no dimension, an empty one, or more than `cells_most` numbers.
std::int64_t payload_bytes(const std::string& path, const std::vector<std::int64_t>& shape, const Element& element);

/// Checks that the file has exactly the bytes of its shape.  Errors: ScenarioError.
void check_length(const ArrayFile& file);

/// The data set of a file of samples and a file of their labels, one for each sample. Features are called "feature_1",
/// ... In a classification the distinct labels, which are whole numbers, become the classes 0 .. k-1 in ascending
/// order.  Errors: ScenarioError `path: ...` for shapes that do not match, numbers that are not finite, labels that are
/// not classes.
Dataset labelled(const ArrayFile& samples, const ArrayFile& labels, const Request& request);
/// The data set of a file of samples without labels; every target is 0.
Dataset unlabelled(const ArrayFile& samples);

}  // namespace simgrad::data
