#include "experiment/saved/encoding_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "outputs/reader.h"
#include "outputs/text/utf8.h"

namespace simgrad::experiment {

namespace {

using Json = nlohmann::ordered_json;
using data::Encoding;
using outputs::Reader;

constexpr std::array<std::string_view, 5> forms{"table", "sparse", "ratings", "text", "tokens"};
constexpr std::array<std::string_view, 3> gaps{"refuse", "drop", "mean"};
constexpr std::array<std::string_view, 6> tasks{"regression", "classification", "recommendation",
                                                "clustering", "text",           "mixture"};

/// The place of the word that the member is.
template <std::size_t N>
std::size_t place_in(const std::array<std::string_view, N>& names, const Reader& json, std::string_view key) {
  const auto found = std::ranges::find(names, json.text(key));
  if (found == names.end()) json.refuse(key, json.at(key), fmt::format("one of {}", fmt::join(names, ", ")));
  return static_cast<std::size_t>(found - names.begin());
}

/// A text, or the list of its bytes where it is not UTF-8.
Json json_text(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const outputs::Character character = outputs::first_character(rest);
    if (!character.sound) {
      Json bytes = Json::array();
      for (const char byte : text) bytes.push_back(static_cast<unsigned char>(byte));
      return bytes;
    }
    rest.remove_prefix(character.bytes);
  }
  return text;
}

/// The text that json_text has written, a member of the object or an item of such a member.
std::string text_of(const Reader& object, std::string_view key, const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) object.refuse(key, json, "a text, or a list of bytes");
  std::string text;
  for (const Json& byte : json) {
    if (!byte.is_number_unsigned() || byte.get<std::uint64_t>() > 0xFFU) object.refuse(key, byte, "bytes");
    text += static_cast<char>(byte.get<unsigned char>());
  }
  return text;
}
std::string text_in(const Reader& object, std::string_view key) { return text_of(object, key, object.at(key)); }

Json json_texts(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts) all.push_back(json_text(text));
  return all;
}

std::vector<std::string> texts_in(const Reader& object, std::string_view key) {
  std::vector<std::string> all;
  for (const Json& text : object.array(key)) all.push_back(text_of(object, key, text));
  return all;
}

std::vector<double> numbers_in(const Reader& object, std::string_view key) {
  std::vector<double> all;
  for (const Json& number : object.array(key)) {
    if (!number.is_number()) object.refuse(key, number, "numbers");
    all.push_back(number.get<double>());
  }
  return all;
}

std::vector<std::uint32_t> code_points_in(const Reader& object, std::string_view key) {
  std::vector<std::uint32_t> all;
  for (const Json& code : object.array(key)) {
    if (!code.is_number_unsigned() || !std::in_range<std::uint32_t>(code.get<std::uint64_t>()))
      object.refuse(key, code, "code points");
    all.push_back(code.get<std::uint32_t>());
  }
  return all;
}

Json json_column(const Encoding::Column& column) {
  Json json{{"name", json_text(column.name)}, {"place", column.place}, {"substitute", column.substitute}};
  if (!column.values.empty()) json["values"] = json_texts(column.values);
  return json;
}

Encoding::Column column_of(const Json& json) {
  const Reader object(json, "a column");
  Encoding::Column column;
  column.name = text_in(object, "name");
  column.place = object.integer<std::int64_t>("place");
  column.substitute = object.number("substitute");
  if (object.has("values")) column.values = texts_in(object, "values");
  return column;
}

Json json_scaling(const data::Scaling& scaling) {
  return {{"means", scaling.means}, {"deviations", scaling.deviations}, {"names", json_texts(scaling.names)}};
}

data::Scaling scaling_in(const Reader& encoding, std::string_view key) {
  const Reader object(encoding.at(key), key);
  return {.means = numbers_in(object, "means"),
          .deviations = numbers_in(object, "deviations"),
          .names = texts_in(object, "names")};
}

/// An encoding, without those of its parts.
Encoding whole_of(const Reader& json) {
  Encoding encoding;
  encoding.form = static_cast<Encoding::Form>(place_in(forms, json, "form"));
  encoding.task = static_cast<data::Task>(place_in(tasks, json, "task"));
  encoding.header = json.flag("header");
  const std::string separator = text_in(json, "separator");
  if (separator.size() != 1) json.refuse("separator", json.at("separator"), "one byte");
  encoding.separator = separator[0];
  // Files of older releases lack it.
  const std::string decimal = json.text_or("decimal", ".");
  if (decimal != "." && decimal != ",") json.refuse("decimal", json.at("decimal"), "a point or a comma");
  encoding.decimal = decimal[0];
  encoding.missing = static_cast<Encoding::Gap>(place_in(gaps, json, "missing"));
  encoding.file_columns = json.integer<std::int64_t>("file_columns");
  for (const Json& column : json.array("columns")) encoding.columns.push_back(column_of(column));
  encoding.target = column_of(json.at("target"));
  encoding.users = numbers_in(json, "users");
  encoding.items = numbers_in(json, "items");
  encoding.first_index = json.integer<std::int64_t>("first_index");
  encoding.characters = code_points_in(json, "characters");
  encoding.vocabulary = json.integer<std::int64_t>("vocabulary");
  encoding.user_count = json.integer<std::int64_t>("user_count");
  encoding.item_count = json.integer<std::int64_t>("item_count");
  encoding.features = json.integer<std::int64_t>("features");
  encoding.bias = json.flag("bias");
  encoding.sparse = json.flag("sparse");
  encoding.fields = json.integer<std::int64_t>("fields");
  encoding.class_names = texts_in(json, "class_names");
  encoding.scaling = scaling_in(json, "scaling");
  encoding.target_scaling = scaling_in(json, "target_scaling");
  return encoding;
}

}  // namespace

Json json_of(const Encoding& encoding) {
  Json columns = Json::array();
  for (const Encoding::Column& column : encoding.columns) columns.push_back(json_column(column));
  Json json{{"form", forms[static_cast<std::size_t>(encoding.form)]},
            {"task", tasks[static_cast<std::size_t>(encoding.task)]},
            {"header", encoding.header},
            {"separator", json_text(std::string(1, encoding.separator))},
            {"missing", gaps[static_cast<std::size_t>(encoding.missing)]},
            {"file_columns", encoding.file_columns},
            {"columns", std::move(columns)},
            {"target", json_column(encoding.target)},
            {"users", encoding.users},
            {"items", encoding.items},
            {"first_index", encoding.first_index},
            {"characters", encoding.characters},
            {"vocabulary", encoding.vocabulary},
            {"user_count", encoding.user_count},
            {"item_count", encoding.item_count},
            {"features", encoding.features},
            {"bias", encoding.bias},
            {"sparse", encoding.sparse},
            {"fields", encoding.fields},
            {"class_names", json_texts(encoding.class_names)},
            {"scaling", json_scaling(encoding.scaling)},
            {"target_scaling", json_scaling(encoding.target_scaling)}};
  if (encoding.decimal != '.') json["decimal"] = std::string(1, encoding.decimal);
  if (encoding.parts.empty()) return json;
  json["part_names"] = json_texts(encoding.part_names);
  json["parts"] = Json::array();
  for (const Encoding& part : encoding.parts) json["parts"].push_back(json_of(part));
  return json;
}

Encoding encoding_of(const Json& json) {
  const Reader object(json, "encoding");
  Encoding encoding = whole_of(object);
  if (!object.has("parts")) return encoding;
  encoding.part_names = texts_in(object, "part_names");
  for (const Json& part : object.array("parts")) {
    const Reader of_part(part, "a part of the encoding");
    if (of_part.has("parts")) of_part.refuse("parts", part, "no parts of a part");
    encoding.parts.push_back(whole_of(of_part));
  }
  return encoding;
}

}  // namespace simgrad::experiment
