#include "outputs/timelines/timeline.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "outputs/files/byte_file.h"
#include "outputs/files/run_stem.h"
#include "outputs/results_reading.h"
#include "record/time_part.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

constexpr int timeline_schema = 1;

/// Appends one line: "rank": [0, 1, 2], with an attribute of each item.
template <class Item, class Value>
void add_column(std::string& text, const char* key, const std::vector<Item>& items, Value value, bool last = false) {
  text += fmt::format("    \"{}\": [", key);
  fmt::memory_buffer column;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) column.push_back(',');
    fmt::format_to(std::back_inserter(column), FMT_COMPILE("{}"), value(items[i]));
  }
  text.append(column.data(), column.size());
  text += last ? "]\n" : "],\n";
}

/// The text of a timeline up to its first time.
std::string beginning(const std::string& run) {
  return fmt::format("{{\n  \"schema\": {},\n  \"run\": {},\n", timeline_schema, Json(run).dump());
}

constexpr std::string_view timeline_ending = "]\n  }\n}\n";

[[noreturn]] void refuse(const std::string& fault) { throw base::EnvironmentError("timeline: " + fault); }

const Json& member(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) refuse(fmt::format("\"{}\" is missing", key));
  return json.at(key);
}

template <class Value>
Value value(const Json& json, const char* key) {
  try {
    return member(json, key).get<Value>();
  } catch (const nlohmann::json::exception&) {
    refuse(fmt::format("\"{}\" has another type than expected", key));
  }
}

/// Sets an attribute of all items from its column; the first column sets the number of items.
template <class Value, class Item, class Set>
void read_column(const Json& json, const char* key, std::vector<Item>& items, Set set, bool first = false) {
  const auto column = value<std::vector<Value>>(json, key);
  if (first) items.resize(column.size());
  if (column.size() != items.size())
    refuse(fmt::format("\"{}\" has {} entries, expected {}", key, column.size(), items.size()));
  for (std::size_t i = 0; i < items.size(); ++i) set(items[i], column[i]);
}

void check_name(int name, const record::Timeline& timeline) {
  if (name < 0 || static_cast<std::size_t>(name) >= timeline.names.size())
    refuse(fmt::format("there is no name {}", name));
}

int checked_cause(int cause) {
  const bool known = cause >= static_cast<int>(record::TimePart::wait_gradient) &&
                     cause <= static_cast<int>(record::TimePart::wait_other);
  if (!known && cause != -1) refuse(fmt::format("there is no cause {} of waiting", cause));
  return cause;
}

}  // namespace

std::string timeline_json(const record::Timeline& timeline, const std::string& run) {
  using record::Span;
  using record::TimedMessage;
  std::string text = beginning(run);
  text += fmt::format(
      "  \"from_s\": {},\n  \"to_s\": {},\n  \"whole\": {},\n  \"names\": {},\n"
      "  \"ranks\": {},\n  \"rank_names\": {},\n  \"spans\": {{\n",
      timeline.from_s, timeline.to_s, timeline.whole, Json(timeline.names).dump(), Json(timeline.ranks).dump(),
      Json(timeline.rank_names).dump());
  const auto& spans = timeline.spans;
  add_column(text, "rank", spans, [](const Span& s) { return s.rank; });
  add_column(text, "lane", spans, [](const Span& s) { return s.lane; });
  add_column(text, "kind", spans, [](const Span& s) { return static_cast<int>(s.kind); });
  add_column(text, "name", spans, [](const Span& s) { return s.name; });
  add_column(text, "step", spans, [](const Span& s) { return s.step; });
  add_column(text, "peer", spans, [](const Span& s) { return s.peer; });
  add_column(text, "bytes", spans, [](const Span& s) { return s.bytes; });
  add_column(text, "from_s", spans, [](const Span& s) { return s.from_s; });
  add_column(text, "to_s", spans, [](const Span& s) { return s.to_s; });
  const bool micros = std::ranges::any_of(spans, [](const Span& s) { return s.micro >= 0; });
  add_column(
      text, "cause", spans, [](const Span& s) { return s.cause; }, !micros);
  if (micros)
    add_column(
        text, "micro", spans, [](const Span& s) { return s.micro; }, true);
  text += "  },\n  \"messages\": {\n";
  const auto& messages = timeline.messages;
  add_column(text, "source", messages, [](const TimedMessage& m) { return m.source; });
  add_column(text, "target", messages, [](const TimedMessage& m) { return m.target; });
  add_column(text, "bytes", messages, [](const TimedMessage& m) { return m.bytes; });
  add_column(text, "step", messages, [](const TimedMessage& m) { return m.step; });
  add_column(text, "name", messages, [](const TimedMessage& m) { return m.name; });
  add_column(text, "start_s", messages, [](const TimedMessage& m) { return m.start_s; });
  add_column(
      text, "end_s", messages, [](const TimedMessage& m) { return m.end_s; }, true);
  return text + "  }\n}\n";
}

std::string timeline_file(const std::string& directory, const std::string& stem) {
  return (std::filesystem::path(directory) / "timelines" / (stem + ".json.gz")).string();
}

void write_timeline(const std::string& directory, const record::Timeline& timeline, const std::string& stem) {
  const std::string path = timeline_file(directory, stem), text = timeline_json(timeline, id_in_stem(stem));
  if (text.size() > timeline_bytes_most)
    throw base::EnvironmentError(
        fmt::format("{}: is not written: the timeline has {} bytes, and is not read again if it has more than {}", path,
                    text.size(), timeline_bytes_most));
  ByteFile file(path);
  file.write(text);
  file.close();
}

bool has_timeline(const std::string& directory, const std::string& stem) {
  try {
    const std::string text = read_byte_file(timeline_file(directory, stem), timeline_bytes_most, base::Links::refuse);
    return text.starts_with(beginning(id_in_stem(stem))) && text.ends_with(timeline_ending);
  } catch (const base::EnvironmentError&) {
    return false;
  } catch (const base::ScenarioError&) {
    return false;
  }
}

bool begins_as_timeline(const std::string& file, const std::string& run) {
  const std::string expected = beginning(run);
  return beginning_of_byte_file(file, expected.size()) == expected;
}

std::optional<record::Timeline> read_timeline(const std::string& directory, const std::string& stem) {
  const std::string path = timeline_file(directory, stem);
  std::error_code fault;
  if (!std::filesystem::exists(path, fault)) return std::nullopt;
  return parsed_text(path, read_byte_file(path, timeline_bytes_most),
                     [&](const Json& json) { return timeline_from_json(json, id_in_stem(stem)); });
}

record::Timeline timeline_from_json(const Json& json, const std::string& run) {
  using record::Span;
  using record::TimedMessage;
  if (value<int>(json, "schema") != timeline_schema) refuse(fmt::format("\"schema\" is not {}", timeline_schema));
  if (const auto found = value<std::string>(json, "run"); found != run)
    refuse(fmt::format("the file belongs to run {}, expected {}; type simgrad run again", found, run));
  record::Timeline timeline;
  timeline.from_s = value<double>(json, "from_s");
  timeline.to_s = value<double>(json, "to_s");
  timeline.whole = value<bool>(json, "whole");
  timeline.names = value<std::vector<std::string>>(json, "names");
  timeline.ranks = value<std::vector<int>>(json, "ranks");
  timeline.rank_names = value<std::vector<std::string>>(json, "rank_names");
  if (timeline.rank_names.size() != timeline.ranks.size())
    refuse("\"rank_names\" and \"ranks\" have different lengths");
  const Json& spans = member(json, "spans");
  read_column<int>(
      spans, "rank", timeline.spans, [](Span& s, int v) { s.rank = v; }, true);
  read_column<int>(spans, "lane", timeline.spans, [](Span& s, int v) { s.lane = v; });
  read_column<int>(spans, "kind", timeline.spans, [](Span& s, int v) {
    if (v < 0 || v > 3) refuse(fmt::format("there is no kind {} of span", v));
    s.kind = static_cast<record::Activity>(v);
  });
  read_column<int>(spans, "name", timeline.spans, [&](Span& s, int v) { check_name(s.name = v, timeline); });
  read_column<std::int64_t>(spans, "step", timeline.spans, [](Span& s, std::int64_t v) { s.step = v; });
  read_column<int>(spans, "peer", timeline.spans, [](Span& s, int v) { s.peer = v; });
  read_column<std::int64_t>(spans, "bytes", timeline.spans, [](Span& s, std::int64_t v) { s.bytes = v; });
  read_column<double>(spans, "from_s", timeline.spans, [](Span& s, double v) { s.from_s = v; });
  read_column<double>(spans, "to_s", timeline.spans, [](Span& s, double v) { s.to_s = v; });
  if (spans.contains("cause"))  // newer than the others
    read_column<int>(spans, "cause", timeline.spans, [](Span& s, int v) { s.cause = checked_cause(v); });
  if (spans.contains("micro"))  // of steps on a mesh
    read_column<int>(spans, "micro", timeline.spans, [](Span& s, int v) { s.micro = v; });
  const Json& messages = member(json, "messages");
  read_column<int>(
      messages, "source", timeline.messages, [](TimedMessage& m, int v) { m.source = v; }, true);
  read_column<int>(messages, "target", timeline.messages, [](TimedMessage& m, int v) { m.target = v; });
  read_column<std::int64_t>(messages, "bytes", timeline.messages, [](TimedMessage& m, std::int64_t v) { m.bytes = v; });
  read_column<std::int64_t>(messages, "step", timeline.messages, [](TimedMessage& m, std::int64_t v) { m.step = v; });
  read_column<int>(messages, "name", timeline.messages,
                   [&](TimedMessage& m, int v) { check_name(m.name = v, timeline); });
  read_column<double>(messages, "start_s", timeline.messages, [](TimedMessage& m, double v) { m.start_s = v; });
  read_column<double>(messages, "end_s", timeline.messages, [](TimedMessage& m, double v) { m.end_s = v; });
  return timeline;
}

}  // namespace simgrad::outputs
