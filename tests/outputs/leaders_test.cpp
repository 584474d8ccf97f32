// Winners with statistics: paired differences over seeds, their intervals, and the words that follow from them.
#include "outputs/leaders.h"

#include <cmath>

#include "catch.h"
#include "outputs/report/sentences/summary_card.h"
#include "outputs/terminal/summary_sentence.h"
#include "outputs/text/number_text.h"
#include "report_sample.h"

namespace leaders_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

/// A strategy that reached the target after these seconds with seeds 1, 2, ...
void add(Results& results, const std::string& label, const std::vector<double>& times_s) {
  for (std::size_t k = 0; k < times_s.size(); ++k)
    results.runs.push_back(with_seed(reached(sample_run(label, 2, {times_s[k], 0.0, 0.0, 0.0}), 0.01, 8.0), k + 1));
}

Results of_two(const std::vector<double>& a, const std::vector<double>& b) {
  Results results = results_of({}, 0.02);
  add(results, "a", a);
  add(results, "b", b);
  return results;
}

Lead lead_of(const std::vector<double>& a, const std::vector<double>& b) {
  const Comparison c = comparison(of_two(a, b));
  return difference(c.rows.at(0), c.rows.at(1), by_time_to_target).lead;
}

std::string headline_of(const Results& results) { return summary_card(results, report_model(results)).headline; }
std::string footer_of(const Results& results) { return sentence(results, comparison(results)); }
const std::string one_seed = "One seed: the order may be chance.";
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the difference of two strategies is taken seed by seed, with Student's interval") {
  const Comparison c = comparison(of_two({1.0, 2.0, 3.0}, {1.5, 2.25, 3.75}));
  const Difference found = difference(c.rows.at(0), c.rows.at(1), by_time_to_target);
  CHECK(found.pairs == std::vector<double>{0.5, 0.25, 0.75});
  // mean 0.5, s = 0.25; t(2) = 4.303.
  const double half = student_t95(2) * 0.25 / std::sqrt(3.0);
  CHECK(found.of_pairs.mean == Approx(0.5).epsilon(1e-12));
  CHECK(found.of_pairs.low == Approx(0.5 - half).epsilon(1e-9));
  CHECK(found.lead == (half < 0.5 ? Lead::clear : Lead::unclear));
}

TEST_CASE("pairs tell a lead that means with their own spreads would hide") {
  // Seeds differ by far more than strategies do, but b is always half a second slower.
  CHECK(lead_of({1.0, 5.0, 9.0}, {1.5, 5.51, 9.49}) == Lead::clear);
  // The means differ by as much, but the seeds disagree.
  CHECK(lead_of({1.0, 5.0, 9.0}, {3.5, 4.0, 9.0}) == Lead::unclear);
}

TEST_CASE("means within 0.5 % are equal, one common seed tells nothing of chance") {
  CHECK(lead_of({2.0, 2.0}, {2.009, 2.009}) == Lead::equal);
  CHECK(lead_of({2.0, 2.0}, {2.011, 2.011}) == Lead::clear);
  CHECK(lead_of({1.0}, {2.0}) == Lead::one_seed);
  CHECK(lead_of({1.0}, {1.004}) == Lead::equal);
  // Equal means of which each seed says something else are not called equal.
  CHECK(lead_of({1.0, 3.0, 2.0}, {3.0, 1.0, 2.0}) == Lead::unclear);
}

TEST_CASE("seeds in common that speak for the other row give no clear winner") {
  // b lacks seed 3, in which a is fast: a's mean 5 is smaller than b's 5.75, but b is faster with every common seed.
  CHECK(lead_of({7.0, 6.5, 1.5}, {6.0, 5.5}) == Lead::unclear);
}

TEST_CASE("two means of 0 are equal") {
  Results results = of_two({1.0, 1.0}, {1.0, 1.0});
  for (Run& run : results.runs) run.bill.cost_usd = 0.0;
  const Comparison c = comparison(results);
  CHECK(difference(c.rows.at(0), c.rows.at(1), by_cost).lead == Lead::equal);
}

TEST_CASE("of several seeds fewer than two in common are said to be so") {
  const Results results = of_two({1.0, 1.1, 1.2}, {2.0});
  CHECK(has(headline_of(results), "Fewer than two seeds in common: the order may be chance."));
  CHECK(has(footer_of(results), "Fewer than two seeds in common: the order may be chance."));
}

TEST_CASE("times per sample depend on the seed where the work of a step is drawn") {
  const auto drawn = [](const char* scenario) { return conditions(Json::parse(scenario), Json::object()).by_chance(); };
  CHECK_FALSE(drawn(R"({"model": {"kind": "least_squares"}, "training": {"partition": "iid"}})"));
  CHECK(drawn(R"({"model": {"kind": "sparse_logistic"}})"));
  CHECK(drawn(R"({"training": {"partition": {"kind": "dirichlet"}}})"));
  CHECK(drawn(R"({"strategy": [{"kind": "allreduce"}, {"kind": "ad_psgd"}]})"));
}

TEST_CASE("the first and all that cannot be told from it lead, wherever they stand") {
  Results results = of_two({1.0, 1.1, 0.9}, {1.2, 1.3, 1.1});  // b is 0.2 slower with each seed
  add(results, "c", {0.5, 3.0, 1.0});                          // slower by the mean, but noisy
  const Comparison c = comparison(results);
  const auto rows = ranked(c, by_time_to_target);
  REQUIRE(rows.size() == 3);
  CHECK(rows[1]->label == "b");
  const Leaders top = leaders(rows, by_time_to_target);
  CHECK(top.all == std::vector<std::size_t>{0, 2});
  CHECK(top.next == std::size_t{1});
  CHECK(top.lead == Lead::unclear);
}

TEST_CASE("where chance may decide, headline, card and footer name the candidates and no winner") {
  const Results results = of_two({1.0, 5.0, 9.0}, {3.5, 4.0, 9.0});
  // a: mean 5, s = 4; b: mean 5.5, s^2 = (4 + 2.25 + 12.25) / 2.
  const double a = student_t95(2) * 4.0 / std::sqrt(3.0), b = student_t95(2) * std::sqrt(18.5 / 2.0 / 3.0);
  const std::string between =
      "a (" + with_margin(5.0, a, duration) + ") and b (" + with_margin(5.5, b, duration) + ").";
  CHECK(headline_of(results) == "No clear winner by time to the target: chance may decide between " + between);
  CHECK(footer_of(results) == "No clear winner to the target: chance may decide between " + between);
  const auto card = summary_card(results, report_model(results)).winners.at(0);
  CHECK(card.label == no_clear_winner);
  CHECK(card.lead == Lead::unclear);
  CHECK(card.text + "." == "chance may decide between " + between);
}

TEST_CASE("one seed is said where the seed decides, and only there") {
  CHECK(has(headline_of(of_two({1.0}, {2.0})), one_seed));
  CHECK(has(footer_of(of_two({1.0}, {2.0})), one_seed));
  CHECK_FALSE(has(headline_of(of_two({1.0, 1.0}, {2.0, 2.0})), one_seed));
  // A single strategy is not compared.
  Results alone = results_of({}, 0.02);
  add(alone, "a", {1.0});
  CHECK_FALSE(has(headline_of(alone), one_seed));
  // Samples per second depend on the seed only where the cluster draws lots.
  Results speeds = results_of({sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), sample_run("b", 2, {2.0, 0.0, 0.0, 0.0})});
  CHECK_FALSE(has(headline_of(speeds), one_seed));
  CHECK_FALSE(has(footer_of(speeds), one_seed));
  speeds.scenario["cluster"] = {{"stragglers", {{"kind", "bimodal"}}}};
  CHECK(has(headline_of(speeds), one_seed));
  CHECK(has(footer_of(speeds), one_seed));
}

TEST_CASE("samples that a crash made worthless are no speed, and are named as lost") {
  Run wait = with_samples(sample_run("wait", 2, {0.0805, 0.0, 0.0, 0.0}), 60'000);
  Run restart = with_samples(sample_run("restart", 2, {0.1107, 0.0, 0.0, 0.0}), 90'000);
  restart.record.samples_seen = 60'000;
  const Results results = results_of({restart, wait});
  const Comparison c = comparison(results);
  // 60000 / 0.1107 and 60000 / 0.0805.
  CHECK(*c.rows.at(0).samples_per_s == Approx(60'000 / 0.1107).epsilon(1e-12));
  CHECK(headline_of(results).starts_with("wait is the fastest, with 745 k samples/s, "));
  CHECK(footer_of(results).starts_with("Highest throughput: wait, 745 k samples/s"));
  CHECK(has(table(results, {.width = 120}),
            "Samples lost to crashes (no part of samples/s and speed-ups): restart 30.0 k of 90.0 k."));
}

TEST_CASE("a margin has the unit of its mean") {
  CHECK(with_margin(4.1e-3, 0.3e-3, duration) == "4.10 ms ± 0.30");
  CHECK(with_margin(4.1e-3, 123e-3, duration) == "4.10 ms ± 123");
  CHECK(with_margin(0.0123, 0.00045, dollars) == "$0.0123 ± 0.00045");
  CHECK(with_margin(200.0, 12.0, duration) == "3 min 20 s ± 12.0 s");
  CHECK(with_margin(1.0, std::nan(""), duration) == "1.00 s");
}

TEST_CASE("a loss that has not moved in the last quarter has levelled off") {
  Run flat = sample_run("flat", 2, {1.0, 0.0, 0.0, 0.0});
  flat.record.steps = 8;
  flat = with_losses(flat, {1.0, 0.6, 0.5, 0.4, 0.38, 0.37, 0.3684, 0.3683, 0.3682});
  flat.record.final_loss = 0.3682;
  CHECK(
      footer_of(results_of({flat}, 0.1))
          .starts_with("No run reached the target; flat came closest: its loss levelled off at 0.3682, after 1.00 s"));
  CHECK(headline_of(results_of({flat}, 0.1)) ==
        "No run reached the target (loss 0.1); flat came closest: its loss levelled off at 0.3682.");
  Run falling = with_losses(flat, {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.39, 0.3682});
  CHECK(has(footer_of(results_of({falling}, 0.1)), "the closest is flat with loss 0.3682"));
}

TEST_CASE("losses that are equal as they are written are equally close to a target") {
  Run first = sample_run("first", 2, {1.0, 0.0, 0.0, 0.0}), second = sample_run("second", 2, {2.0, 0.0, 0.0, 0.0});
  first.record.final_loss = 0.030000002;
  second.record.final_loss = 0.030000001;
  CHECK(footer_of(results_of({first, second}, 0.01))
            .starts_with("No run reached the target; first and second ended closest to it, with loss 0.03."));
  CHECK(headline_of(results_of({first, second}, 0.01)) ==
        "No run reached the target (loss 0.01); first and second ended closest to it, with loss 0.03.");
}

TEST_CASE("a mean of replicas at the target is no run that has come close to it: no worker holds that mean") {
  Run rounds = sample_run("rounds", 2, {1.0, 0.0, 0.0, 0.0});
  rounds.record.final_loss = 0.09;
  CHECK(footer_of(results_of({rounds}, 0.1))
            .starts_with("No run reached the target; the replicas' mean of rounds, which no worker holds, has "
                         "loss 0.09 after 1.00 s"));
  CHECK(headline_of(results_of({rounds}, 0.1)) ==
        "No run reached the target (loss 0.1); the replicas' mean of rounds, which no worker holds, has loss 0.09.");
}

TEST_CASE("under conditions that nobody chooses the terminal names the winner of each, as the report does") {
  Results results = results_of({}, 0.02);
  const auto run = [&](const char* label, double sigma, int workers, double time_s) {
    Run one = at(reached(sample_run(label, workers, {time_s, 0.0, 0.0, 0.0}), 0.01, 8.0), "cluster.workers", workers);
    results.runs.push_back(at(std::move(one), "cluster.stragglers.sigma", sigma));
  };
  for (const double sigma : {0.0, 1.0})
    for (const int workers : {2, 4}) {
      run("ring", sigma, workers, (sigma == 0.0 ? 2.0 : 8.0) / workers);
      run("gossip", sigma, workers, (sigma == 0.0 ? 4.0 : 6.0) / workers);
    }
  const std::string winners =
      "The first to reach the target depends on sigma: ring with 4 workers at 0.0, gossip with 4 workers at 1.0. ";
  CHECK(footer_of(results) == winners + one_seed);
  CHECK(footer_of(results) == headline_of(results));
  // Where the workers alone differ, they are a choice.
  std::erase_if(results.runs, [](const Run& each) { return each.parameters["cluster.stragglers.sigma"] == 1.0; });
  for (Run& each : results.runs) each.parameters.erase("cluster.stragglers.sigma");
  CHECK(footer_of(results).starts_with("Fastest to the target: ring at workers=4, after 500 ms"));
}

}  // namespace leaders_test
