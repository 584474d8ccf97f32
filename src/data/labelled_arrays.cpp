#include "data/labelled_arrays.h"

#include <fmt/format.h>

#include "data/text_file.h"

namespace simgrad::data {

void LabelledArrays::describe(base::Describer& d) {
  d.path("path", path, "the file of the samples");
  d.path("labels_path", labels_path, "the file of their labels");
  const auto need = [&](const char* key, const std::string& given, const char* what) {
    if (given.empty()) d.refuse(key, fmt::format("the data source \"{}\" needs the path of a file of {}", name(), what));
  };
  need("path", path, "samples");
  need("labels_path", labels_path, "labels");
}

Dataset LabelledArrays::load(const Request& request) const {
  std::string samples = file_contents(path);
  return read(std::move(samples), file_contents(labels_path), request);
}

Dataset LabelledArrays::read(std::string samples, std::string labels, const Request& request) const {
  const ArrayFile named = array_of(std::move(labels), labels_path);
  return labelled(array_of(std::move(samples), path), named, request);
}

}  // namespace simgrad::data
