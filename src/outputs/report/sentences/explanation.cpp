#include "outputs/report/sentences/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr double as_fast = equal_within;

/// Returns "3.0x fewer samples", or "4 % fewer samples" for a factor near 1.
std::string fewer_samples(double ratio) {
  return ratio >= small_factor ? tr("{}x fewer samples", factor(ratio))
                               : tr("{} fewer samples", percent(1.0 - 1.0 / ratio));
}

/// Returns why A needs fewer samples than B.
std::string samples_reason(const ReportModel& model, const Case& a, const Case& b) {
  if (b.staleness.value_or(0.0) >= a.staleness.value_or(0.0) + 0.5)
    return tr(": the gradients of {} are {} updates old on average", model.named(b), three_digits(*b.staleness));
  if (b.consensus_distance.value_or(0.0) > 1.5 * a.consensus_distance.value_or(0.0) && *b.consensus_distance > 1e-9) {
    const std::string gap = b.spectral_gap ? tr(", spectral gap {}", number_text(*b.spectral_gap)) : "";
    return tr(": the replicas of {} disagree (distance {} from their mean at the end{})", model.named(b),
              number_text(*b.consensus_distance), gap);
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

/// Returns whether A and B needed different numbers of samples, so that seconds compare by the sample only.
bool by_the_sample(const Case& a, const Case& b) {
  const double scale = *a.samples / *b.samples;
  return scale > as_fast || scale < 1.0 / as_fast;
}

double part_per_sample_s(const Case& one, std::size_t part) { return (*one.row.parts_s)[part] / *one.samples; }

double parts_per_sample_s(const Case& one) {
  double sum = 0.0;
  for (std::size_t part = 0; part < one.row.parts_s->size(); ++part) sum += part_per_sample_s(one, part);
  return sum;
}

/// Returns "server communicates for 3.20 s, ring for 1.00 s", or, if they needed different numbers of samples, "per
/// sample server communicates for 3.20 ms, ring for 1.00 ms".
std::string against(const Names& names, const Case& a, const Case& b, std::size_t part) {
  const bool scaled = by_the_sample(a, b);
  const auto time = [&](const Case& one) {
    return duration(scaled ? part_per_sample_s(one, part) : (*one.row.parts_s)[part]);
  };
  const std::string where = scaled ? tr("per sample ") : "", of_a = time(a), of_b = time(b);
  switch (part) {
    case 0:
      return tr("{}{} computes for {}, {} for {}", where, names.b, of_b, names.a, of_a);
    case 1:
      return tr("{}{} communicates for {}, {} for {}", where, names.b, of_b, names.a, of_a);
    case 2:
      return tr("{}{} waits for {}, {} for {}", where, names.b, of_b, names.a, of_a);
    default:
      return tr("{}{} is down for {}, {} for {}", where, names.b, of_b, names.a, of_a);
  }
}

/// Returns "per sample ring communicates less (1.63 ms against 3.04 ms)".
std::string less_per_sample(const std::string& name, std::size_t part, const std::string& of_a,
                            const std::string& of_b) {
  switch (part) {
    case 0:
      return tr("per sample {} computes less ({} against {})", name, of_a, of_b);
    case 1:
      return tr("per sample {} communicates less ({} against {})", name, of_a, of_b);
    case 2:
      return tr("per sample {} waits less ({} against {})", name, of_a, of_b);
    default:
      return tr("per sample {} is down less ({} against {})", name, of_a, of_b);
  }
}

/// Returns why A is ahead of B although it needs more samples: the part of the time per sample in which B loses most,
/// if that alone makes up for the further samples at B's time, or else the whole time per sample.
/// more: A's samples over B's.
std::string in_spite_of_samples(const Names& names, const Case& a, const Case& b, std::size_t part, double more) {
  const double further_s = (1.0 - 1.0 / more) * parts_per_sample_s(b);
  const bool alone = part_per_sample_s(b, part) - part_per_sample_s(a, part) > further_s;
  const std::string less =
      alone ? less_per_sample(names.a, part, duration(part_per_sample_s(a, part)), duration(part_per_sample_s(b, part)))
            : tr("per sample {} takes less time ({} against {})", names.a, duration(parts_per_sample_s(a)),
                 duration(parts_per_sample_s(b)));
  if (!alone && !(parts_per_sample_s(b) - parts_per_sample_s(a) > further_s)) return less;
  return less + (more < small_factor ? tr(", which outweighs its {} more samples", percent(more - 1.0))
                                     : tr(", which outweighs that it needs {}x as many samples", factor(more)));
}

/// Returns whether repeated work makes up most of the additional computing time of B.
bool does_again(const Case& a, const Case& b) {
  const double again = b.lost_s.value_or(0.0) / *b.samples - a.lost_s.value_or(0.0) / *a.samples;
  return again > 0.5 * ((*b.row.parts_s)[0] / *b.samples - (*a.row.parts_s)[0] / *a.samples);
}

/// Returns seconds of recovering, repeating work and writing checkpoints.
double faults_s(const Case& one) {
  return one.recovery_s.value_or(0.0) + one.lost_s.value_or(0.0) + one.checkpoint_s.value_or(0.0);
}

/// Returns whether crashes cost B more than A, per sample, by half of the additional time of the part at least.
bool faults_differ(const Case& a, const Case& b, std::size_t part) {
  const double more = faults_s(b) / *b.samples - faults_s(a) / *a.samples;
  const double down = (*b.row.parts_s)[3] / *b.samples - (*a.row.parts_s)[3] / *a.samples;
  return std::max(more, down) >= 0.5 * ((*b.row.parts_s)[part] / *b.samples - (*a.row.parts_s)[part] / *a.samples);
}

/// Shares that differ by less are called alike.
constexpr double share_apart = 0.05;

bool link_is_busier(const Case& a, const Case& b) {
  if (!b.duplex_link) return false;
  return !a.duplex_link || b.duplex_link->most() >= a.duplex_link->most() + share_apart ||
         b.duplex_link->both() >= a.duplex_link->both() + share_apart;
}

/// Returns a fact about B, of which B has more than A, that goes with the part of its time. Empty if none is known.
std::string fact(const Names& names, const Case& a, const Case& b, std::size_t part) {
  const Limit found = overhead(b);
  if (found == Limit::link && part != 0 && link_is_busier(a, b)) return link_text(b, names.b);
  if (found == Limit::slowest && part == 2 &&
      b.slowest_over_mean.value_or(1.0) >= a.slowest_over_mean.value_or(1.0) + share_apart)
    return tr("the slowest worker of {} computes {} as long as the mean", names.b, times(*b.slowest_over_mean));
  if (found == Limit::faults && faults_differ(a, b, part)) return tr("in {} {}", names.b, faults_text(b));
  return "";
}

/// more: A's samples over B's where A needs more of them to the target, or else 1.
std::string time_reason(const ReportModel& model, const Case& a, const Case& b, double more) {
  const std::size_t part = lost_part(a, b);
  if (part == 4) return "";
  const Names both = names(model, a, b);
  const std::string numbers = more > as_fast ? in_spite_of_samples(both, a, b, part, more) : against(both, a, b, part);
  if (part == 0 && a.workers > b.workers)
    return tr("{} workers share the work of {}: {}", a.workers, b.workers, numbers);
  if (part == 0 && !does_again(a, b)) return numbers;
  const std::string known = fact(both, a, b, part);
  return known.empty() ? numbers : tr("{}: {}", known, numbers);
}

}  // namespace

std::optional<double> measured(const Case& one, Measure measure) {
  return one.ran() ? compared(one.row, number_of(measure)) : std::nullopt;
}

std::string lead(const ReportModel& model, const Case& a, const Case& b, Measure measure) {
  const double ratio = *measured(b, measure) / *measured(a, measure);
  if (!(ratio >= as_fast)) return tr("as fast as {}", model.named(b));
  return ratio < small_factor ? tr("{} faster than {}", percent(ratio - 1.0), model.named(b))
                              : tr("{}x faster than {}", factor(ratio), model.named(b));
}

std::string reason(const ReportModel& model, const Case& a, const Case& b, Measure measure) {
  const double ratio = *measured(b, measure) / *measured(a, measure);
  if (!(ratio >= as_fast) || !a.samples || !b.samples || !(*a.samples > 0.0) || !(*b.samples > 0.0)) return "";
  const double fewer = measure == Measure::time_to_target ? *b.samples / *a.samples : 1.0;
  if (std::log(fewer) > 0.5 * std::log(ratio))
    return tr("it needs {} to reach the target{}", fewer_samples(fewer), samples_reason(model, a, b));
  return time_reason(model, a, b, 1.0 / fewer);
}

std::string ahead(const ReportModel& model, const Case& a, const Case& b, Measure measure) {
  const std::string because = reason(model, a, b, measure);
  const std::string ratio = lead(model, a, b, measure);
  return because.empty() ? ratio : tr("{} because {}", ratio, because);
}

}  // namespace simgrad::outputs::report
