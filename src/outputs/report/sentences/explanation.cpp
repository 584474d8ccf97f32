#include "outputs/report/sentences/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/report/data/phrases.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr double as_fast = 1.005;

/// Returns why A needs fewer samples than B.
std::string samples_reason(const ReportModel& model, const Case& a, const Case& b) {
  if (b.staleness.value_or(0.0) >= a.staleness.value_or(0.0) + 0.5)
    return fmt::format(": the gradients of {} are {} updates old on average", model.named(b),
                       three_digits(*b.staleness));
  if (b.consensus_distance.value_or(0.0) > 1.5 * a.consensus_distance.value_or(0.0) && *b.consensus_distance > 1e-9) {
    const std::string gap = b.spectral_gap ? fmt::format(", spectral gap {:.3g}", *b.spectral_gap) : "";
    return fmt::format(": the replicas of {} disagree (distance {:.3g} from their mean at the end{})", model.named(b),
                       *b.consensus_distance, gap);
  }
  return "";
}

/// Returns the part of the time per sample in which B loses most to A; 4 if the record has no such part.
std::size_t lost_part(const Case& a, const Case& b) {
  if (!a.row.parts_s || !b.row.parts_s) return 4;
  std::size_t most = 4;
  double loss = 0.0;
  for (std::size_t k = 0; k < 4; ++k) {
    const double more = (*b.row.parts_s)[k] / *b.samples - (*a.row.parts_s)[k] / *a.samples;
    if (more > loss) {
      loss = more;
      most = k;
    }
  }
  return most;
}

/// The names of A and B, with their grid points if these differ.
struct Names {
  std::string a;
  std::string b;
};

Names names(const ReportModel& model, const Case& a, const Case& b) {
  if (a.point == b.point) return {printable(model.label(a)), printable(model.label(b))};
  return {model.named(a), model.named(b)};
}

/// Returns "server communicates for 3.2 s, ring for 1 s". If A and B need different numbers of samples, B's seconds are
/// scaled to A's number.
std::string against(const Names& names, const Case& a, const Case& b, std::size_t part) {
  static constexpr std::array<std::string_view, 4> does = {"computes", "communicates", "waits", "is down"};
  const double scale = *a.samples / *b.samples;
  const bool scaled = scale > as_fast || scale < 1.0 / as_fast;
  return fmt::format("{} {} for {}, {} for {}{}", names.b, does[part], duration((*b.row.parts_s)[part] * scale),
                     names.a, duration((*a.row.parts_s)[part]), scaled ? ", for the same number of samples" : "");
}

/// Returns whether repeated work makes up most of the additional computing time of B.
bool does_again(const Case& a, const Case& b) {
  const double again = b.lost_s.value_or(0.0) / *b.samples - a.lost_s.value_or(0.0) / *a.samples;
  return again > 0.5 * ((*b.row.parts_s)[0] / *b.samples - (*a.row.parts_s)[0] / *a.samples);
}

std::string time_reason(const ReportModel& model, const Case& a, const Case& b) {
  const std::size_t part = lost_part(a, b);
  if (part == 4) return "";
  const Names both = names(model, a, b);
  const std::string numbers = against(both, a, b, part);
  if (part == 0 && a.workers > b.workers)
    return fmt::format("{} workers share the work of {}: {}", a.workers, b.workers, numbers);
  const bool computes = part == 0 && !does_again(a, b);
  const Limit found = computes ? Limit::compute : overhead(b);
  const bool waits_for_others = found == Limit::slowest || found == Limit::late || found == Limit::turns;
  if ((waits_for_others && part != 2) || (found == Limit::latency && part != 1)) return numbers;
  switch (found) {
    case Limit::link:
      return link_text(b, " of " + both.b) + ": " + numbers;
    case Limit::slowest:
      return fmt::format("the slowest worker of {} computes {} as long as the mean: {}", both.b,
                         times(*b.slowest_over_mean), numbers);
    case Limit::late:
      return numbers + (b.conditions.stragglers ? ", because of stragglers" : ", for the last member of a collective");
    case Limit::turns:
      return numbers + ", for its turn";
    case Limit::latency:
      return fmt::format("{}; no link is busy for more than {} of the time, so the cause is latency, not bandwidth",
                         numbers, percent_at_most(b.busiest ? b.busiest->utilisation : 0.0));
    case Limit::faults:
      return fmt::format("in {} {}: {}", both.b, faults_text(b), numbers);
    default:
      return numbers;
  }
}

}  // namespace

std::optional<double> measured(const Case& one, Measure measure) {
  if (measure == Measure::time_to_target)
    return one.ran() && one.row.all_reached() ? one.row.time_to_target_s : std::nullopt;
  if (!one.ran() || !one.row.sound() || !one.row.samples_per_s || !(*one.row.samples_per_s > 0.0)) return std::nullopt;
  return 1.0 / *one.row.samples_per_s;
}

std::string lead(const ReportModel& model, const Case& a, const Case& b, Measure measure) {
  const double ratio = *measured(b, measure) / *measured(a, measure);
  if (!(ratio >= as_fast)) return fmt::format("as fast as {}", model.named(b));
  return fmt::format("{} faster than {}", times(ratio), model.named(b));
}

std::string reason(const ReportModel& model, const Case& a, const Case& b, Measure measure) {
  const double ratio = *measured(b, measure) / *measured(a, measure);
  if (!(ratio >= as_fast) || !a.samples || !b.samples || !(*a.samples > 0.0) || !(*b.samples > 0.0)) return "";
  const double fewer = measure == Measure::time_to_target ? *b.samples / *a.samples : 1.0;
  if (std::log(fewer) > 0.5 * std::log(ratio))
    return fmt::format("it needs {} fewer samples to reach the target{}", times(fewer), samples_reason(model, a, b));
  const std::string of_time = time_reason(model, a, b);
  if (of_time.empty() || !(fewer < 1.0 / as_fast)) return of_time;
  return of_time + fmt::format(", although {} needs {} more samples", names(model, a, b).a, times(1.0 / fewer));
}

std::string ahead(const ReportModel& model, const Case& a, const Case& b, Measure measure) {
  const std::string because = reason(model, a, b, measure);
  return lead(model, a, b, measure) + (because.empty() ? "" : " because " + because);
}

}  // namespace simgrad::outputs::report
