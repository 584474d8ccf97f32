#include "scenario/json.h"

#include <fmt/format.h>

#include "base/errors.h"

namespace simgrad::scenario {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string inline_table(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items())
    if (!value.is_null()) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", toml_key(key), inline_toml(value));
  return text.empty() ? "{}" : fmt::format("{{ {} }}", text);
}

std::string inline_array(const Json& array) {
  std::string text;
  for (const Json& item : array) text += fmt::format("{}{}", text.empty() ? "" : ", ", inline_toml(item));
  return fmt::format("[{}]", text);
}

bool list_of_tables(const Json& value) {
  if (!value.is_array() || value.empty()) return false;
  for (const Json& item : value)
    if (!item.is_object()) return false;
  return true;
}

std::string lines(const Json& object) {
  std::string text;
  for (const auto& [key, value] : object.items())
    if (!value.is_null()) text += fmt::format("{} = {}\n", toml_key(key), inline_toml(value));
  return text;
}

}  // namespace

Json json(const Node& node) {
  return std::visit(Overloaded{[](const Date& date) { return Json(date.text); },
                               [](const Shared<Array>& array) {
                                 Json list = Json::array();
                                 for (const Node& item : *array) list.push_back(json(item));
                                 return list;
                               },
                               [](const Shared<Table>& table) {
                                 Json object = Json::object();
                                 // Each key is there once; object[key] would look through all of them.
                                 auto& members = object.get_ref<Json::object_t&>();
                                 for (const Entry& entry : (*table).entries)
                                   members.emplace_back(entry.key, json(entry.node));
                                 return object;
                               },
                               [](const auto& value) { return Json(value); }},
                    node.content);
}

std::string inline_toml(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return inline_table(value);
    case Json::value_t::array:
      return inline_array(value);
    case Json::value_t::string:
      return toml_string(value.get_ref<const std::string&>());
    case Json::value_t::boolean:
      return value.get<bool>() ? "true" : "false";
    case Json::value_t::number_integer:
      return fmt::to_string(value.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      return fmt::to_string(value.get<std::uint64_t>());
    case Json::value_t::number_float:
      return float_text(value.get<double>());
    default:
      base::invariant_broken("TOML has no null", std::source_location::current());
  }
}

std::string inline_toml(const Node& node) { return inline_toml(json(node)); }

std::string toml(const Json& tree) {
  base::check(tree.is_object(), "a TOML document is a table");
  // Plain values come first: after the first header they would belong to its table.
  std::string plain;
  std::string tables;
  for (const auto& [key, value] : tree.items()) {
    const std::string name = toml_key(key);
    if (value.is_object()) {
      tables += fmt::format("\n[{}]\n{}", name, lines(value));
    } else if (list_of_tables(value)) {
      for (const Json& item : value) tables += fmt::format("\n[[{}]]\n{}", name, lines(item));
    } else if (!value.is_null()) {
      plain += fmt::format("{} = {}\n", name, inline_toml(value));
    }
  }
  return plain + tables;
}

}  // namespace simgrad::scenario
