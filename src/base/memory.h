/// The memory of the machine.
#pragma once

#include <optional>
#include <string>

namespace simgrad::base {

/// Bytes that this process may still take: those that Linux has available, or what is left of its control group's
/// limit if that is less. None where neither is known.
/// root: where /proc and /sys are; for tests.
std::optional<double> available_memory_bytes(const std::string& root = "");

}  // namespace simgrad::base
