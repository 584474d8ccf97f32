#include "outputs/report/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "outputs/human.h"
#include "outputs/report/words.h"

namespace simgrad::outputs::report {
namespace {

constexpr double busy_link = 0.5;
constexpr double uneven = 1.1;
constexpr double as_fast = 1.005;

std::array<double, 4> shares(const Case& one) {
  const auto parts = one.row.parts_s.value_or(std::array<double, 4>{});
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::array<double, 4> of_all{};
  for (std::size_t k = 0; k < parts.size() && sum > 0.0; ++k) of_all[k] = parts[k] / sum;
  return of_all;
}

double utilisation(const Case& one) { return one.busiest ? one.busiest->utilisation : 0.0; }

/// A link that is busy half of the time, or one whose directions, taking turns, are so together.
bool link_binds(const Case& one) {
  return utilisation(one) >= busy_link || (one.hot && one.hot->up + one.hot->down >= busy_link);
}

/// "the link "up-8" of ring is busy 97 % of the time"; `of` may be empty.
std::string link_text(const Case& one, const std::string& of) {
  const char* const others = one.beside_jobs ? ", other jobs not counted" : "";
  if (utilisation(one) < busy_link)
    return fmt::format("the two directions of the link \"{}\"{} are busy {} and {} of the time",
                       printable(one.hot->name), of, percent(one.hot->up), percent(one.hot->down), others);
  return fmt::format("the link \"{}\"{}{} is busy {} of the time{}", printable(one.busiest->name), of,
                     one.busiest->shared ? ", which carries other traffic too," : "", percent(one.busiest->utilisation),
                     others);
}

/// Messages a step, of all ranks together.
std::string messages_text(const Case& one) {
  if (one.beside_jobs) return ", on links that other jobs use too";
  const std::string idle =
      one.busiest ? fmt::format(" though no link is busy more than {} of it", percent(one.busiest->utilisation)) : "";
  if (!one.row.messages || !(*one.row.messages > 0.0) || !one.steps || !(*one.steps > 0.0)) return idle;
  return fmt::format("{}: latency and the order of its {} messages a step, not bandwidth", idle,
                     count(*one.row.messages / *one.steps));
}

/// The largest part of what is not computing.
Limit overhead(const Case& one) {
  const auto [compute, communicate, wait, down] = shares(one);
  if (!(communicate + wait + down > 0.0)) return Limit::unknown;
  if (down >= communicate + wait) return Limit::down;
  if (link_binds(one)) return Limit::link;
  if (communicate >= wait) return Limit::messages;
  return one.slowest_over_mean.value_or(1.0) >= uneven ? Limit::slowest : Limit::waiting;
}

std::string text_of(const Case& one, Limit limit) {
  const auto [compute, communicate, wait, down] = shares(one);
  const bool talks = communicate >= wait;
  const std::string network =
      fmt::format("{} takes {} of the time", talks ? "communicating" : "waiting", percent(talks ? communicate : wait));
  switch (limit) {
    case Limit::unknown:
    case Limit::compute:
      return "";
    case Limit::link:
      return network + ", and " + link_text(one, "");
    case Limit::messages:
      return network + messages_text(one);
    case Limit::slowest:
      return fmt::format("{}: the slowest worker computes {} as long as the mean", network,
                         times(*one.slowest_over_mean));
    case Limit::waiting:
      return network + ", for other ranks";
    case Limit::down:
      return fmt::format("being down takes {} of the time{}", percent(down),
                         one.crashes.value_or(0.0) > 0.0 ? fmt::format(", in {:.3g} crashes a run", *one.crashes) : "");
  }
  return "";
}

/// Why A needs fewer samples than B.
std::string samples_reason(const View& view, const Case& a, const Case& b) {
  if (b.staleness.value_or(0.0) >= a.staleness.value_or(0.0) + 0.5)
    return fmt::format(": the gradients of {} are {} updates old on average", view.named(b),
                       three_digits(*b.staleness));
  if (b.consensus_distance.value_or(0.0) > 1.5 * a.consensus_distance.value_or(0.0) && *b.consensus_distance > 1e-9) {
    const std::string gap = b.spectral_gap ? fmt::format(", spectral gap {:.3g}", *b.spectral_gap) : "";
    return fmt::format(": the replicas of {} disagree (distance {:.3g} from their mean at the end{})", view.named(b),
                       *b.consensus_distance, gap);
  }
  return "";
}

/// The part of the time a sample in which B loses most to A; 4 where the record does not tell.
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

/// A's and B's names; the grid point where they differ in it.
struct Names {
  std::string a;
  std::string b;
};

Names names(const View& view, const Case& a, const Case& b) {
  if (a.point == b.point) return {printable(view.label(a)), printable(view.label(b))};
  return {view.named(a), view.named(b)};
}

/// "server communicates for 3.2 s, ring for 1 s": where they need different samples, B's seconds are scaled to A's.
std::string against(const Names& names, const Case& a, const Case& b, std::size_t part) {
  static constexpr std::array<std::string_view, 4> does = {"computes", "communicates", "waits", "is down"};
  const double scale = *a.samples / *b.samples;
  const bool scaled = scale > as_fast || scale < 1.0 / as_fast;
  return fmt::format("{} {} for {}, {} for {}{}", names.b, does[part], duration((*b.row.parts_s)[part] * scale),
                     names.a, duration((*a.row.parts_s)[part]), scaled ? ", for as many samples" : "");
}

std::string with_idle_links(const std::string& numbers, const Case& b) {
  if (!b.busiest || b.beside_jobs) return numbers;
  return fmt::format("{}; with no link busy more than {}, not bandwidth but latency counts", numbers,
                     percent(b.busiest->utilisation));
}

std::string time_reason(const View& view, const Case& a, const Case& b) {
  const std::size_t part = lost_part(a, b);
  if (part == 4) return "";
  const Names both = names(view, a, b);
  const std::string numbers = against(both, a, b, part);
  if (part == 0 && a.workers > b.workers)
    return fmt::format("{} workers share what {} {} compute: {}", a.workers, b.workers, b.workers == 1 ? "does" : "do",
                       numbers);
  switch (part == 0 ? Limit::compute : overhead(b)) {
    case Limit::link:
      return link_text(b, " of " + both.b) + ": " + numbers;
    case Limit::slowest:
      return fmt::format("the slowest worker of {} computes {} as long as the mean: {}", both.b,
                         times(*b.slowest_over_mean), numbers);
    case Limit::messages:
      return with_idle_links(numbers, b);
    default:
      return numbers;
  }
}

}  // namespace

Limit limit(const Case& one) {
  const auto [compute, communicate, wait, down] = shares(one);
  if (!(compute + communicate + wait + down > 0.0)) return Limit::unknown;
  return compute >= std::max(communicate + wait, down) ? Limit::compute : overhead(one);
}

std::string limit_text(const Case& one) {
  const Limit found = limit(one);
  if (found == Limit::compute) return fmt::format("computing takes {} of the time", percent(shares(one)[0]));
  return text_of(one, found);
}

std::string overhead_text(const Case& one) {
  constexpr double next_to_nothing = 0.01;
  if (!(shares(one)[0] < 1.0 - next_to_nothing)) return "";
  return text_of(one, overhead(one));
}

std::optional<double> measured(const Case& one, Measure measure) {
  if (measure == Measure::time_to_target)
    return one.ran() && one.row.all_reached() ? one.row.time_to_target_s : std::nullopt;
  if (!one.ran() || !one.row.sound() || !one.row.samples_per_s || !(*one.row.samples_per_s > 0.0)) return std::nullopt;
  return 1.0 / *one.row.samples_per_s;
}

std::string lead(const View& view, const Case& a, const Case& b, Measure measure) {
  const double ratio = *measured(b, measure) / *measured(a, measure);
  if (!(ratio >= as_fast)) return fmt::format("as fast as {}", view.named(b));
  return fmt::format("{} faster than {}", times(ratio), view.named(b));
}

std::string reason(const View& view, const Case& a, const Case& b, Measure measure) {
  const double ratio = *measured(b, measure) / *measured(a, measure);
  if (!(ratio >= as_fast) || !a.samples || !b.samples || !(*a.samples > 0.0) || !(*b.samples > 0.0)) return "";
  const double fewer = measure == Measure::time_to_target ? *b.samples / *a.samples : 1.0;
  if (std::log(fewer) > 0.5 * std::log(ratio))
    return fmt::format("it needs {} fewer samples to the target{}", times(fewer), samples_reason(view, a, b));
  const std::string of_time = time_reason(view, a, b);
  if (of_time.empty() || !(fewer < 1.0 / as_fast)) return of_time;
  return of_time + fmt::format(", although {} needs {} more samples", names(view, a, b).a, times(1.0 / fewer));
}

std::string ahead(const View& view, const Case& a, const Case& b, Measure measure) {
  const std::string because = reason(view, a, b, measure);
  return lead(view, a, b, measure) + (because.empty() ? "" : " because " + because);
}

}  // namespace simgrad::outputs::report
