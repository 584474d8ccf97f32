#include "capacity/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "outputs/statistics.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"

namespace simgrad::capacity {

using outputs::tr;

namespace {

Goodput goodput_of(const std::vector<FleetOutcome>& of_seed) {
  std::vector<double> useful, total;
  for (const FleetOutcome& outcome : of_seed) {
    useful.push_back(outcome.host_time.useful_s);
    total.push_back(outcome.host_time.total_s());
  }
  const outputs::Interval interval = outputs::share_of_means(useful, total);
  return {.value = interval.mean, .low = interval.low, .high = interval.high};
}

SparesSummary summary(const Study& study, const WithSpares& with) {
  SparesSummary all{.spares = with.spares};
  std::vector<double> waits;
  for (std::size_t s = 0; s < with.of_seed.size(); ++s) {
    const FleetOutcome& outcome = with.of_seed[s];
    all.host_time += outcome.host_time;
    for (const double wait_s : waits_s(study.work[s], outcome)) waits.push_back(wait_s);
    all.ended += std::ranges::count_if(outcome.jobs, [](const JobOutcome& job) { return job.end_s.has_value(); });
  }
  all.goodput = goodput_of(with.of_seed);
  all.jobs = std::ssize(waits);
  all.usd_per_useful_host_h = usd_per_useful_host_hour(all.host_time, study.price_usd_per_h);
  double sum_s = 0.0;
  for (const double wait_s : waits) sum_s += wait_s;
  all.wait_mean_s = sum_s / static_cast<double>(waits.size());
  all.wait_median_s = quantile(waits, 0.5);
  all.wait_p90_s = quantile(waits, 0.9);
  return all;
}

std::vector<double> times_s(const WithRule& with) {
  std::vector<double> all;
  for (const FleetOutcome& outcome : with.of_seed) all.push_back(outcome.end_s);
  return all;
}

std::string spares_text(int spares) {
  if (spares == 0) return tr("no spares");
  return outputs::counted(static_cast<std::size_t>(spares), "{} spare", "{} spares");
}

/// The measure that is compared: dollars for a useful server-hour, or goodput as a percentage.
double merit(const HostTime& time, const std::optional<double>& price) {
  return price ? *usd_per_useful_host_hour(time, price) : 100.0 * time.goodput();
}

std::string merit_text(double value, bool price) {
  return price ? tr("{} for a useful server-hour", outputs::dollars(value))
               : tr("a goodput of {} %", fmt::format("{:.2f}", value));
}

std::string difference_text(const outputs::Interval& difference, bool price) {
  const auto text = [&](double value) { return price ? outputs::dollars(value) : fmt::format("{:+.2f}", value); };
  return price ? tr("95 % interval of the difference {} to {}", text(difference.low), text(difference.high))
               : tr("95 % interval of the difference {} to {} points", text(difference.low), text(difference.high));
}

/// A number of spares with its merit over all seeds, and by seed.
struct Candidate {
  int spares = 0;
  double value = 0.0;
  std::vector<double> of_seed = {};
};

std::vector<Candidate> candidates_of(const std::vector<WithSpares>& all, const std::optional<double>& price_usd_per_h) {
  std::vector<Candidate> candidates;
  for (const WithSpares& with : all) {
    HostTime time;
    Candidate& candidate = candidates.emplace_back(Candidate{.spares = with.spares});
    for (const FleetOutcome& outcome : with.of_seed) {
      time += outcome.host_time;
      candidate.of_seed.push_back(merit(outcome.host_time, price_usd_per_h));
    }
    candidate.value = merit(time, price_usd_per_h);
  }
  return candidates;
}

bool finite(const Candidate& candidate) {
  return std::isfinite(candidate.value) &&
         std::ranges::all_of(candidate.of_seed, [](double value) { return std::isfinite(value); });
}

/// The first one's merit less the second one's, seed by seed.
std::vector<double> differences_of(const Candidate& first, const Candidate& second) {
  std::vector<double> differences;
  for (std::size_t s = 0; s < first.of_seed.size(); ++s) differences.push_back(first.of_seed[s] - second.of_seed[s]);
  return differences;
}

bool is_clear(const outputs::Interval& difference, bool price) {
  return price ? difference.high < 0.0 : difference.low > 0.0;
}

/// "4 spares pay: ...", or that they do not, or that the seeds do not tell.
std::string comparison(const Candidate& best, const Candidate& fewest, bool price) {
  const std::string spares = spares_text(best.spares), others = spares_text(fewest.spares);
  const std::string numbers =
      tr("{}, against {} with {}", merit_text(best.value, price),
         price ? outputs::dollars(fewest.value) : fmt::format("{:.2f} %", fewest.value), others);
  const std::vector<double> differences = differences_of(best, fewest);
  if (differences.size() < 2)
    return tr("With {} there is {}; one seed cannot show whether that is chance.", spares, numbers);
  const outputs::Interval difference = outputs::interval(differences);
  const std::string interval = difference_text(difference, price);
  if (!is_clear(difference, price))
    return tr("With these seeds it is not clear whether spares pay off: with {} there is {} ({}).", spares, numbers,
              interval);
  return best.spares == 1 ? tr("{} pays: {} ({}).", spares, numbers, interval)
                          : tr("{} pay: {} ({}).", spares, numbers, interval);
}

std::string verdict(const std::vector<WithSpares>& all, const std::optional<double>& price_usd_per_h) {
  if (all.size() < 2) return {};
  std::vector<Candidate> candidates = candidates_of(all, price_usd_per_h);
  const bool price = price_usd_per_h && std::ranges::all_of(candidates, finite);
  // Without useful time in a seed there is no price of it. Goodput decides alike: it is inverse to that price.
  if (price_usd_per_h && !price) candidates = candidates_of(all, {});
  const Candidate fewest = *std::ranges::min_element(candidates, {}, &Candidate::spares);
  const auto best_of = [&] {
    return price ? *std::ranges::min_element(candidates, {}, &Candidate::value)
                 : *std::ranges::max_element(candidates, {}, &Candidate::value);
  };
  const Candidate best = best_of();
  if (best.value == 0.0 && !price) return tr("No server does any useful work.");
  if (best.spares != fewest.spares) return comparison(best, fewest, price);
  std::erase_if(candidates, [&](const Candidate& each) { return each.spares == fewest.spares; });
  const Candidate next = best_of();
  const std::vector<double> differences = differences_of(fewest, next);
  const bool equal = std::ranges::all_of(differences, [](double each) { return each == 0.0; });
  if (differences.size() > 1 && (equal || is_clear(outputs::interval(differences), price)))
    return tr("More spares do not pay: no larger number of the list is better than {} with {}.",
              merit_text(fewest.value, price), spares_text(fewest.spares));
  return comparison(next, fewest, price);
}

}  // namespace

std::vector<SparesSummary> summaries(const Study& study) {
  std::vector<SparesSummary> all;
  for (const WithSpares& with : study.fleet) all.push_back(summary(study, with));
  return all;
}

std::vector<RuleSummary> rule_summaries(const Study& study) {
  std::vector<RuleSummary> all;
  for (const WithRule& with : study.trainings) {
    const std::vector<double> times = times_s(with);
    RuleSummary& rule_summary = all.emplace_back(
        RuleSummary{.spares = with.spares, .rule = with.rule, .interval_s = with.interval_s, .host_time = {}});
    const double seeds = static_cast<double>(times.size());
    for (const FleetOutcome& outcome : with.of_seed) {
      rule_summary.host_time += outcome.host_time;
      rule_summary.finished += outcome.jobs.front().end_s.has_value() ? 1 : 0;
      rule_summary.mean_s += outcome.end_s / seeds;
      rule_summary.failures += static_cast<double>(outcome.jobs.front().failures) / seeds;
    }
    rule_summary.goodput = goodput_of(with.of_seed);
    rule_summary.median_s = quantile(times, 0.5);
    rule_summary.p90_s = quantile(times, 0.9);
  }
  return all;
}

std::string spares_sentence(const Study& study) { return verdict(study.fleet, study.price_usd_per_h); }

std::string training_spares_sentence(const Study& study) {
  std::vector<WithSpares> by_daly;
  for (const WithRule& with : study.trainings)
    if (with.rule == "daly") by_daly.push_back({.spares = with.spares, .of_seed = with.of_seed});
  return verdict(by_daly, study.price_usd_per_h);
}

std::string rule_sentence(const Study& study) {
  if (study.trainings.empty()) return {};
  const int spares = std::ranges::max_element(study.trainings, {}, &WithRule::spares)->spares;
  const auto first = std::ranges::find(study.trainings, spares, &WithRule::spares);
  const WithRule& daly = *first;
  const WithRule& fixed = *(first + 2);
  const std::vector<double> times = times_s(daly), others = times_s(fixed);
  const auto median_and_most = [](const std::vector<double>& of) {
    return std::pair(outputs::duration(quantile(of, 0.5)), outputs::duration(quantile(of, 0.9)));
  };
  const auto [median, most] = median_and_most(times);
  const auto [other_median, other_most] = median_and_most(others);
  std::string text =
      tr("With {} and checkpoints every {} (Daly) the training takes {} in the median, {} or less for 90 % of the "
         "seeds.",
         spares_text(spares), outputs::duration(daly.interval_s), median, most) +
      tr(" With one every {} it takes {} and {}.", outputs::duration(fixed.interval_s), other_median, other_most);
  if (times.size() < 2) return text + tr(" One seed cannot show whether the order is chance.");
  std::vector<double> differences;
  for (std::size_t s = 0; s < times.size(); ++s) differences.push_back(others[s] - times[s]);
  const outputs::Interval saved = outputs::interval(differences);
  if (saved.low <= 0.0 && saved.high >= 0.0)
    return text + tr(" With these seeds it is not clear which of the two is faster.");
  const bool wins = saved.low > 0.0;
  const std::string winner = wins ? tr("Daly's interval") : tr("the fixed interval");
  return text + tr(" On the same failures {} saves {} on average (95 % interval {} to {}).", winner,
                   outputs::duration(std::abs(saved.mean)), outputs::duration(wins ? saved.low : -saved.high),
                   outputs::duration(wins ? saved.high : -saved.low));
}

}  // namespace simgrad::capacity
