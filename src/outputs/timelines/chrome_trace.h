/// Traces as Chrome's JSON, in the subset that Perfetto shows right.
///
/// Source: "Trace Event Format", Google, 2016: X (slices), s and f (flows), C (counters), M (names).
#pragma once

#include <functional>
#include <string_view>

#include "outputs/timelines/trace.h"

namespace simgrad::outputs {

/// One event a line, written as it comes. `distributedInfo` is what Kineto's readers look for, but for its `rank`:
/// their files are of one rank each, and this one is of all. Times are microseconds with three decimals, and metadata
/// have none.
class ChromeTrace final : public TraceFormat {
 public:
  explicit ChromeTrace(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  void begin(const std::vector<std::pair<std::string, std::string>>& about, std::size_t size) override;
  void process(int process, std::string_view name, int place) override;
  void lane(Lane lane, std::string_view name, int place) override;
  void slice(Lane lane, std::string_view name, std::string_view category, std::int64_t from_ns, std::int64_t to_ns,
             const Arguments& arguments) override;
  void flow(std::int64_t number, std::string_view name, Lane from, std::int64_t from_ns, Lane to,
            std::int64_t to_ns) override;
  void counter(int process, std::string_view name, std::int64_t at_ns, double value) override;
  void end() override;

 private:
  void event(std::string_view text);
  void metadata(Lane lane, std::string_view what, std::string_view key, std::string_view value);

  std::function<void(std::string_view)> write_;
  bool first_ = true;
};

}  // namespace simgrad::outputs
