#include "outputs/timelines/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <vector>

namespace simgrad::outputs {
namespace {

using record::Activity;

struct Event {
  double from_s = 0.0;
  double to_s = 0.0;
  int rank = 0;
  int lane = 0;
  std::string_view kind;
  int name = 0;
  std::int64_t step = 0;
  std::int64_t bytes = 0;
  int peer = -1;
};

/// Reading and writing, a checkpoint or rows, is no message.
std::string_view kind_of(const record::Span& span) {
  return span.kind == Activity::communicate ? "storage" : record::name(span.kind);
}

std::vector<Event> events_of(const record::Timeline& timeline) {
  std::vector<Event> events;
  for (const record::Span& span : timeline.spans) {
    if (span.kind == Activity::communicate && span.peer >= 0) continue;
    events.push_back({span.from_s, span.to_s, span.rank, span.lane, kind_of(span), span.name, span.step,
                      span.kind == Activity::wait ? 0 : span.bytes, span.peer});
  }
  for (const record::TimedMessage& message : timeline.messages) {
    if (message.start_s >= timeline.to_s) continue;  // begins at the very end
    events.push_back({message.start_s, message.end_s, message.source, 0, "message", message.name, message.step,
                      message.bytes, message.target});
  }
  std::ranges::stable_sort(events, {}, [](const Event& event) {
    return std::tuple(event.from_s, event.rank, event.lane, event.to_s, event.peer);
  });
  return events;
}

/// Returns the decimals needed to write every time exactly: 0, 3, 6 or at most 9.
int decimals(const std::vector<Event>& events) {
  const auto is_exact_with = [&](double unit) {
    const auto exact = [unit](double time) { return std::abs(time - std::round(time * unit) / unit) < 1e-10; };
    return std::ranges::all_of(events, [&](const Event& event) { return exact(event.from_s) && exact(event.to_s); });
  };
  return is_exact_with(1.0) ? 0 : is_exact_with(1e3) ? 3 : is_exact_with(1e6) ? 6 : 9;
}

}  // namespace

std::string events_text(const record::Timeline& timeline, int workers) {
  const auto name_of = [&](int rank) {
    return rank < workers ? fmt::format("rank {}", rank) : fmt::format("server {}", rank - workers);
  };
  const std::vector<Event> events = events_of(timeline);
  const int digits = decimals(events);
  std::string text = fmt::format("{:>13} {:>13}  {:<10} {:<11} {:<14} {:>4} {:>9}  {}\n", "from [s]", "to [s]", "who",
                                 "kind", "what", "step", "bytes", "peer");
  for (const Event& event : events) {
    const std::string who = name_of(event.rank) + (event.lane > 0 ? fmt::format("+{}", event.lane) : "");
    fmt::format_to(std::back_inserter(text), "{:13.{}f} {:13.{}f}  {:<10} {:<11} {:<14} {:>4} {:>9}  {}\n",
                   event.from_s, digits, event.to_s, digits, who, event.kind,
                   timeline.names[static_cast<std::size_t>(event.name)],
                   event.step < 0 ? "-" : fmt::to_string(event.step),
                   event.bytes > 0 || event.kind == "message" ? fmt::to_string(event.bytes) : "-",
                   event.peer < 0 ? "-" : name_of(event.peer));
  }
  if (!timeline.whole)
    text += fmt::format("(part of the run only: up to {:.9f} s, or some of its steps)\n", timeline.to_s);
  return text;
}

}  // namespace simgrad::outputs
