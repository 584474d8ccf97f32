// Claims of winners in headline, cards and footer, for hundreds of random results, against a reading of their own.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "catch.h"
#include "outputs/report/sentences/summary_card.h"
#include "outputs/terminal/summary_sentence.h"
#include "report_sample.h"

namespace claims_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

enum class Number { time, cost, energy };

/// The runs of one strategy, by seed.
using Seeds = std::map<std::uint64_t, const Run*>;

std::map<std::string, Seeds> by_label(const Results& results) {
  std::map<std::string, Seeds> all;
  for (const Run& run : results.runs) all[run.label][run.seed] = &run;
  return all;
}

double number_of(const Run& run, Number number, bool to_target) {
  const double total = number == Number::time   ? run.record.simulated_s
                       : number == Number::cost ? *run.bill.cost_usd
                                                : *run.bill.energy_j;
  return to_target ? total : total / static_cast<double>(run.record.samples_seen.value_or(run.record.samples));
}

bool may_win(const Seeds& seeds, bool to_target) {
  return std::ranges::all_of(seeds, [&](const auto& each) {
    const auto status = each.second->record.status;
    return to_target ? status == record::Status::reached
                     : status == record::Status::reached || status == record::Status::stopped;
  });
}

double mean_of_seeds(const Seeds& seeds, Number number, bool to_target) {
  double sum = 0.0;
  for (const auto& [seed, run] : seeds) sum += number_of(*run, number, to_target);
  return sum / static_cast<double>(seeds.size());
}

/// Two-sided 95 % points of Student's t, from a table.
constexpr double t95[] = {0.0, 12.706, 4.303, 3.182, 2.776};

/// The labels that may be called the best: the least mean, and all that are not clearly behind it.
struct Best {
  std::string first;
  std::set<std::string> all;
  bool chance = false;
};

Best best_of(const Results& results, Number number, bool to_target) {
  const auto all = by_label(results);
  Best best;
  double least = 1e300;
  for (const auto& [label, seeds] : all)
    if (may_win(seeds, to_target) && mean_of_seeds(seeds, number, to_target) < least) {
      least = mean_of_seeds(seeds, number, to_target);
      best.first = label;
    }
  if (best.first.empty()) return best;
  best.all.insert(best.first);
  for (const auto& [label, seeds] : all) {
    if (label == best.first || !may_win(seeds, to_target)) continue;
    const double mean = mean_of_seeds(seeds, number, to_target);
    const auto n = static_cast<double>(seeds.size());
    double squares = 0.0;
    for (const auto& [seed, run] : seeds) {
      const double more =
          number_of(*run, number, to_target) - number_of(*all.at(best.first).at(seed), number, to_target);
      squares += (more - (mean - least)) * (more - (mean - least));
    }
    const double half = n > 1 ? t95[seeds.size() - 1] * std::sqrt(squares / (n - 1) / n) : 0.0;
    const bool chance = n > 1 && half >= mean - least && half >= 0.005 * least;
    if (chance || mean < 1.005 * least) best.all.insert(label);
    best.chance = best.chance || chance;
  }
  return best;
}

/// Random runs: strategies a, b, ... with some spread over seeds, some that diverge, fail or miss the target.
Results random_results(std::mt19937& random) {
  const auto draw = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
  const bool to_target = draw(0, 1) < 0.6;
  Results results = results_of({}, to_target ? std::optional(0.02) : std::nullopt);
  const int strategies = 2 + static_cast<int>(draw(0, 4));
  const auto seeds = static_cast<std::uint64_t>(1 + static_cast<int>(draw(0, 5)));
  const double noise = draw(0, 1) < 0.3 ? 0.0 : draw(0.0, 0.5);
  for (int k = 0; k < strategies; ++k) {
    const std::string label(1, static_cast<char>('a' + k));
    const double mean_s = draw(1.0, 2.0);
    const double sound = draw(0, 1);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const double s = mean_s * (1.0 + noise * draw(-1.0, 1.0));
      Run run = with_samples(sample_run(label, 2, {s * draw(0.2, 0.8), 0.0, 0.0, 0.0}), 1'000'000);
      run.record.simulated_s = s;
      run.record.ranks[0].wait_s = run.record.ranks[1].wait_s = s - run.record.ranks[0].compute_s;
      if (draw(0, 1) < 0.2) run.record.samples_seen = 700'000;
      run.record.final_loss = 0.01;
      run.bill.cost_usd = draw(1.0, 2.0) * (noise > 0 ? 1.0 : mean_s);
      run.bill.energy_j = 100.0 * s;
      if (to_target) run = reached(run, 0.01, 3.0), run.bill.cost_to_target_usd = run.bill.cost_usd;
      if (sound < 0.1 && seed == seeds) {
        // Numbers that would win if they counted.
        run.record.status = record::Status::diverged;
        run.record.final_loss = 9e13;
        run.record.time_to_target_s.reset();
        run.record.simulated_s = 1e-3;
        run.bill.cost_to_target_usd.reset();
      } else if (sound < 0.15) {
        run = failed(run, "lost");
      }
      results.runs.push_back(with_seed(run, seed));
    }
  }
  return results;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Returns the labels of one letter that stand as words in the text.
std::set<std::string> labels_in(const std::string& text) {
  std::set<std::string> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = [&](std::size_t k) {
      return k < text.size() && std::isalnum(static_cast<unsigned char>(text[k]));
    };
    if (text[i] >= 'a' && text[i] <= 'f' && !letter(i + 1) && (i == 0 || !letter(i - 1))) found.insert({text[i]});
  }
  return found;
}

std::string until(const std::string& text, const std::string& end) { return text.substr(0, text.find(end)); }

void check_text(const std::string& text, const Best& best, const std::string& winner_part) {
  INFO(text);
  CHECK(has(text, "chance may decide between ") == best.chance);
  if (best.chance)
    CHECK(labels_in(text.substr(text.find("between "))) == best.all);
  else
    CHECK(labels_in(winner_part) == best.all);
}

}  // namespace

TEST_CASE("winners, ties and chance in headline, cards and footer are those of an independent reading") {
  std::mt19937 random(7);
  int chance = 0, clear = 0, targets = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Results results = random_results(random);
    const SummaryCard card = summary_card(results, report_model(results));
    const std::string footer = until(sentence(results, comparison(results)), " No clear winner by cost");
    const bool to_target = !best_of(results, Number::time, true).first.empty();
    const Best best = best_of(results, Number::time, to_target);
    CAPTURE(trial, card.headline, footer);
    if (best.first.empty()) {
      CHECK(card.winners.empty());
      continue;
    }
    if (!to_target && results.scenario.contains("stop")) continue;  // missed by all: nothing is said of winners
    ++(best.chance ? chance : clear);
    targets += to_target ? 1 : 0;
    for (const char* verb : {" reaches", " is the fastest", " are equally", " processes"})
      if (has(card.headline, verb)) check_text(card.headline, best, until(card.headline, verb));
    if (has(card.headline, "No clear")) check_text(until(card.headline, " One seed"), best, "");
    const std::string named =
        until(until(footer.substr(footer.find(": ") + 2), ", equally"), best.chance ? "." : ", after ");
    if (to_target && !best.chance) check_text(until(footer, " Highest"), best, named);
    if (best.chance) check_text(until(footer.substr(0, footer.find(").") + 1), " Cheapest"), best, "");
    const std::size_t seeds = by_label(results).begin()->second.size();
    // With one seed the remark stands wherever another case is behind, by time to the target.
    const auto behind = std::ranges::count_if(by_label(results), [&](const auto& each) {
      return may_win(each.second, to_target) && !best.all.contains(each.first);
    });
    if (seeds == 1) CHECK(has(card.headline, "One seed: the order may be chance.") == (to_target && behind > 0));
    if (seeds > 1) CHECK_FALSE(has(card.headline + footer, "One seed"));
    for (const Winner& each : card.winners) {
      const Number number = each.by == "time" ? Number::time : each.by == "cost" ? Number::cost : Number::energy;
      const Best of_card = best_of(results, number, to_target);
      CAPTURE(each.by, each.label, each.text);
      CHECK((each.label == no_clear_winner) == of_card.chance);
      if (!of_card.chance) CHECK(each.label == of_card.first);
    }
  }
  // All kinds of results occur.
  CHECK(chance > 50);
  CHECK(clear > 50);
  CHECK(targets > 50);
}

TEST_CASE("a ratio in the headline is that of the means of the two that it names") {
  std::mt19937 random(11);
  int seen = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Results results = random_results(random);
    const std::string headline = summary_card(results, report_model(results)).headline;
    const std::size_t faster = headline.find(" faster than ");
    if (faster == std::string::npos) continue;
    const bool to_target = !best_of(results, Number::time, true).first.empty();
    const auto all = by_label(results);
    const double ratio =
        mean_of_seeds(all.at(headline.substr(faster + 13, 1)), Number::time, to_target) /
        mean_of_seeds(all.at(best_of(results, Number::time, to_target).first), Number::time, to_target);
    const std::string before = headline.substr(0, faster);
    const std::string said = before.substr(before.rfind(", ") + 2);
    CAPTURE(headline, ratio);
    // Two digits: within 5 % of a factor, within half a point of a percentage.
    if (said.ends_with("x"))
      CHECK(std::stod(said) == Approx(ratio).epsilon(0.05));
    else
      CHECK(std::abs(std::stod(said) - 100.0 * (ratio - 1.0)) < 0.51);
    ++seen;
  }
  CHECK(seen > 50);
}

}  // namespace claims_test
