#include "data/new_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "data/cells.h"
#include "data/sparse_rows.h"

namespace simgrad::data {

void read_new_rows(const Encoding& encoding, const std::string& path, Unseen unseen, const VisitRows& visit) {
  if (encoding.form == Encoding::Form::sparse) return read_sparse_rows(encoding, path, unseen, visit);
  read_table_rows(encoding, path, unseen, visit);
}

void finish_rows(const Encoding& encoding, NewRows& block) {
  Dataset& rows = block.rows;
  rows.rows = static_cast<std::int64_t>(block.lines.size());
  rows.columns = encoding.features + (encoding.bias ? 1 : 0);
  block.targets = rows.targets;
  if (!encoding.scaling.means.empty()) rescale(rows.features, rows.columns, encoding.scaling);
  if (!encoding.target_scaling.means.empty()) rescale(rows.targets, 1, encoding.target_scaling);
  if (encoding.sparse && !rows.sparse.any()) make_sparse(rows);
}

bool is_number(std::string_view text) { return parse_cell(text).kind == Cell::Kind::number; }

std::int64_t class_of(const Encoding& encoding, std::string_view label) {
  const std::vector<std::string>& names = encoding.class_names;
  if (const auto same = std::ranges::find(names, label); same != names.end()) return same - names.begin();
  const Cell cell = parse_cell(label, encoding.decimal);
  if (cell.kind != Cell::Kind::number) return -1;
  const auto equal = std::ranges::find_if(names, [&](const std::string& name) {
    const Cell known = parse_cell(name);
    return known.kind == Cell::Kind::number && known.value == cell.value;
  });
  return equal == names.end() ? -1 : equal - names.begin();
}

std::string known_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::vector<std::string> some(names.begin(),
                                names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most)));
  return base::joined(some) + (names.size() > most ? fmt::format(" or one of {} more", names.size() - most) : "");
}

}  // namespace simgrad::data
