/// All that a name can mean to `explain`, the likeliest meaning first.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/catalogue.h"

namespace simgrad::cli {

/// Meanings in the order in which they are shown.
enum class Likely { name, key, strategy_option, kind, field, option, value, letter, device };

/// One meaning of a name.
struct Sense {
  Likely likely = Likely::name;
  std::string text;      ///< whole lines
  std::string in_short;  ///< one line without its end, to be said again behind a long answer
};

/// Components, options, values of options, columns of results and letters of that name; the likeliest first.
std::vector<Sense> senses(const std::string& wanted);

/// A component of the catalogue, and its kind.
using KindItem = std::pair<const Kind*, const Item*>;

/// Components of one kind whose names begin alike, or all of a kind: a line each, and then their options, each once.
/// heading: the first line, without its end.
std::string variants_text(const std::string& heading, const std::vector<KindItem>& variants);

}  // namespace simgrad::cli
