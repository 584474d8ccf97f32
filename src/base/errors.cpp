#include "base/errors.h"

#include <fmt/format.h>

namespace simgrad::base {

namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) {
    if (!all.empty()) all += '\n';
    all += line;
  }
  return all;
}

/// The path from src/ on: messages do not show the directory in which the program was built.
std::string_view short_file(std::string_view path) {
  const auto at = path.rfind("src/");
  return at == std::string_view::npos ? path : path.substr(at);
}

}  // namespace

ScenarioError::ScenarioError(std::vector<std::string> faults)
    : std::runtime_error(joined(faults)), faults_(std::move(faults)) {}

void invariant_broken(std::string_view what, const std::source_location& where) {
  throw InvariantError(fmt::format("{}:{}: broken invariant: {} (please report this)", short_file(where.file_name()),
                                   where.line(), what));
}

}  // namespace simgrad::base
