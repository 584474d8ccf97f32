#include "outputs/timelines/chrome_trace.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace simgrad::outputs {

namespace {

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

}  // namespace

void ChromeTrace::event(std::string_view text) {
  write_(first_ ? "\n" : ",\n");
  first_ = false;
  write_(text);
}

void ChromeTrace::begin(const std::vector<std::pair<std::string, std::string>>& about, std::size_t size) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{";
  for (std::size_t i = 0; i < about.size(); ++i)
    text += fmt::format("{}{}:{}", i ? "," : "", json_text(about[i].first), json_text(about[i].second));
  write_(
      text +
      fmt::format("}},\n\"distributedInfo\":{{\"backend\":\"simgrad\",\"world_size\":{}}},\n\"traceEvents\":[", size));
}

void ChromeTrace::metadata(Lane lane, std::string_view name, std::string_view key, std::string_view value) {
  event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"{}":{}}}}})", lane.process, lane.thread, name,
                    key, value));
}

void ChromeTrace::process(int process, std::string_view name, int place) {
  metadata({process, 0}, "process_name", "name", json_text(name));
  metadata({process, 0}, "process_sort_index", "sort_index", fmt::to_string(place));
}

void ChromeTrace::lane(Lane lane, std::string_view name, int place) {
  metadata(lane, "thread_name", "name", json_text(name));
  metadata(lane, "thread_sort_index", "sort_index", fmt::to_string(place));
}

void ChromeTrace::slice(Lane lane, std::string_view name, std::string_view category, std::int64_t from_ns,
                        std::int64_t to_ns, const Arguments& arguments) {
  std::string text =
      fmt::format(R"({{"ph":"X","pid":{},"tid":{},"name":{},"cat":"{}","ts":{},"dur":{},"args":{{)", lane.process,
                  lane.thread, json_text(name), category, microseconds(from_ns), microseconds(to_ns - from_ns));
  for (std::size_t i = 0; i < arguments.size(); ++i)
    fmt::format_to(std::back_inserter(text), R"({}"{}":{})", i ? "," : "", arguments[i].first, arguments[i].second);
  event(text + "}}");
}

void ChromeTrace::flow(std::int64_t number, std::string_view name, Lane from, std::int64_t from_ns, Lane to,
                       std::int64_t to_ns) {
  const auto half = [&](char phase, Lane lane, std::int64_t at_ns, std::string_view more) {
    event(fmt::format(R"({{"ph":"{}","pid":{},"tid":{},"name":{},"cat":"message","id":{},"ts":{}{}}})", phase,
                      lane.process, lane.thread, json_text(name), number, microseconds(at_ns), more));
  };
  half('s', from, from_ns, "");
  half('f', to, to_ns, R"(,"bp":"e")");
}

void ChromeTrace::counter(int process, std::string_view name, std::int64_t at_ns, double value) {
  event(fmt::format(R"({{"ph":"C","pid":{},"tid":0,"name":{},"ts":{},"args":{{"value":{}}}}})", process,
                    json_text(name), microseconds(at_ns), value));
}

void ChromeTrace::end() { write_("\n]}\n"); }

}  // namespace simgrad::outputs
