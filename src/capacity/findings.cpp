#include "capacity/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/statistics.h"
#include "outputs/text/number_text.h"

namespace simgrad::capacity {

namespace {

SparesSummary summary(const Study& study, const WithSpares& with) {
  SparesSummary all{.spares = with.spares};
  std::vector<double> waits;
  for (std::size_t s = 0; s < with.of_seed.size(); ++s) {
    const FleetOutcome& outcome = with.of_seed[s];
    all.host_time += outcome.host_time;
    for (const double wait_s : waits_s(study.work[s], outcome)) waits.push_back(wait_s);
    all.ended += std::ranges::count_if(outcome.jobs, [](const JobOutcome& job) { return job.end_s.has_value(); });
  }
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
  return spares == 0 ? std::string("no spares") : fmt::format("{} spare{}", spares, spares == 1 ? "" : "s");
}

/// What is compared: dollars for a useful server-hour, or goodput as a percentage.
double merit(const HostTime& time, const std::optional<double>& price) {
  return price ? *usd_per_useful_host_hour(time, price) : 100.0 * time.goodput();
}

std::string merit_text(double value, bool price) {
  return price ? fmt::format("{} for a useful server-hour", outputs::dollars(value))
               : fmt::format("a goodput of {:.2f} %", value);
}

std::string differing(const outputs::Interval& difference, bool price) {
  const char* const unit = price ? "" : " points";
  const auto text = [&](double value) {
    return price ? fmt::format("{}{}", value < 0.0 ? "-" : "", outputs::dollars(std::abs(value)))
                 : fmt::format("{:+.2f}", value);
  };
  return fmt::format("{} to {}{}", text(difference.low), text(difference.high), unit);
}

/// A number of spares with its merit, over all seeds.
struct Candidate {
  const WithSpares* with = nullptr;
  double value = 0.0;
};

/// "4 spares pay: ...", or that they do not, or that the seeds do not tell.
std::string verdict(const std::vector<WithSpares>& all, const std::optional<double>& price_usd_per_h) {
  if (all.size() < 2) return {};
  const bool price = price_usd_per_h.has_value();
  std::vector<Candidate> candidates;
  for (const WithSpares& with : all) {
    HostTime time;
    for (const FleetOutcome& outcome : with.of_seed) time += outcome.host_time;
    candidates.push_back({.with = &with, .value = merit(time, price_usd_per_h)});
  }
  const Candidate fewest =
      *std::ranges::min_element(candidates, {}, [](const Candidate& each) { return each.with->spares; });
  const Candidate best = price ? *std::ranges::min_element(candidates, {}, &Candidate::value)
                               : *std::ranges::max_element(candidates, {}, &Candidate::value);
  if (!std::isfinite(best.value) || best.value == 0.0) return "No server does any useful work.";
  if (best.with->spares == fewest.with->spares)
    return fmt::format(
        "More spares do not pay: {} {}, which no larger number of the list betters.",
        fewest.with->spares == 0 ? "without spares there is" : spares_text(fewest.with->spares) + " give",
        merit_text(fewest.value, price));
  std::vector<double> differences;
  for (std::size_t s = 0; s < fewest.with->of_seed.size(); ++s)
    differences.push_back(merit(best.with->of_seed[s].host_time, price_usd_per_h) -
                          merit(fewest.with->of_seed[s].host_time, price_usd_per_h));
  const std::string spares = spares_text(best.with->spares);
  const std::string numbers = fmt::format(
      "{}, against {} with {}", merit_text(best.value, price),
      price ? outputs::dollars(fewest.value) : fmt::format("{:.2f} %", fewest.value), spares_text(fewest.with->spares));
  if (differences.size() < 2)
    return fmt::format("With {} there is {}; one seed does not tell whether that is chance.", spares, numbers);
  const outputs::Interval difference = outputs::interval(differences);
  const bool clear = price ? difference.high < 0.0 : difference.low > 0.0;
  if (!clear)
    return fmt::format("The seeds do not tell whether spares pay: {} {} {} (95 % interval of the difference {}).",
                       spares, best.with->spares == 1 ? "has" : "have", numbers, differing(difference, price));
  return fmt::format("{} pay{}: {} (95 % interval of the difference {}).", spares, best.with->spares == 1 ? "s" : "",
                     numbers, differing(difference, price));
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
    RuleSummary& its = all.emplace_back(
        RuleSummary{.spares = with.spares, .rule = with.rule, .interval_s = with.interval_s, .host_time = {}});
    const double seeds = static_cast<double>(times.size());
    for (const FleetOutcome& outcome : with.of_seed) {
      its.host_time += outcome.host_time;
      its.finished += outcome.jobs.front().end_s.has_value() ? 1 : 0;
      its.mean_s += outcome.end_s / seeds;
      its.failures += static_cast<double>(outcome.jobs.front().failures) / seeds;
    }
    its.median_s = quantile(times, 0.5);
    its.p90_s = quantile(times, 0.9);
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
  const int most = std::ranges::max_element(study.trainings, {}, &WithRule::spares)->spares;
  const auto first = std::ranges::find(study.trainings, most, &WithRule::spares);
  const WithRule& daly = *first;
  const WithRule& fixed = *(first + 2);
  const std::vector<double> times = times_s(daly), others = times_s(fixed);
  std::string text = fmt::format(
      "With a checkpoint every {} (Daly) the training takes {} in the median and at most {} "
      "for 90 % of the seeds; every {} it takes {} and {}.",
      outputs::duration(daly.interval_s), outputs::duration(quantile(times, 0.5)),
      outputs::duration(quantile(times, 0.9)), outputs::duration(fixed.interval_s),
      outputs::duration(quantile(others, 0.5)), outputs::duration(quantile(others, 0.9)));
  if (times.size() < 2) return text + " One seed does not tell whether the order is chance.";
  std::vector<double> differences;
  for (std::size_t s = 0; s < times.size(); ++s) differences.push_back(others[s] - times[s]);
  const outputs::Interval saved = outputs::interval(differences);
  if (saved.low <= 0.0 && saved.high >= 0.0) return text + " The seeds do not tell which of the two is faster.";
  const bool wins = saved.low > 0.0;
  return text + fmt::format(" On the same failures {} saves {} on average (95 % interval {} to {}).",
                            wins ? "Daly's interval" : "the fixed interval", outputs::duration(std::abs(saved.mean)),
                            outputs::duration(wins ? saved.low : -saved.high),
                            outputs::duration(wins ? saved.high : -saved.low));
}

}  // namespace simgrad::capacity
