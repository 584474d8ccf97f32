#include "outputs/timelines/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace simgrad::outputs {
namespace {

using record::Span;
using record::TimedMessage;
using record::Timeline;

// Threads of a process, in the order in which viewers show them.
constexpr int time_thread = 1;
constexpr int first_stream = 3;
constexpr int first_message = 10;
constexpr int messages_apart = 10;  ///< minimum distance from the first lane of sends to the first of receives

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

/// Assigns lanes to messages so that no two overlap: in the order of their starts, each takes the first free lane.
class Lanes {
 public:
  int take(std::int64_t from_ns, std::int64_t to_ns) {
    const auto free = std::ranges::find_if(ends_, [from_ns](std::int64_t end) { return end <= from_ns; });
    const auto lane = free - ends_.begin();
    if (free == ends_.end()) ends_.push_back(0);
    ends_[static_cast<std::size_t>(lane)] = to_ns;
    return static_cast<int>(lane);
  }
  int count() const { return static_cast<int>(ends_.size()); }

 private:
  std::vector<std::int64_t> ends_;
};

class Writer {
 public:
  Writer(const Timeline& timeline, TraceFormat& format) : timeline_(timeline), format_(format) {}

  void name_processes() {
    int place = 0;
    for (std::size_t i = 0; i < timeline_.ranks.size(); ++i)
      format_.process(process(timeline_.ranks[i]), timeline_.rank_names[i], place++);
  }

  void assign_lanes() {
    for (const TimedMessage& message : timeline_.messages) {
      const std::int64_t from = nanoseconds(message.start_s), to = nanoseconds(message.end_s);
      send_lanes_.push_back(sends_[message.source].take(from, to));
      receive_lanes_.push_back(receives_[message.target].take(from, to));
    }
    for (const Span& span : timeline_.spans) streams_[span.rank] = std::max(streams_[span.rank], span.lane);
  }

  void name_lanes() {
    for (const int rank : timeline_.ranks) {
      int place = 0;
      format_.lane({process(rank), time_thread}, "time", place++);
      for (int k = 1; k <= streams_[rank]; ++k) format_.lane(span_lane(rank, k), fmt::format("stream #{}", k), place++);
      for (int k = 0; k < sends_[rank].count(); ++k)
        format_.lane(send_lane(rank, k), fmt::format("send #{}", k + 1), place++);
      for (int k = 0; k < receives_[rank].count(); ++k)
        format_.lane(receive_lane(rank, k), fmt::format("recv #{}", k + 1), place++);
    }
  }

  void write_spans() {
    for (const Span& span : timeline_.spans) {
      TraceFormat::Arguments arguments{{"step", span.step}};
      if (span.peer >= 0) arguments.emplace_back("peer", span.peer);
      if (span.micro >= 0) arguments.emplace_back("micro_batch", span.micro);
      if (span.bytes > 0) arguments.emplace_back("bytes", span.bytes);
      const std::string& name = timeline_.names[static_cast<std::size_t>(span.name)];
      format_.slice(span_lane(span.rank, span.lane), span.kind == record::Activity::wait ? "wait:" + name : name,
                    record::name(span.kind), nanoseconds(span.from_s), nanoseconds(span.to_s), arguments);
    }
  }

  void write_messages(bool flows) {
    for (std::size_t i = 0; i < timeline_.messages.size(); ++i) {
      const TimedMessage& message = timeline_.messages[i];
      const std::int64_t from = nanoseconds(message.start_s), to = nanoseconds(message.end_s);
      const std::string& name = timeline_.names[static_cast<std::size_t>(message.name)];
      const auto sends = send_lane(message.source, send_lanes_[i]),
                 receives = receive_lane(message.target, receive_lanes_[i]);
      const auto arguments = [&](int peer) {
        return TraceFormat::Arguments{{"step", message.step}, {"peer", peer}, {"bytes", message.bytes}};
      };
      format_.slice(sends, name, "communicate", from, to, arguments(message.target));
      format_.slice(receives, name, "communicate", from, to, arguments(message.source));
      // At its very end a slice is over, and the next one of the lane may have begun.
      const std::int64_t inside = std::max(from, to - 1);
      if (flows) format_.flow(static_cast<std::int64_t>(i), name, sends, inside, receives, inside);
    }
  }

  void write_counters(const record::Record& record) {
    const int run = static_cast<int>(record.ranks.size()) + 1;
    bool named = false;
    const auto count = [&](const std::string& name, double at_s, double value) {
      if (at_s < timeline_.from_s || at_s > timeline_.to_s || !std::isfinite(value)) return;
      if (!named) format_.process(run, "run", run);
      named = true;
      format_.counter(run, name, nanoseconds(at_s), value);
    };
    for (const record::Evaluation& evaluation : record.curve)
      if (evaluation.loss) count("loss", evaluation.simulated_s, *evaluation.loss);
    for (std::size_t i = 0; i < record.link_bins.size(); ++i) {
      const record::LinkBin& bin = record.link_bins[i];
      const std::string name = fmt::format("link {} utilisation [%]", bin.link);
      count(name, bin.from_s, 100.0 * bin.utilisation);
      const bool last = i + 1 == record.link_bins.size() || record.link_bins[i + 1].link != bin.link ||
                        record.link_bins[i + 1].from_s > bin.to_s;
      if (last) count(name, bin.to_s, 0.0);
    }
  }

 private:
  static int process(int rank) { return rank + 1; }
  static TraceFormat::Lane span_lane(int rank, int lane) {
    // A rank has few side streams; if there are many, the others come after all lanes of messages.
    constexpr int room = first_message - first_stream, after_messages = 1'000'000;
    if (lane == 0) return {process(rank), time_thread};
    return {process(rank), lane <= room ? first_stream + lane - 1 : after_messages + lane};
  }
  static TraceFormat::Lane send_lane(int rank, int k) { return {process(rank), first_message + k}; }
  TraceFormat::Lane receive_lane(int rank, int k) {
    return {process(rank), first_message + std::max(messages_apart, sends_[rank].count()) + k};
  }

  const Timeline& timeline_;
  TraceFormat& format_;
  std::map<int, Lanes> sends_, receives_;        ///< by rank
  std::map<int, int> streams_;                   ///< by rank: number of side streams
  std::vector<int> send_lanes_, receive_lanes_;  ///< by message
};

}  // namespace

bool write_trace(const Timeline& timeline, const record::Record& record,
                 const std::vector<std::pair<std::string, std::string>>& about, const TraceOptions& options,
                 TraceFormat& format) {
  const bool flows = timeline.messages.size() <= options.most_flows;
  Writer writer(timeline, format);
  format.begin(about, record.ranks.size());
  writer.name_processes();
  writer.assign_lanes();
  writer.name_lanes();
  writer.write_spans();
  writer.write_messages(flows);
  writer.write_counters(record);
  format.end();
  return flows;
}

}  // namespace simgrad::outputs
