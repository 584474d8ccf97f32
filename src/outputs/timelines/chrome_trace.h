/// Traces as Chrome's JSON, in the subset that Perfetto shows correctly.
///
/// Source: "Trace Event Format", Google, 2016: X (slices), s and f (flows), C (counters), M (names).
#pragma once

#include <functional>
#include <string_view>

#include "outputs/timelines/trace.h"

namespace simgrad::outputs {

/// Writes one event per line. Readers of Kineto's traces look for `distributedInfo`; its `rank` is left out, because
/// their files have one rank each and this one has all. Times are microseconds with three decimals; metadata have none.
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
  void metadata(Lane lane, std::string_view name, std::string_view key, std::string_view value);

  std::function<void(std::string_view)> write_;
  bool first_ = true;
};

}  // namespace simgrad::outputs
