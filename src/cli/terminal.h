/// The terminal that standard output goes to.
#pragma once

#include <cstddef>
#include <optional>

namespace simgrad::cli {

/// Its columns, 60 at least; nothing where standard output goes elsewhere.
std::optional<std::size_t> terminal_width();

}  // namespace simgrad::cli
