/// Reader of NPY files, which NumPy's `save` writes.
#pragma once

#include "data/source.h"

namespace simgrad::data {

/// Versions 1 to 3 of the format, of numbers: b1, i1 to i8, u1 to u8, f4 and f8, either byte order. One dimension is
/// one feature; of more than two, all but the first are flattened. Two dimensions may be in Fortran's order.
struct Npy : Source {
  static constexpr base::About about{
      .kind = "npy",
      .summary = "NPY files of samples and of labels, as numpy.save writes them",
      .cost = "one pass over the files; 8 bytes a number then",
      .source = "R. Kern, A simple file format for NumPy arrays, NumPy Enhancement Proposal 1, 2007"};

  std::string path;         ///< samples
  std::string labels_path;  ///< one number a sample

  void describe(base::Describer& d) override;
  bool generates() const override { return false; }
  std::vector<std::string> files() const override { return {path, labels_path}; }
  Dataset load(const Request& request) const override;

  /// The data set that the bytes of the two files mean; the paths serve for errors only.
  Dataset read(std::string samples, std::string labels, const Request& request) const;
};

}  // namespace simgrad::data
