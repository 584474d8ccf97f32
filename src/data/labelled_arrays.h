/// Sources of two files of arrays: one of samples, one of their labels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/array_file.h"
#include "data/source.h"

namespace simgrad::data {

class LabelledArrays : public Source {
 public:
  std::string path;         ///< samples
  std::string labels_path;  ///< one number a sample; empty: none, for a clustering

  void describe(base::Describer& d) override;
  bool generates() const override { return false; }
  bool suits(Task task) const override {
    return task == Task::clustering || (Source::suits(task) && !labels_path.empty());
  }
  std::vector<std::string> files() const override;
  Dataset load(const Request& request) const override;

  /// The data set that the bytes of the two files describe. The paths are for errors; an empty `labels_path` means that
  /// there are no labels.
  Dataset read(std::string samples, std::string labels, const Request& request) const;

 protected:
  /// The kind, for errors.
  virtual std::string_view name() const = 0;
  /// The array that the bytes of a file describe.  Errors: base::ScenarioError.
  virtual ArrayFile array_of(std::string bytes, const std::string& file_name) const = 0;
};

}  // namespace simgrad::data
