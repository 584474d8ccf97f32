#include "data/labelled_arrays.h"

#include <fmt/format.h>

#include "data/text_file.h"

namespace simgrad::data {

void LabelledArrays::describe(base::Describer& d) {
  d.path("path", path, "the file of the samples");
  d.path("labels_path", labels_path, "the file of their labels; a clustering needs none");
  if (path.empty()) d.refuse("path", fmt::format("the data source \"{}\" needs the path of a file of samples", name()));
}

std::vector<std::string> LabelledArrays::files() const {
  return labels_path.empty() ? std::vector{path} : std::vector{path, labels_path};
}

Dataset LabelledArrays::load(const Request& request) const {
  std::string samples = file_contents(path);
  return read(std::move(samples), labels_path.empty() ? std::string() : file_contents(labels_path), request);
}

Dataset LabelledArrays::read(std::string samples, std::string labels, const Request& request) const {
  if (labels_path.empty()) return unlabelled(array_of(std::move(samples), path));
  const ArrayFile named = array_of(std::move(labels), labels_path);
  return labelled(array_of(std::move(samples), path), named, request);
}

}  // namespace simgrad::data
