/// results.json and the record of one run, written.
#include <fmt/format.h>

#include <concepts>
#include <map>
#include <string_view>
#include <utility>

#include "outputs/describe_run.h"
#include "outputs/json_text.h"
#include "outputs/point_summary.h"
#include "outputs/run_text.h"

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

/// One object a line: two files can be compared line by line, grep finds a run, and a reader needs one run at a time.
template <class Item>
void write_lines(std::string_view name, const std::vector<Item>& items, const Sink& sink) {
  sink(fmt::format("  \"{}\": [", name));
  const char* before = "\n    ";
  for (const Item& item : items) {
    sink(before);
    if constexpr (std::same_as<Item, Json>)
      sink(compact(item));
    else
      sink(described_text(item));
    before = ",\n    ";
  }
  sink(items.empty() ? "]" : "\n  ]");
}

}  // namespace

Json to_json(const Run& run) { return object_of(run); }

std::string text_of(const Run& run) { return described_text(run); }

void write_results_json(const Results& results, const Sink& sink) {
  const Json scenario = results.scenario.is_null() ? Json::object() : results.scenario;
  std::string text = "{\n";
  text += fmt::format("  \"schema\": {},\n", schema);
  text += fmt::format("  \"version\": {},\n", compact(results.version));
  text += fmt::format("  \"name\": {},\n", compact(results.name));
  text += fmt::format("  \"title\": {},\n", compact(results.title));
  text += fmt::format("  \"complete\": {},\n", results.complete);
  if (!results.command.empty()) text += fmt::format("  \"command\": {},\n", compact(results.command));
  text += fmt::format("  \"scenario\": {},\n", compact(scenario));
  if (results.all_ranks) text += "  \"all_ranks\": true,\n";
  sink(text);
  write_lines("runs", results.runs, sink);
  sink(",\n");
  write_lines("baselines", results.baselines, sink);
  sink(",\n");
  write_lines("summary", point_summaries(results), sink);
  if (!results.counterfactuals.empty()) {
    sink(",\n");
    write_lines("counterfactuals", results.counterfactuals, sink);
  }
  if (!results.dropped.empty()) {
    sink(",\n");
    write_lines("dropped", results.dropped, sink);
  }
  sink("\n}\n");
}

std::string results_json(const Results& results) {
  std::string text;
  write_results_json(results, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace simgrad::outputs
