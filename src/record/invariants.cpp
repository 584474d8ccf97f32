#include "record/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace simgrad::record {

namespace {

/// Sums of times are rounded: those of a run to a millionth of it, and by the precision of its clock.
constexpr double share_rounding = 1e-6, clock_rounding_s = 1e-9;

double rounding_s(double whole_s) { return share_rounding * whole_s + clock_rounding_s; }

/// Keeps the first fault that is found.
class Faults {
 public:
  /// expected: a text, or a function that makes it.
  template <class Expected>
  void require(bool holds, std::string_view name, double found, const Expected& expected) {
    if (holds || !first_.empty()) return;
    if constexpr (std::is_invocable_v<Expected>)
      first_ = fmt::format("{} is {}, expected {}", name, found, expected());
    else
      first_ = fmt::format("{} is {}, expected {}", name, found, expected);
  }
  void require(bool holds, std::string_view name, std::string_view what) {
    if (!holds && first_.empty()) first_ = fmt::format("{} {}", name, what);
  }
  template <class Number>
  void not_negative(std::string_view name, Number found) {
    require(found >= Number{0}, name, static_cast<double>(found), "at least 0");
  }
  template <class Number>
  void not_negative(std::string_view name, const std::optional<Number>& found) {
    if (found) not_negative(name, *found);
  }
  /// A time may be below 0 by rounding.
  void time(std::string_view name, double found_s, double whole_s) {
    require(found_s >= -rounding_s(whole_s) && std::isfinite(found_s), name, found_s, "a time of at least 0");
  }
  void share(std::string_view name, const std::optional<double>& found) {
    if (found) require(*found >= -share_rounding && *found <= 1.0 + share_rounding, name, *found, "0 to 1");
  }
  /// A place among so many; none is one, too.
  void place(std::string_view name, const std::optional<std::int64_t>& found, std::size_t count) {
    if (found)
      require(*found >= 0 && std::cmp_less(*found, count), name, static_cast<double>(*found),
              [&] { return fmt::format("0 to {}", static_cast<std::int64_t>(count) - 1); });
  }
  const std::string& first() const { return first_; }

 private:
  std::string first_;
};

void check_numbers(const Record& record, Faults& faults) {
  faults.require(record.simulated_s >= 0.0 && std::isfinite(record.simulated_s), "simulated_s", record.simulated_s,
                 "a time of at least 0");
  for (const auto& [name, found] :
       std::initializer_list<std::pair<const char*, std::int64_t>>{{"steps", record.steps},
                                                                   {"samples", record.samples},
                                                                   {"bytes", record.bytes},
                                                                   {"messages", record.messages},
                                                                   {"stored_bytes", record.stored_bytes}})
    faults.not_negative(name, found);
  faults.not_negative("epochs", record.epochs);
  faults.not_negative("crashes", record.crashes);
  for (const auto& [name, found] : std::initializer_list<std::pair<const char*, std::optional<double>>>{
           {"goodput", record.goodput},
           {"cache_hit_rate", record.cache_hit_rate},
           {"bubble_share", record.bubble_share},
           {"dropped_share", record.dropped_share},
           {"synchronised_share", record.synchronised_share},
           {"device_utilisation", record.serving.device_utilisation},
           {"memory_bound_share", record.serving.memory_bound_share},
           {"cache_share_max", record.serving.cache_share_max},
           {"within_limits", record.serving.within_limits}})
    faults.share(name, found);
  for (const auto& [staleness, applications] : record.staleness_counts) {
    faults.not_negative("staleness_counts", staleness);
    faults.not_negative("staleness_counts", applications);
  }
}

void check_times(const Record& record, const RankUse& rank, Faults& faults) {
  const double whole_s = record.simulated_s;
  const std::array<std::pair<const char*, double>, 4> activities{{{"compute_s", rank.compute_s},
                                                                  {"communicate_s", rank.communicate_s},
                                                                  {"wait_s", rank.wait_s},
                                                                  {"down_s", rank.down_s}}};
  double sum_s = 0.0, parts_s = 0.0;
  for (std::size_t k = 0; k < time_parts; ++k) {
    const auto part = static_cast<TimePart>(k);
    faults.time(field_name(part), rank.parts[part], whole_s);
    if (part != TimePart::down) parts_s += rank.parts[part];
  }
  for (std::size_t k = 0; k < activities.size(); ++k) {
    const auto& [name, found_s] = activities[k];
    faults.time(name, found_s, whole_s);
    sum_s += found_s;
    const double its_parts_s = rank.parts.sum(static_cast<Activity>(k));
    faults.require(parts_s == 0.0 || std::abs(its_parts_s - found_s) <= rounding_s(whole_s), name, found_s,
                   [&] { return fmt::format("the {} that its parts add up to", its_parts_s); });
  }
  faults.require(record.status == Status::failed || std::abs(sum_s - whole_s) <= rounding_s(whole_s), "simulated_s",
                 whole_s, [&] { return fmt::format("the {} that a rank's times add up to", sum_s); });
}

void check_ranks(const Record& record, Faults& faults) {
  for (const RankUse& rank : record.ranks) {
    check_times(record, rank, faults);
    faults.not_negative("bytes_sent", rank.bytes_sent);
    faults.not_negative("bytes_received", rank.bytes_received);
    faults.not_negative("memory_bytes", rank.memory_bytes);
    if (!record.hosts.empty()) faults.place("host", rank.host, record.hosts.size());
    for (const auto& place :
         {rank.mesh.tensor, rank.mesh.context, rank.mesh.expert, rank.mesh.data, rank.mesh.pipeline})
      faults.place("place", place, record.ranks.size());
  }
  for (const HostUse& host : record.hosts) {
    faults.time("busy_s", host.busy_s, record.simulated_s);
    faults.time("down_s", host.down_s, record.simulated_s);
  }
}

void check_traffic(const Record& record, Faults& faults) {
  for (const LinkUse& link : record.links) {
    faults.not_negative("bytes of a link", link.bytes);
    faults.not_negative("background_bytes of a link", link.background_bytes);
    faults.share("utilisation of a link", link.utilisation);
  }
  for (const LinkBin& bin : record.link_bins) {
    faults.not_negative("bytes of a link", bin.bytes);
    faults.share("utilisation of a link", bin.utilisation);
  }
  for (const DimensionUse& use : record.dimensions) {
    faults.not_negative("bytes of a dimension", use.bytes);
    faults.share("utilisation of a dimension", use.utilisation);
    faults.share("utilisation_max of a dimension", use.utilisation_max);
  }
  for (const CollectiveUse& use : record.collectives) {
    faults.not_negative("members of a collective", use.members);
    faults.not_negative("bytes of a collective", use.bytes);
    faults.not_negative("calls of a collective", use.calls);
    faults.not_negative("exposed_s of a collective", use.exposed_s);
    if (use.duration_s && use.exposed_s)
      faults.require(*use.exposed_s <= *use.duration_s + rounding_s(*use.duration_s), "exposed_s of a collective",
                     *use.exposed_s, [&] { return fmt::format("at most its duration_s, {}", *use.duration_s); });
  }
}

void check_curve(const Record& record, Faults& faults) {
  const double end_s = record.simulated_s + rounding_s(record.simulated_s);
  const bool reached = record.status == Status::reached;
  faults.require(reached == record.time_to_target_s.has_value(), "time_to_target_s",
                 reached ? "is missing, though the target was reached" : "is there, though no target was reached");
  if (record.time_to_target_s)
    faults.require(*record.time_to_target_s >= 0.0 && *record.time_to_target_s <= end_s, "time_to_target_s",
                   *record.time_to_target_s,
                   [&] { return fmt::format("at most simulated_s, {}", record.simulated_s); });
  double before_s = 0.0;
  for (const Evaluation& evaluation : record.curve) {
    faults.not_negative("step of the curve", evaluation.step);
    faults.not_negative("samples of the curve", evaluation.samples);
    faults.not_negative("bytes of the curve", evaluation.bytes);
    faults.require(evaluation.simulated_s >= before_s && evaluation.simulated_s <= end_s, "simulated_s of the curve",
                   evaluation.simulated_s, [&] { return fmt::format("{} to {}", before_s, record.simulated_s); });
    before_s = evaluation.simulated_s;
  }
  if (record.curve.empty() || record.status == Status::failed) return;
  faults.require(record.curve.back().step == record.steps, "steps", static_cast<double>(record.steps),
                 [&] { return fmt::format("{}, where the curve ends", record.curve.back().step); });
}

}  // namespace

std::string violated_invariant(const Record& record) {
  Faults faults;
  check_numbers(record, faults);
  check_ranks(record, faults);
  check_traffic(record, faults);
  check_curve(record, faults);
  faults.require(record.status != Status::failed || !record.error.empty(), "error",
                 "is missing, though the run failed");
  return faults.first();
}

}  // namespace simgrad::record
