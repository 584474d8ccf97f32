#include "outputs/fields.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "outputs/describe_run.h"

namespace simgrad::outputs {
namespace {

using record::Presence;

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;
template <class T>
inline constexpr bool is_number<std::optional<T>> = is_number<T>;

/// Collects the described fields that are numbers.
class Numbers {
 public:
  std::vector<std::pair<std::string_view, std::optional<double>>> all;

  template <class T>
  void value(std::string_view name, const T& field, Presence /*presence*/ = Presence::always) {
    if constexpr (is_optional<T> && is_number<T>)
      add(name, field ? std::optional(static_cast<double>(*field)) : std::nullopt);
    else if constexpr (is_number<T>)
      add(name, static_cast<double>(field));
  }
  void computed(std::string_view name, const std::optional<double>& field) { add(name, field); }
  void grid_point(std::string_view /*name*/, const nlohmann::ordered_json& /*field*/) {}
  void text_or_null(std::string_view /*name*/, const std::string& /*field*/) {}
  void counts(std::string_view /*name*/, const std::map<std::int64_t, std::int64_t>& /*field*/) {}
  template <class Item>
  void items(std::string_view /*name*/, const std::vector<Item>& /*all*/, Presence /*presence*/) {}

 private:
  void add(std::string_view name, std::optional<double> number) {
    all.emplace_back(name, number && std::isfinite(*number) ? number : std::nullopt);
  }
};

Numbers numbers_of(const Run& run) {
  Numbers numbers;
  describe(run, numbers);
  return numbers;
}

}  // namespace

const std::vector<std::string>& numeric_fields() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const auto& [name, number] : numbers_of(Run{}).all) names.emplace_back(name);
    return names;
  }();
  return all;
}

std::optional<double> field(const Run& run, const std::string& name) {
  const Numbers numbers = numbers_of(run);
  const auto found = std::ranges::find(numbers.all, name, &std::pair<std::string_view, std::optional<double>>::first);
  return found == numbers.all.end() ? std::nullopt : found->second;
}

}  // namespace simgrad::outputs
