/// results.json and the record of one run, written.
#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "outputs/describe_run.h"
#include "outputs/point_summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using record::Presence;

/// Writes the described fields of one object.
class JsonWriter {
 public:
  JsonWriter(Json& object, std::size_t index) : object_(object), index_(index) {}

  void index(std::string_view name) { set(name, index_); }

  template <class T>
  void value(std::string_view name, const T& field, Presence presence = Presence::always) {
    if constexpr (is_optional<T>)
      if (record::left_out_if_absent(presence) && !field) return;
    set(name, json_value(field));
  }
  void metric(std::string_view name, const std::optional<double>& field) { value(name, field); }
  void computed(std::string_view name, const std::optional<double>& field) { value(name, field); }
  void grid_point(std::string_view name, const Json& field) { value(name, field); }
  void text_or_null(std::string_view name, const std::string& field) {
    set(name, field.empty() ? Json() : Json(field));
  }
  void counts(std::string_view name, const std::map<std::int64_t, std::int64_t>& field) {
    if (field.empty()) return;
    Json pairs = Json::array();
    for (const auto& [value, count] : field) pairs.push_back({value, count});
    set(name, std::move(pairs));
  }

  template <class Item>
  void items(std::string_view name, const std::vector<Item>& all, Presence presence) {
    if (record::left_out_if_absent(presence) && all.empty()) return;
    Json array = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      JsonWriter item(array.emplace_back(Json::object()), i);
      describe(all[i], item);
    }
    set(name, std::move(array));
  }

 private:
  void set(std::string_view name, Json value) { object_.push_back({std::string(name), std::move(value)}); }

  Json& object_;
  std::size_t index_;
};

template <class Item>
Json object_of(const Item& item) {
  Json json = Json::object();
  JsonWriter writer(json, 0);
  describe(item, writer);
  return json;
}

/// One object a line: two files can be compared line by line, and grep finds a run.
std::string lines_of(const std::vector<Json>& objects) {
  std::string text;
  for (const Json& object : objects) text += (text.empty() ? "\n    " : ",\n    ") + compact(object);
  return objects.empty() ? "[]" : "[" + text + "\n  ]";
}

template <class Item>
std::string lines_of(const std::vector<Item>& items) {
  std::vector<Json> objects;
  for (const Item& item : items) objects.push_back(object_of(item));
  return lines_of(objects);
}

}  // namespace

Json to_json(const Run& run) { return object_of(run); }

std::string results_json(const Results& results) {
  const Json scenario = results.scenario.is_null() ? Json::object() : results.scenario;
  std::string text = "{\n";
  text += fmt::format("  \"schema\": {},\n", schema);
  text += fmt::format("  \"version\": {},\n", compact(results.version));
  text += fmt::format("  \"name\": {},\n", compact(results.name));
  text += fmt::format("  \"title\": {},\n", compact(results.title));
  text += fmt::format("  \"complete\": {},\n", results.complete);
  if (!results.command.empty()) text += fmt::format("  \"command\": {},\n", compact(results.command));
  text += fmt::format("  \"scenario\": {},\n", compact(scenario));
  text += fmt::format("  \"runs\": {},\n", lines_of(results.runs));
  text += fmt::format("  \"baselines\": {},\n", lines_of(results.baselines));
  text += fmt::format("  \"summary\": {}", lines_of(point_summaries(results)));
  if (!results.counterfactuals.empty())
    text += fmt::format(",\n  \"counterfactuals\": {}", lines_of(results.counterfactuals));
  text += "\n}\n";
  return text;
}

}  // namespace simgrad::outputs
