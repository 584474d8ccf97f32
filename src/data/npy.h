/// Reader of NPY files, which NumPy's `save` writes.
#pragma once

#include "data/labelled_arrays.h"

namespace simgrad::data {

/// Reads versions 1 to 3 of the format with numbers of the types b1, i1 to i8, u1 to u8, f4 and f8 in either byte
/// order. One dimension is one feature. If there are more than two dimensions, all but the first are flattened. Two
/// dimensions may be in Fortran's order.
struct Npy : LabelledArrays {
  static constexpr base::About about{
      .kind = "npy",
      .summary = "NPY files of samples and of labels, as numpy.save writes them",
      .cost = "one pass over the files; 8 bytes a number then",
      .source = "R. Kern, A simple file format for NumPy arrays, NumPy Enhancement Proposal 1, 2007"};

 protected:
  std::string_view name() const override { return about.kind; }
  ArrayFile array_of(std::string bytes, const std::string& file_name) const override;
};

}  // namespace simgrad::data
