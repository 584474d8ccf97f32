#include "outputs/report/sentences/limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "outputs/report/data/phrases.h"
#include "outputs/report/data/time_phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr double half = 0.5;
constexpr double idle_link = 0.1;
constexpr double uneven_load = 1.5;  ///< load of the busiest full-duplex link over the mean load
constexpr double almost_all = 0.8;

/// Returns the share of the time that is spent communicating or waiting.
double talk(const Case& one) {
  const auto parts = shares(one);
  return parts[1] + parts[2];
}

/// Returns whether the busiest link accounts for the communication. If the load is even and no server answers, the two
/// directions can be busy at the same time, so their sum must be almost all of the time.
bool link_binds(const Case& one) {
  if (!one.duplex_link || !(talk(one) > 0.0)) return false;
  const FullDuplexLink& link = *one.duplex_link;
  // Workers that do not wait for each other share a server's link: only where it is busy do they queue.
  if (one.staleness.value_or(0.0) > 0.0) return link.most() >= half;
  const bool turns = link.by_turns || link.owner.ends_with("server's") || one.duplex_link_over_mean >= uneven_load;
  return link.most() >= half * talk(one) || link.both() >= (turns ? half : almost_all) * talk(one);
}

bool links_idle(const Case& one) {
  return one.duplex_link && !one.conditions.jobs && !one.duplex_link->shared &&
         one.duplex_link->both() < idle_link * talk(one);
}

/// Returns "32 crashes", and of several seeds the mean, "1.25 crashes on average". Empty without a crash.
std::string crashes_text(const Case& one) {
  const double crashes = one.crashes.value_or(0.0);
  if (!(crashes > 0.0)) return "";
  if (one.runs.size() > 1)
    return crashes == 1.0 ? tr("{} crash on average", crashes) : tr("{} crashes on average", number_text(crashes));
  return crashes == 1.0 ? tr("{} crash", crashes) : tr("{} crashes", number_text(crashes));
}

/// Returns shares of the time lost by crashes, the largest first, each with the activity that takes it.
std::vector<std::pair<double, std::string>> faults(const Case& one) {
  const double all = one.row.simulated_s.value_or(0.0);
  std::vector<std::pair<double, std::string>> parts;
  if (!(all > 0.0)) return parts;
  const std::string crashes = crashes_text(one);
  const double recovery = one.recovery_s.value_or(0.0) / all;
  const double down = shares(one)[3];
  const auto add = [&](double share, const std::string& text) {
    if (share > 0.0) parts.emplace_back(share, text);
  };
  // Hosts that are down are part of a recovery, where there is one.
  if (recovery >= down)
    add(recovery, tr("recovering{} (until all ranks work again)", crashes.empty() ? "" : tr(" from {}", crashes)));
  else
    add(down, crashes.empty() ? tr("being down") : tr("being down after {}", crashes));
  add(one.lost_s.value_or(0.0) / all, tr("repeating lost work"));
  add(one.checkpoint_s.value_or(0.0) / all, tr("writing checkpoints"));
  std::ranges::stable_sort(parts, {}, [](const auto& part) { return -part.first; });
  return parts;
}

double faults_share(const Case& one) {
  double sum = 0.0;
  for (const auto& part : faults(one)) sum += part.first;
  return sum;
}

Limit waiting(const Case& one) {
  const double wait_s = one.row.parts_s ? (*one.row.parts_s)[2] : 0.0;
  if (one.conditions.in_turns) return Limit::turns;
  if (one.slowest_excess_s.value_or(0.0) >= half * wait_s) return Limit::slowest;
  if (one.conditions.stragglers || one.skew_s.value_or(0.0) >= half * wait_s) return Limit::late;
  return Limit::waiting;
}

/// Names the messages per step of all ranks together.
std::string latency_text(const Case& one) {
  const std::string idle = one.busiest ? tr(", although no link is busy for more than {} of the time",
                                            percent_at_most(one.busiest->utilisation))
                                       : "";
  // Messages of steps that were done again after a crash belong to no step of the count.
  const bool counted_once = one.crashes.value_or(0.0) == 0.0;
  if (!counted_once || !one.row.messages || !(*one.row.messages > 0.0) || !one.steps || !(*one.steps > 0.0))
    return idle;
  return tr("{}; a step has {} messages", idle, count(*one.row.messages / *one.steps));
}

std::string late_text(const Case& one) {
  const double wait_s = one.row.parts_s ? (*one.row.parts_s)[2] : 0.0;
  if (!(one.skew_s.value_or(0.0) >= half * wait_s) || !one.skew_a_call_s) return "";
  return tr(": the last member of a collective arrives {} after the mean", duration(*one.skew_a_call_s));
}

/// Returns whether a storage takes at least half of the time that is spent communicating.
bool reads_storage(const Case& one) {
  const auto parts = parts_of(one).value_or(record::TimeParts{});
  const double storage_s = record::storage_s(parts);
  return storage_s > 0.0 && storage_s >= half * parts.sum(record::Activity::communicate);
}

/// Returns "reading the training data takes 40 % of the time".
std::string storage_text(const Case& one) {
  const auto parts = parts_of(one).value_or(record::TimeParts{});
  const double storage_s = record::storage_s(parts);
  const std::string share = percent(shares(one)[1] * storage_s / parts.sum(record::Activity::communicate));
  if (parts[record::TimePart::communicate_input] == storage_s)
    return tr("reading the training data takes {} of the time", share);
  if (parts[record::TimePart::communicate_checkpoint] == storage_s)
    return tr("writing and reading checkpoints takes {} of the time", share);
  return tr("reading and writing a storage takes {} of the time", share);
}

/// Returns ", mostly waiting for a server's processor": the largest part of an activity, if it is not the usual one.
std::string mostly(const Case& one, record::Activity activity) {
  const auto part = main_part(one, activity);
  if (!part || part == record::TimePart::compute_gradient || part == record::TimePart::wait_other) return "";
  return tr(", mostly {}", tr(phrase(*part)));
}

std::string text_of(const Case& one, Limit limit) {
  const auto [compute, communicate, wait, down] = shares(one);
  const bool waits = limit == Limit::slowest || limit == Limit::late || limit == Limit::turns || communicate < wait;
  const std::string share = percent(waits ? wait : communicate);
  const auto takes = [&](const std::string& activity) { return tr("{} takes {} of the time", activity, share); };
  const std::string network = takes(waits ? tr("waiting") : tr("communicating"));
  switch (limit) {
    case Limit::unknown:
    case Limit::compute:
      return "";
    case Limit::link:
      return tr("{}, and {}", network, link_text(one, ""));
    case Limit::latency:
      return network + latency_text(one);
    case Limit::storage:
      return storage_text(one);
    case Limit::messages:
      return network + (one.conditions.jobs ? tr(", on links that other jobs also use") : "");
    case Limit::slowest:
      return tr("{}: the slowest worker computes {} as long as the mean", network,
                times(one.slowest_over_mean.value_or(1.0)));
    case Limit::late:
      return takes(tr("waiting")) + late_text(one) +
             (one.conditions.stragglers ? tr("; the scenario has stragglers") : "");
    case Limit::turns:
      return takes(tr("waiting for its turn")) + tr(": the jobs compute one after another");
    case Limit::waiting:
      return network + mostly(one, record::Activity::wait);
    case Limit::faults:
      return faults_text(one);
  }
  return "";
}

}  // namespace

std::array<double, 4> shares(const Case& one) {
  const auto parts = one.row.parts_s.value_or(std::array<double, 4>{});
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::array<double, 4> of_all{};
  for (std::size_t k = 0; k < parts.size() && sum > 0.0; ++k) of_all[k] = parts[k] / sum;
  return of_all;
}

Limit overhead(const Case& one) {
  const auto [compute, communicate, wait, down] = shares(one);
  const double lost = one.row.simulated_s.value_or(0.0) > 0.0 ? one.lost_s.value_or(0.0) / *one.row.simulated_s : 0.0;
  const double all = communicate + wait + down + lost;
  if (!(all > 0.0)) return Limit::unknown;
  if (faults_share(one) >= half * all) return Limit::faults;
  if (wait > communicate) {
    const Limit cause = waiting(one);
    if (cause == Limit::slowest || cause == Limit::turns) return cause;
  }
  if (!(wait > communicate) && reads_storage(one)) return Limit::storage;
  if (link_binds(one)) return Limit::link;
  if (wait > communicate) return waiting(one);
  return links_idle(one) ? Limit::latency : Limit::messages;
}

Limit limit(const Case& one) {
  const auto [compute, communicate, wait, down] = shares(one);
  if (!(compute + communicate + wait + down > 0.0)) return Limit::unknown;
  const double lost = one.row.simulated_s.value_or(0.0) > 0.0 ? one.lost_s.value_or(0.0) / *one.row.simulated_s : 0.0;
  const double useful = compute - lost;
  const bool computes = useful >= std::max(communicate + wait, down) && useful >= faults_share(one);
  return computes ? Limit::compute : overhead(one);
}

std::string faults_text(const Case& one) {
  const auto parts = faults(one);
  if (parts.empty()) return "";
  std::vector<std::string> items = {tr("{} takes {} of the time", parts.front().second, percent(parts.front().first))};
  for (std::size_t k = 1; k < parts.size(); ++k)
    if (parts[k].first >= 0.1 * parts.front().first)
      items.push_back(tr("{} {}", parts[k].second, percent(parts[k].first)));
  return listed_clauses(items);
}

std::string link_text(const Case& one, const std::string& of) {
  const FullDuplexLink& link = *one.duplex_link;
  const std::string of_whom = of.empty() ? "" : tr(" of {}", of);
  const std::string shared = link.shared ? tr(", which also carries other traffic,") : "";
  const std::string link_name = printable(link.name);
  const std::string name = link.owner.empty() ? tr("the link \"{}\"{}{}", link_name, of_whom, shared)
                                              : tr("{} link \"{}\"{}{}", tr(link.owner), link_name, of_whom, shared);
  const std::string others = one.conditions.jobs ? tr(", other jobs not counted") : "";
  if (link.by_turns && link.up > 0.0 && link.down > 0.0)
    return tr("{} is busy {} of the time, {} in one direction and {} in the other{}", name, percent(link.both()),
              percent(link.up), percent(link.down), others);
  if (link.most() >= half * talk(one)) return tr("{} is busy {} of the time{}", name, percent(link.most()), others);
  return tr("{} is busy {} of the time in one direction and {} in the other{}", name, percent(link.up),
            percent(link.down), others);
}

std::string limit_text(const Case& one) {
  const Limit found = limit(one);
  if (found == Limit::compute)
    return tr("computing takes {} of the time{}", percent(shares(one)[0]), mostly(one, record::Activity::compute));
  return text_of(one, found);
}

std::string overhead_text(const Case& one) {
  constexpr double next_to_nothing = 0.01;
  if (!(shares(one)[0] < 1.0 - next_to_nothing)) return "";
  return text_of(one, overhead(one));
}

}  // namespace simgrad::outputs::report
