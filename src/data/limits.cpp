#include "data/limits.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/memory.h"

namespace simgrad::data {

std::string too_large(std::int64_t rows, std::int64_t columns) {
  base::check(rows >= 0 && columns >= 1, "the shape of a data set");
  // Divides instead of multiplying, because the product may overflow.
  if (columns <= columns_most && rows <= cells_most / columns) return {};
  const double gib = static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double) / 0x1.0p30;
  return fmt::format("{} rows x {} columns would take {:.1f} GiB; the limits are {} GiB and {} columns", rows, columns,
                     gib, cells_most * static_cast<std::int64_t>(sizeof(double)) >> 30, columns_most);
}

std::string too_large_sparse(std::int64_t rows, std::int64_t nonzeros, std::int64_t columns) {
  base::check(rows >= 0 && nonzeros >= 0 && columns >= 1, "the shape of sparse rows");
  if (columns <= keys_most && (nonzeros == 0 || rows <= entries_most / nonzeros)) return {};
  return fmt::format("{} rows of {} entries over {} columns; the limits are {} entries and {} columns", rows, nonzeros,
                     columns, entries_most, keys_most);
}

void require_room(std::int64_t rows, std::int64_t columns, const std::string& what) {
  if (const std::string fault = too_large(rows, columns); !fault.empty())
    throw base::ScenarioError(fmt::format("{}: {}", what, fault));
  base::require_memory(static_cast<double>(rows) * static_cast<double>(columns + 1) * sizeof(double),
                       fmt::format("{}: {} rows x {} columns", what, rows, columns));
}

Dataset sized_dataset(std::int64_t rows, std::int64_t columns, const std::string& what) {
  require_room(rows, columns, what);
  Dataset set;
  set.rows = rows;
  set.columns = columns;
  set.features.resize(static_cast<std::size_t>(rows * columns));
  set.targets.resize(static_cast<std::size_t>(rows));
  return set;
}

double held_bytes(const Split& data) {
  double bytes = 0.0;
  for (const Dataset* set : {&data.train, &data.test}) {
    bytes += static_cast<double>(set->features.capacity() + set->targets.capacity() + set->sparse.values.capacity()) *
             sizeof(double);
    bytes += static_cast<double>(set->sparse.starts.capacity()) * sizeof(std::int64_t);
    bytes += static_cast<double>(set->sparse.keys.capacity()) * sizeof(std::uint32_t);
  }
  return bytes;
}

}  // namespace simgrad::data
