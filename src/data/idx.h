/// Reader of IDX files, in which the MNIST digits are published.
#pragma once

#include "data/source.h"

namespace simgrad::data {

/// Each sample is a row: images are flattened.
struct Idx : Source {
  static constexpr base::About about{
      .kind = "idx",
      .summary = "IDX files of samples and of labels (MNIST's format), plain or gzipped",
      .cost = "one pass over the files; 8 bytes a number then",
      .source = "Y. LeCun, C. Cortes, C. J. C. Burges, The MNIST database of handwritten digits, 1998"};

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
