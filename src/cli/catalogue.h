/// Everything that a scenario can name, for `list` and `explain`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/describe.h"

namespace simgrad::cli {

struct Item {
  base::About about;
  std::function<std::unique_ptr<base::Described>()> make;  ///< null for a value without options
  std::string where = {};                                  ///< if it differs from the kind's
};

struct Kind {
  std::string name;   ///< "strategies"
  std::string one;    ///< "strategy"
  std::string where;  ///< "[[strategy]] kind"
  std::vector<Item> items;
};

const std::vector<Kind>& catalogue();

}  // namespace simgrad::cli
