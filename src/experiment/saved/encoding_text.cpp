#include "experiment/saved/encoding_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "outputs/text/utf8.h"

namespace simgrad::experiment {

namespace {

using Json = nlohmann::ordered_json;
using data::Encoding;

constexpr std::array<std::string_view, 5> forms{"table", "sparse", "ratings", "text", "tokens"};
constexpr std::array<std::string_view, 3> gaps{"refuse", "drop", "mean"};
constexpr std::array<std::string_view, 6> tasks{"regression", "classification", "recommendation",
                                                "clustering", "text",           "mixture"};

template <std::size_t N>
std::size_t place_in(const std::array<std::string_view, N>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw base::ScenarioError("unknown word \"" + name + "\"");
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

std::string text_of(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  std::string text;
  for (const Json& byte : json) text += static_cast<char>(byte.get<unsigned char>());
  return text;
}

Json json_texts(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts) all.push_back(json_text(text));
  return all;
}

std::vector<std::string> texts_of(const Json& json) {
  std::vector<std::string> all;
  for (const Json& text : json) all.push_back(text_of(text));
  return all;
}

Json json_column(const Encoding::Column& column) {
  Json json{{"name", json_text(column.name)}, {"place", column.place}, {"substitute", column.substitute}};
  if (!column.values.empty()) json["values"] = json_texts(column.values);
  return json;
}

Encoding::Column column_of(const Json& json) {
  Encoding::Column column;
  column.name = text_of(json.at("name"));
  column.place = json.at("place").get<std::int64_t>();
  column.substitute = json.at("substitute").get<double>();
  if (json.contains("values")) column.values = texts_of(json["values"]);
  return column;
}

Json json_scaling(const data::Scaling& scaling) {
  return {{"means", scaling.means}, {"deviations", scaling.deviations}, {"names", json_texts(scaling.names)}};
}

data::Scaling scaling_of(const Json& json) {
  return {.means = json.at("means").get<std::vector<double>>(),
          .deviations = json.at("deviations").get<std::vector<double>>(),
          .names = texts_of(json.at("names"))};
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
  if (encoding.parts.empty()) return json;
  json["part_names"] = json_texts(encoding.part_names);
  json["parts"] = Json::array();
  for (const Encoding& part : encoding.parts) json["parts"].push_back(json_of(part));
  return json;
}

Encoding encoding_of(const Json& json) {
  Encoding encoding;
  encoding.form = static_cast<Encoding::Form>(place_in(forms, json.at("form").get<std::string>()));
  encoding.task = static_cast<data::Task>(place_in(tasks, json.at("task").get<std::string>()));
  encoding.header = json.at("header").get<bool>();
  encoding.separator = text_of(json.at("separator")).at(0);
  encoding.missing = static_cast<Encoding::Gap>(place_in(gaps, json.at("missing").get<std::string>()));
  encoding.file_columns = json.at("file_columns").get<std::int64_t>();
  for (const Json& column : json.at("columns")) encoding.columns.push_back(column_of(column));
  encoding.target = column_of(json.at("target"));
  encoding.users = json.at("users").get<std::vector<double>>();
  encoding.items = json.at("items").get<std::vector<double>>();
  encoding.first_index = json.at("first_index").get<std::int64_t>();
  encoding.characters = json.at("characters").get<std::vector<std::uint32_t>>();
  encoding.vocabulary = json.at("vocabulary").get<std::int64_t>();
  encoding.user_count = json.at("user_count").get<std::int64_t>();
  encoding.item_count = json.at("item_count").get<std::int64_t>();
  encoding.features = json.at("features").get<std::int64_t>();
  encoding.bias = json.at("bias").get<bool>();
  encoding.sparse = json.at("sparse").get<bool>();
  encoding.fields = json.at("fields").get<std::int64_t>();
  encoding.class_names = texts_of(json.at("class_names"));
  encoding.scaling = scaling_of(json.at("scaling"));
  encoding.target_scaling = scaling_of(json.at("target_scaling"));
  if (!json.contains("parts")) return encoding;
  encoding.part_names = texts_of(json.at("part_names"));
  for (const Json& part : json["parts"]) encoding.parts.push_back(encoding_of(part));
  return encoding;
}

}  // namespace simgrad::experiment
