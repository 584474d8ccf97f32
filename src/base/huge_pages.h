/// Huge pages for memory that is read at random places.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace simgrad::base {

/// Asks the system for huge pages for this memory, before its first use. A refusal changes nothing.
inline void prefer_huge_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace simgrad::base
