#include "training/learning/row_source.h"

#include <algorithm>

namespace simgrad::training {

std::int64_t CachedRows::missing(int part, int parts, std::int64_t rows) {
  if (parts != parts_) {
    parts_ = parts;
    of_other_parts_ = 0;
    for (const auto& [held_part, count] : held_) of_other_parts_ += count;
    held_.clear();
  }
  const auto held = held_.find(part);
  return std::max<std::int64_t>(0, rows - (held == held_.end() ? of_other_parts_ : held->second));
}

void CachedRows::add(int part, std::int64_t rows) {
  const bool is_new = held_.insert_or_assign(part, rows).second;
  if (is_new) of_other_parts_ -= std::min(of_other_parts_, rows);
}

}  // namespace simgrad::training
