/// results.json and the record of one run, read back.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/describe_run.h"
#include "outputs/reader.h"
#include "outputs/results_reading.h"
#include "record/invariants.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using record::Presence;

/// Reads the described fields of one object.
class JsonReader {
 public:
  explicit JsonReader(const Reader& object) : object_(object) {}

  void index(std::string_view /*name*/) {}

  template <class T>
  void value(std::string_view name, T& field, Presence presence = Presence::always) {
    if (presence == Presence::always || object_.has(name)) read(name, field);
  }
  void metric(std::string_view name, std::optional<double>& field) { value(name, field); }
  void computed(std::string_view /*name*/, const std::optional<double>& /*field*/) {}
  void grid_point(std::string_view name, Json& field) { value(name, field); }
  void text_or_null(std::string_view name, std::string& field) { field = object_.text_or_empty(name); }
  void counts(std::string_view name, std::map<std::int64_t, std::int64_t>& field) {
    if (!object_.has(name)) return;
    for (const Json& pair : object_.array(name)) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number_integer())
        object_.refuse(name, pair, "pairs of a staleness and a number of gradients");
      field[pair[0].get<std::int64_t>()] = pair[1].get<std::int64_t>();
    }
  }

  template <class Item>
  void items(std::string_view name, std::vector<Item>& all, Presence presence) {
    if (presence == Presence::always || object_.has(name)) all = items_from<Item>(object_, name);
  }

  /// The described items of an array.
  template <class Item>
  static std::vector<Item> items_from(const Reader& object, std::string_view name) {
    const Json& array = object.array(name);
    std::vector<Item> all;
    all.reserve(array.size());
    for (std::size_t i = 0; i < array.size(); ++i) all.push_back(item_from<Item>(array[i], name, i));
    return all;
  }

  template <class Item>
  static Item item_from(const Json& json, std::string_view list, std::size_t index) {
    const Reader object(json, list, index);
    JsonReader reader(object);
    Item item;
    describe(item, reader);
    return item;
  }

 private:
  void read(std::string_view name, std::string& field) { field = object_.text(name); }
  void read(std::string_view name, bool& field) { field = object_.flag(name); }
  void read(std::string_view name, double& field) { field = object_.number(name); }
  void read(std::string_view name, std::int64_t& field) { field = object_.integer<std::int64_t>(name); }
  void read(std::string_view name, std::uint64_t& field) { field = object_.integer<std::uint64_t>(name); }
  void read(std::string_view name, std::optional<double>& field) { field = object_.number_or_nothing(name); }
  void read(std::string_view name, std::optional<std::int64_t>& field) { field = object_.integer_or_nothing(name); }
  void read(std::string_view name, Json& field) { field = object_.object(name); }
  void read(std::string_view name, std::optional<Json>& field) { field = object_.object(name); }
  void read(std::string_view name, std::vector<std::string>& field) {
    field.clear();
    for (const Json& text : object_.array(name)) {
      if (!text.is_string()) object_.refuse(name, text, "texts");
      field.push_back(text.get<std::string>());
    }
  }
  void read(std::string_view name, record::Status& field) {
    const std::string text = object_.text(name);
    using enum record::Status;
    for (const record::Status status : {reached, stopped, diverged, failed})
      if (record::name(status) == text) {
        field = status;
        return;
      }
    object_.refuse(name, text, "reached, stopped, diverged or failed");
  }

  const Reader& object_;
};

/// Refuses an id that is no file's name: timelines and traces are files called by it.
void require_file_name(const std::string& id, std::string_view list, std::size_t index) {
  const bool path = id.find_first_of(std::string_view("/\0", 2)) != std::string::npos;
  if (path || id.empty() || id == "." || id == "..")
    throw base::EnvironmentError(
        fmt::format("{}[{}]: \"id\" is \"{}\", expected a file's name", list, index, id.substr(0, 40)));
}

/// A file has the time down once, beside the four; in memory it is a part, too.
void complete_parts(Run& run) {
  for (record::RankUse& rank : run.record.ranks) rank.parts[record::TimePart::down] = rank.down_s;
}

}  // namespace

Run run_from_json(const Json& json) {
  const Reader object(json, "run");
  JsonReader reader(object);
  Run run;
  describe(run, reader);
  complete_parts(run);
  return run;
}

Run run_in_list(const Json& json, std::string_view list, std::size_t index) {
  Run run = JsonReader::item_from<Run>(json, list, index);
  complete_parts(run);
  require_file_name(run.id, list, index);
  if (const std::string violated = record::violated_invariant(run.record); !violated.empty())
    throw base::EnvironmentError(
        fmt::format("{}[{}], the run {}: {}; no run leaves such numbers", list, index, run.id, violated));
  return run;
}

Counterfactual counterfactual_in_list(const Json& json, std::string_view list, std::size_t index) {
  return JsonReader::item_from<Counterfactual>(json, list, index);
}

Results results_from_json(const Json& json) {
  const Reader results(json, "results");
  if (results.integer<int>("schema") != schema) results.refuse("schema", results.at("schema"), "1");
  const auto runs_of = [&](std::string_view list) {
    std::vector<Run> runs;
    for (const Json& run : results.array(list)) runs.push_back(run_in_list(run, list, runs.size()));
    return runs;
  };
  return {
      .name = results.text("name"),
      .title = results.text("title"),
      .version = results.text("version"),
      .complete = results.flag("complete"),
      .command = results.text_or("command", ""),
      .scenario = results.object("scenario"),
      .all_ranks = results.has("all_ranks") && results.flag("all_ranks"),
      .runs = runs_of("runs"),
      .baselines = runs_of("baselines"),
      .counterfactuals = results.has("counterfactuals")
                             ? JsonReader::items_from<Counterfactual>(results, "counterfactuals")
                             : std::vector<Counterfactual>(),
      .dropped = results.has("dropped") ? JsonReader::items_from<Dropped>(results, "dropped") : std::vector<Dropped>()};
}

}  // namespace simgrad::outputs
