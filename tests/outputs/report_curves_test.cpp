// Curves over seeds, and the disagreement of replicas.
#include <cmath>
#include <limits>

#include "catch.h"
#include "outputs/divergence.h"
#include "outputs/report/charts/curves.h"
#include "outputs/report/sentences/summary_card.h"
#include "outputs/statistics.h"
#include "outputs/terminal/plot.h"
#include "report_sample.h"

namespace report_curves_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

Run trained(std::vector<std::optional<double>> losses) {
  Run run = with_losses(sample_run("ring", 4, {1.0, 1.0, 0.0, 0.0}), losses);
  run.record.samples = 10 * (static_cast<std::int64_t>(losses.size()) - 1);
  run.record.epochs = static_cast<double>(losses.size()) - 1.0;
  run.record.simulated_s = static_cast<double>(losses.size()) - 1.0;
  run.record.final_loss = losses.back();
  return run;
}

Series series_of(const Results& results, std::size_t most = 2000) {
  const ReportModel seen = report_model(results);
  return series(seen.cases.at(0), most);
}

}  // namespace

TEST_CASE("a column is written as a line only if every number is on it") {
  const std::vector<double> steps{0, 10, 20, 40};
  const auto line = line_over("step", steps, {100, 8180, 16260, 32420});
  REQUIRE(line);
  // 808 bytes a step, after 100.
  CHECK(line->per == 808.0);
  CHECK(line->from == 100.0);
  CHECK_FALSE(line_over("step", steps, {100, 8180, 16261, 32420}));
  CHECK_FALSE(line_over("step", steps, {100, std::nan(""), 16260, 32420}));
  CHECK_FALSE(line_over("step", {3, 3}, {1, 2}));
  CHECK_FALSE(line_over("step", {0}, {1}));
}

TEST_CASE("with one seed a curve is its evaluations, and it has no band") {
  Run run = trained({1.0, 0.5, 0.25});
  run.bill.cost_usd = 6.0;
  const Series curve = series_of(results_of({run}));
  CHECK(curve.step == std::vector<double>{0, 1, 2});
  CHECK(curve.simulated_s == std::vector<double>{0, 1, 2});
  CHECK(curve.epochs == std::vector<double>{0, 1, 2});
  CHECK(curve.cost_usd == std::vector<double>{0, 3, 6});
  CHECK(curve.loss == std::vector<double>{1.0, 0.5, 0.25});
  CHECK(curve.loss_low.empty());
  CHECK(curve.metric.empty());
  CHECK(curve.consensus.empty());
}

TEST_CASE("a curve has the mean of the least losses that its seeds can be expected to reach") {
  Run one = with_seed(trained({1.0, 0.5, 0.25}), 1), two = with_seed(trained({1.0, 0.75, 0.5}), 2);
  CHECK_FALSE(series_of(results_of({one, two})).loss_floor);
  one.record.loss_floor = 0.125;
  two.record.loss_floor = 0.375;
  CHECK(series_of(results_of({one, two})).loss_floor == 0.25);
}

TEST_CASE(
    "with several seeds a curve is their mean, with Student's band, and one that has ended stays where it ended") {
  const Run one = with_seed(trained({1.0, 0.5, 0.25, 0.125}), 1);
  const Run two = with_seed(trained({3.0, 1.5, 0.75}), 2);
  const Series curve = series_of(results_of({one, two}));
  CHECK(curve.seeds == 2);
  CHECK(curve.step == std::vector<double>{0, 1, 2, 3});
  CHECK(curve.loss == std::vector<double>{2.0, 1.0, 0.5, (0.125 + 0.75) / 2});
  CHECK(curve.simulated_s.back() == (3.0 + 2.0) / 2);
  // s = |a - b| / sqrt 2, so that the half width is t |a - b| / 2.
  CHECK(curve.loss_low[1] == Approx(1.0 - student_t95(1) * 0.5).epsilon(1e-9));
  CHECK(curve.loss_high[1] == Approx(1.0 + student_t95(1) * 0.5).epsilon(1e-9));
}

TEST_CASE("a step that a seed has not evaluated and has not ended before is left out") {
  Run coarse = with_seed(trained({1.0, 0.5, 0.25}), 2);
  coarse.record.curve[1].step = 10;
  coarse.record.curve[2].step = 17;
  Run fine = with_seed(trained({1.0, 0.5, 0.25, 0.125}), 1);
  fine.record.curve[2].step = 10;
  fine.record.curve[3].step = 12;
  // Step 1 is the second's alone, and at 12 the first goes on; at 17 the second has ended.
  CHECK(series_of(results_of({coarse, fine})).step == std::vector<double>{0, 10, 17});
}

TEST_CASE("a step that is repeated after a crash counts by its first evaluation in a mean over seeds") {
  Run back = with_seed(trained({1.0, 0.5, 0.25, 0.5, 0.3}), 1);
  for (std::size_t k = 3; k < 5; ++k) back.record.curve[k].step = static_cast<std::int64_t>(k) - 2;
  const Run straight = with_seed(trained({1.0, 0.7, 0.1}), 2);
  const Series mean = series_of(results_of({back, straight}));
  CHECK(mean.step == std::vector<double>{0, 1, 2});
  CHECK(mean.loss[1] == Approx((0.5 + 0.7) / 2).epsilon(1e-12));
  CHECK(mean.loss[2] == Approx((0.25 + 0.1) / 2).epsilon(1e-12));
  CHECK(mean.simulated_s[0] == 0.0);
  // Alone it is drawn as it was.
  CHECK(series_of(results_of({back})).step == std::vector<double>{0, 1, 2, 1, 2});
}

TEST_CASE("where one seed's loss is not finite there is no mean") {
  const Run sound = with_seed(trained({1.0, 0.5}), 1);
  const Run broken = with_seed(trained({1.0, {}}), 2);
  const Series curve = series_of(results_of({sound, broken}));
  CHECK(curve.loss[0] == 1.0);
  CHECK(std::isnan(curve.loss[1]));
  CHECK(std::isnan(curve.loss_low[1]));
}

TEST_CASE("a curve ends where the training says that it diverged, or at the first loss that is not finite") {
  using Losses = std::vector<std::optional<double>>;
  const double inf = std::numeric_limits<double>::infinity();
  // Losses, and the number of evaluations before the first loss that is not finite.
  const std::vector<std::pair<Losses, std::size_t>> cases = {
      {{1.0, 0.5, 0.25}, 3}, {{1.0, 2.0, inf, 3.0}, 2}, {{1.0, 2.0, {}, {}}, 2},      {{1.0, 1001.0, 1e9}, 3},
      {{{}, {}}, 2},         {{inf, 1.0}, 0},           {{1e-300, 1e-298, 1e-296}, 3}};
  for (const auto& [losses, sensible] : cases) {
    CAPTURE(losses.size(), sensible);
    CHECK(sensible_evaluations(trained(losses).record) == sensible);
  }
  CHECK(sensible_evaluations({}) == 0);
  Run wild = diverged(trained({1.0, 2.0, 1e4, 1e5}));
  CHECK(sensible_evaluations(wild.record) == 3);  // a file of an older release: the last evaluation
  wild.record.diverged_step = 2;
  CHECK(sensible_evaluations(wild.record) == 2);
  wild.record.curve[3].step = 2;  // evaluated again, after a recovery
  CHECK(sensible_evaluations(wild.record) == 3);
  wild.record.status = record::Status::stopped;
  CHECK(sensible_evaluations(wild.record) == 4);
}

TEST_CASE("the note, the plot, the card, the page and check name one step of divergence") {
  Run wild = diverged(trained({1.0, 500.0, 1e4, 1e5, 1e6}));
  wild.record.diverged_step = 2;
  wild.record.notes = {"diverged at step 2: the loss has grown from 1 to 1e+06 at the end"};
  const Results results = results_of({wild});
  CHECK(series_of(results).diverged->step == 2);
  CHECK(summary_card(results, report_model(results)).notes.back() == "1 run diverged: ring at step 2.");
  CHECK(plot(results, {}).ends_with("(diverged at step 2)\n"));
  CHECK(table(results, {}).find("diverged at step 2: ") != std::string::npos);
}

TEST_CASE("the divergence of a case is that of its first seed to diverge, and its points are those before it") {
  const Run good = with_seed(trained({1.0, 0.5, 0.25, 0.125}), 1);
  Run bad = with_seed(diverged(trained({1.0, 2.0, 4.0, {}})), 2);
  Run worse = with_seed(diverged(trained({1.0, 5.0, {}, {}})), 3);
  bad.record.diverged_step = 3;
  worse.record.diverged_step = 2;
  CHECK_FALSE(series_of(results_of({good})).diverged);
  const Series curve = series_of(results_of({good, bad, worse}));
  REQUIRE(curve.diverged);
  CHECK(curve.diverged->step == 2);
  CHECK(curve.diverged->seeds == 2);
  CHECK(curve.diverged->points == 2);
  CHECK(curve.step == std::vector<double>{0, 1, 2, 3});
}

TEST_CASE("a curve that is cut spends its points on the time before divergence") {
  std::vector<std::optional<double>> losses;
  for (int k = 0; k < 400; ++k) losses.push_back(k < 100 ? 1.0 / (1 + k) : std::pow(10.0, k - 90.0));
  Run wild = diverged(trained(losses));
  wild.record.diverged_step = 100;
  const Series curve = series_of(results_of({wild}), 40);
  REQUIRE(curve.diverged);
  CHECK(curve.diverged->step == 100);
  CHECK(curve.diverged->points >= 20);
  REQUIRE(curve.step.size() == curve.diverged->points + 1);
  CHECK(curve.step[curve.diverged->points - 1] == 99);
  CHECK(curve.step.back() == 399);
}

TEST_CASE("a long curve is cut to so many points and keeps its ends") {
  std::vector<std::optional<double>> losses(50'000);
  for (std::size_t k = 0; k < losses.size(); ++k) losses[k] = 1.0 / static_cast<double>(k + 1);
  const Series curve = series_of(results_of({trained(losses)}), 300);
  CHECK(curve.loss.size() <= 300);
  CHECK(curve.step.back() == 49'999.0);
}

TEST_CASE("the curves' sentence names the first at the target and why it is ahead of the last") {
  const Run ring = over(reached(sample_run("ring", 4, {1.0, 1.0, 0.0, 0.0}), 0.01, 8.0), "up-0", 0.6);
  const Run server = over(reached(sample_run("server", 4, {1.0, 3.0, 0.0, 0.0}), 0.01, 8.0), "server-in", 0.97);
  const auto chart =
      curves(report_model(results_of({with_losses(ring, {1.0, 0.01}), with_losses(server, {1.0, 0.01})}, 0.02)));
  REQUIRE(chart);
  CHECK(chart->sentence ==
        "ring reaches loss 0.02 first, after 2.00 s: 2.0x faster than server because the link \"server-in\" of "
        "server is busy 97 % of the time: server communicates for 3.00 s, ring for 1.00 s.");
}

TEST_CASE("without a target the curves' sentence names the lowest and the highest final loss") {
  const Run a = trained({1.0, 0.25});
  Run b = trained({1.0, 0.5});
  b.label = "tree";
  CHECK(curves(report_model(results_of({a, b})))->sentence ==
        "ring ends at loss 0.25 after 1.00 s, the lowest; tree ends at loss 0.5 after 1.00 s, the highest.");
  CHECK(curves(report_model(results_of({a, b}, 0.1)))->sentence ==
        "No strategy reaches the target with every seed; ring ends at loss 0.25 after 1.00 s, the lowest; "
        "tree ends at loss 0.5 after 1.00 s, the highest.");
}

TEST_CASE("curves of which all diverged say so, and those without losses are not drawn") {
  CHECK(curves(report_model(results_of({diverged(trained({1.0, {}}))})))->sentence == "Every run diverged.");
  Run finite = diverged(trained({1.0, 1.5e13}));
  finite.record.final_loss = 1.5e13;
  CHECK(curves(report_model(results_of({finite})))->sentence == "Every run diverged.");
  CHECK(curves(report_model(results_of({finite, failed(sample_run("tree", 2, {}), "lost")})))->sentence ==
        "Every run diverged or failed.");
  CHECK(curves(report_model(results_of({with_seed(finite, 1), with_seed(trained({1.0, 0.5}), 2)})))->sentence ==
        "Every case has a run that diverged or failed.");
  CHECK_FALSE(curves(report_model(results_of({with_losses(sample_run("ring", 2, {1, 0, 0, 0}), {{}, {}})}))));
  CHECK_FALSE(curves(report_model(results_of({failed(sample_run("ring", 2, {}), "lost")}))));
  CHECK_FALSE(curves(report_model(results_of({}))));
}

TEST_CASE(
    "the consensus chart names the largest and the smallest disagreement with the spectral gaps, and who never "
    "disagrees") {
  const auto apart = [](const std::string& label, double peak, double end, std::optional<double> gap) {
    Run run = trained({1.0, 0.5, 0.25});
    run.label = label;
    run.record.curve[1].consensus_distance = peak;
    run.record.curve[2].consensus_distance = end;
    run.record.spectral_gap = gap;
    return run;
  };
  const Results results = results_of({apart("gossip ring", 0.5, 0.2, 0.19), apart("gossip complete", 0.1, 0.02, 1.0),
                                      apart("allreduce", 0.0, 0.0, {})});
  CHECK(consensus(report_model(results))->sentence ==
        "Distance of the replicas from their mean at the end: 0.2 in gossip ring (spectral gap 0.19), the largest, and "
        "0.02 "
        "in gossip complete (spectral gap 1), the smallest, on a graph that mixes faster. The largest distance during "
        "training was 0.5. In allreduce the replicas are always equal.");
  CHECK_FALSE(consensus(report_model(results_of({apart("allreduce", 0.0, 0.0, {})}))));
  CHECK_FALSE(consensus(report_model(results_of({trained({1.0})}))));
}

}  // namespace report_curves_test
