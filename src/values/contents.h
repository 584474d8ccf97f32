/// The numbers of tensors by their lineage: a state of a training that another run can go on from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "values/lineage.h"

namespace simgrad::values {

using Contents = std::map<Lineage, std::vector<double>>;

/// The text of a file: numbers in this machine's order of bytes, and a checksum.
std::string text_of(const Contents& contents);
/// The contents in a file's text; nothing if it is not whole, or of a machine with another order of bytes.
std::optional<Contents> contents_of(std::string_view text);

}  // namespace simgrad::values
