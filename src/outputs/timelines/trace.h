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

/// A trace format. Lanes belong to processes, and slices of one lane do not overlap. Times are whole nanoseconds.
class TraceFormat {
 public:
  struct Lane {
    int process = 0;
    int thread = 0;
  };
  /// Numbers shown with a slice; the caller leaves out numbers that are absent.
  using Arguments = std::vector<std::pair<std::string_view, std::int64_t>>;

  virtual ~TraceFormat() = default;
  /// about: properties of the run, by name.  size: the number of ranks, servers included.
  virtual void begin(const std::vector<std::pair<std::string, std::string>>& about, std::size_t size) = 0;
  /// place: the position in a viewer.
  virtual void process(int process, std::string_view name, int place) = 0;
  virtual void lane(Lane lane, std::string_view name, int place) = 0;
  virtual void slice(Lane lane, std::string_view name, std::string_view category, std::int64_t from_ns,
                     std::int64_t to_ns, const Arguments& arguments) = 0;
  /// Draws an arrow from one slice to another.  number: unique per arrow.
  virtual void flow(std::int64_t number, std::string_view name, Lane from, std::int64_t from_ns, Lane to,
                    std::int64_t to_ns) = 0;
  /// name: ends with the unit.
  virtual void counter(int process, std::string_view name, std::int64_t at_ns, double value) = 0;
  virtual void end() = 0;
};

struct TraceOptions {
  std::size_t most_flows = 20'000;  ///< with more messages no arrows are drawn
};

/// Writes the trace. Rank r is process r + 1. Its thread 1, "time", divides the rank's time into compute, communicate,
/// wait and down; this is one thread rather than four, because a rank does one thing at a time and a gap would be a
/// fault. The rank's side streams follow, then its messages as sent and as received, on as many lanes as needed to
/// avoid overlap. After the ranks comes a process "run" with counters: the loss, and the utilisation of links if the
/// record has it over time. There is no counter of staleness, which is recorded as a histogram without times. Events
/// are in the order of time within a lane, not within the file.
/// timeline: of the same run as the record.  Returns whether arrows were drawn.
bool write_trace(const record::Timeline& timeline, const record::Record& record,
                 const std::vector<std::pair<std::string, std::string>>& about, const TraceOptions& options,
                 TraceFormat& format);

}  // namespace simgrad::outputs
