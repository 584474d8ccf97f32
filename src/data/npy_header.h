/// The header of an NPY file: a Python dictionary with three entries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simgrad::data {

struct NpyHeader {
  std::string descr;  ///< the type: "<f8"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, the entries in any order.  `path` is for
/// errors. Errors: ScenarioError `path: ...` for anything else, such as records (a list of fields as `descr`).
NpyHeader npy_header(std::string_view text, const std::string& path);

}  // namespace simgrad::data
