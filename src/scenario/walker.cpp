#include "scenario/walker.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "scenario/phrases.h"

namespace simgrad::scenario {

namespace {

/// An infinite default ("no limit") cannot be written in a scenario and counts as not there.
Json finite(std::optional<double> value) { return value && std::isfinite(*value) ? Json(*value) : Json(); }

Json written(std::optional<double> value, base::Unit unit) {
  return value && std::isfinite(*value) ? Json(base::format_quantity(*value, unit)) : Json();
}

template <class T>
Json present(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

std::string relative(const std::string& path, std::string_view directory) {
  const std::filesystem::path resolved(path);
  if (path.empty() || directory.empty() || resolved.is_absolute()) return path;
  // lexically_relative is empty where there is no path, as from an absolute directory to a relative path.
  const std::string way = resolved.lexically_relative(std::filesystem::path(directory).lexically_normal()).string();
  return way.empty() ? path : way;
}

}  // namespace

std::string Leaf::type() const {
  if (!choices.empty()) return one_of(names(choices));
  return word.empty() ? std::string(type_name) : fmt::format("{} or \"{}\"", type_name, word);
}

std::string Leaf::range() const { return scenario::range(bounds, unit); }

void Walker::flag(std::string_view key, bool& value, std::string_view meaning) {
  leaf({key, value, "true or false", meaning});
}

void Walker::integer(std::string_view key, std::int64_t& value, std::string_view meaning, base::Bounds bounds) {
  leaf({key, value, "integer", meaning, bounds});
}

void Walker::integer(std::string_view key, std::optional<std::int64_t>& value, std::string_view meaning,
                     base::Bounds bounds) {
  leaf({key, present(value), "integer", meaning, bounds});
}

void Walker::integer_or(std::string_view key, std::optional<std::int64_t>& value, std::string_view word,
                        std::string_view meaning, base::Bounds bounds) {
  leaf({key, value ? Json(*value) : Json(std::string(word)), "integer", meaning, bounds, {}, word});
}

void Walker::number(std::string_view key, double& value, std::string_view meaning, base::Bounds bounds) {
  leaf({key, finite(value), "number", meaning, bounds});
}

void Walker::number(std::string_view key, std::optional<double>& value, std::string_view meaning, base::Bounds bounds) {
  leaf({key, finite(value), "number", meaning, bounds});
}

void Walker::quantity(std::string_view key, double& value, base::Unit unit, std::string_view meaning,
                      base::Bounds bounds) {
  leaf({key, written(value, unit), base::unit_name(unit).measures, meaning, bounds, unit});
}

void Walker::quantity(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view meaning,
                      base::Bounds bounds) {
  leaf({key, written(value, unit), base::unit_name(unit).measures, meaning, bounds, unit});
}

void Walker::number_or(std::string_view key, std::optional<double>& value, std::string_view word,
                       std::string_view meaning, base::Bounds bounds) {
  leaf({key, value ? finite(value) : Json(std::string(word)), "number", meaning, bounds, {}, word});
}

void Walker::quantity_or(std::string_view key, std::optional<double>& value, base::Unit unit, std::string_view word,
                         std::string_view meaning, base::Bounds bounds) {
  leaf({key, value ? written(value, unit) : Json(std::string(word)), base::unit_name(unit).measures, meaning, bounds,
        unit, word});
}

void Walker::text(std::string_view key, std::string& value, std::string_view meaning) {
  leaf({key, value, "string", meaning});
}

void Walker::text(std::string_view key, std::optional<std::string>& value, std::string_view meaning) {
  leaf({key, present(value), "string", meaning});
}

void Walker::path(std::string_view key, std::string& value, std::string_view meaning) {
  leaf({key, relative(value, directory_), "path", meaning});
}

void Walker::numbers(std::string_view key, std::vector<double>& values, std::string_view meaning, base::Bounds bounds) {
  leaf({key, values, "list of numbers", meaning, bounds});
}

/// An empty list is left out, as an optional value that is not there.
void Walker::names_or_indices(std::string_view key, std::vector<std::string>& values, std::string_view meaning) {
  leaf({key, values.empty() ? Json() : Json(values), "list of names or indices", meaning});
}

void Walker::pairs(std::string_view key, std::vector<std::pair<std::string, std::string>>& values,
                   std::string_view meaning) {
  Json object;
  for (const auto& [name, toml] : values) object[name] = json(parse_value(toml, {}));
  leaf({key, std::move(object), "table of keys and values", meaning});
}

void Walker::any_choice(std::string_view key, int& index, std::span<const base::Choice> choices,
                        std::string_view meaning) {
  leaf({.key = key,
        .value = std::string(choices[static_cast<std::size_t>(index)].name),
        .type_name = {},
        .meaning = meaning,
        .choices = choices});
}

}  // namespace simgrad::scenario
