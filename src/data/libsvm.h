/// Reader of LIBSVM (svmlight) files: sparse rows for models that take them, else a dense matrix.
#pragma once

#include <string>

#include "data/source.h"

namespace simgrad::data {

/// A line is `label index:value index:value ... # comment` with ascending indices; values that are not listed are 0.
/// `qid:` and comments are skipped. Indices count from 0 if an index 0 occurs in the file, else from 1; the features
/// are called
/// by the file's own indices, "feature_<index>". Labels are numbers. In a classification the distinct labels, sorted,
/// are the classes 0 .. k-1, so that -1/+1 become 0/1. For sparse rows the file is read in blocks, and only its entries
/// must fit in memory.
struct Libsvm : Source {
  static constexpr base::About about{
      .kind = "libsvm",
      .summary = "A LIBSVM (svmlight) file: sparse rows for sparse models, held as a dense matrix for all others",
      .cost = "one pass over the file; 4 or 12 bytes an entry (without and with values), or 8 a row and feature",
      .source = "C.-C. Chang, C.-J. Lin, LIBSVM: a Library for Support Vector Machines, ACM TIST 2, 2011"};

  std::string path;

  void describe(base::Describer& d) override;
  bool generates() const override { return false; }
  bool keeps_sparse() const override { return true; }
  std::vector<std::string> files() const override { return {path}; }
  Dataset load(const Request& request) const override;

  /// The data set that a file's text describes; `path` is only for errors.
  Dataset read(std::string text, const Request& request) const;
};

}  // namespace simgrad::data
