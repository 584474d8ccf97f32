/// The memory of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/errors.h"

namespace simgrad::base {

/// Bytes that this process may still take: those that Linux has available, or what is left of its control group's
/// limit or of that of its address space (ulimit -v) if that is less. None where none is known.
/// root: where /proc and /sys are; for tests.
std::optional<double> available_memory_bytes(const std::string& root = "");

/// Half of these bytes, or no limit where none is known: for work whose parts are there twice for a while.
std::uintmax_t half_of_free_memory();

/// The error for something that would take more memory than this process may take: another machine may have it.
class TooMuchMemory : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// Refuses what would take more memory than this process may take now. what: "t.idx: 60000 rows x 784 columns".
/// Errors: TooMuchMemory.
void require_memory(double bytes, const std::string& what);

/// Lets this process, and the children that it starts, take so many bytes more than it has now: allocations fail beyond
/// them. A lower limit stays. It does nothing under AddressSanitizer, whose own mappings are terabytes.
void limit_memory(std::uintmax_t more_bytes);

/// As limit_memory, for the life of this.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uintmax_t more_bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  std::uintmax_t before_;
};

}  // namespace simgrad::base
