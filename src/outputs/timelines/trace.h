/// A timeline for trace viewers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/record.h"

namespace simgrad::outputs {

/// A format of traces: lanes belong to processes, and no two slices of a lane overlap. Times are whole nanoseconds.
class TraceFormat {
 public:
  struct Lane {
    int process = 0;
    int thread = 0;
  };
  /// Numbers beside a slice; absent ones are left out by the caller.
  using Arguments = std::vector<std::pair<std::string_view, std::int64_t>>;

  virtual ~TraceFormat() = default;
  /// about: what the trace is of.  size: how many ranks the run has, servers included.
  virtual void begin(const std::vector<std::pair<std::string, std::string>>& about, std::size_t size) = 0;
  /// place: where viewers show it.
  virtual void process(int process, std::string_view name, int place) = 0;
  virtual void lane(Lane lane, std::string_view name, int place) = 0;
  virtual void slice(Lane lane, std::string_view name, std::string_view category, std::int64_t from_ns,
                     std::int64_t to_ns, const Arguments& arguments) = 0;
  /// An arrow from one slice to another.  number: its own.
  virtual void flow(std::int64_t number, std::string_view name, Lane from, std::int64_t from_ns, Lane to,
                    std::int64_t to_ns) = 0;
  /// name: with its unit.
  virtual void counter(int process, std::string_view name, std::int64_t at_ns, double value) = 0;
  virtual void end() = 0;
};

struct TraceOptions {
  std::size_t most_flows = 20'000;  ///< with more messages than that no arrows are drawn
};

/// Every recorded rank is a process: rank r is r + 1, whose thread 1, "time", is the partition of its time into
/// compute, communicate, wait and down: one thread and not one a kind, since a rank does one thing at a time and a gap
/// would be a fault. Then come the actors beside it, and its messages as sent and as received, on as many lanes as it
/// takes for none to overlap. After the ranks a process "run" with the counters: loss, and the utilisation of links
/// where the record has bins of it; there is none of staleness, which is recorded as a histogram, without times. Events
/// are in the order of time within a lane, not within the whole: they are written as they come. timeline: of the
/// record.  Returns whether arrows were drawn.
bool write_trace(const record::Timeline& timeline, const record::Record& record,
                 const std::vector<std::pair<std::string, std::string>>& about, const TraceOptions& options,
                 TraceFormat& format);

}  // namespace simgrad::outputs
