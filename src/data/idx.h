/// Reader of IDX files, the format of the MNIST digits.
#pragma once

#include "data/labelled_arrays.h"

namespace simgrad::data {

/// Each sample is a row: images are flattened.
struct Idx : LabelledArrays {
  static constexpr base::About about{
      .kind = "idx",
      .summary = "IDX files of samples and of labels (MNIST's format), plain or gzipped",
      .cost = "one pass over the files; 8 bytes a number then",
      .source = "Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits, 1998"};

 protected:
  std::string_view name() const override { return about.kind; }
  ArrayFile array_of(std::string bytes, const std::string& file_name) const override;
};

}  // namespace simgrad::data
