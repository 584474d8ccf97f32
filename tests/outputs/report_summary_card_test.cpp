// The summary at the top of the report, in the plain cases and in the awkward ones.
#include "catch.h"
#include "outputs/report/sentences/summary_card.h"
#include "report_sample.h"

namespace report_summary_card_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

SummaryCard card_of(const Results& results) { return summary_card(results, report_model(results)); }

Run priced(Run run, double usd, double joules) {
  run.bill.cost_usd = usd;
  run.bill.cost_to_target_usd = run.record.time_to_target_s ? std::optional(usd) : std::nullopt;
  run.bill.energy_j = joules;
  return run;
}

Run arrived(const std::string& label, std::int64_t workers, std::array<double, 4> parts_s) {
  return reached(sample_run(label, workers, parts_s), 0.01, 8.0);
}

}  // namespace

TEST_CASE("the summary names the winner by time, by cost and by energy, and the bottleneck of the fastest") {
  const Results results =
      results_of({priced(arrived("ring", 4, {1.0, 1.0, 0.0, 0.0}), 2.5, 300.0),
                  priced(over(arrived("server", 4, {1.0, 3.0, 0.0, 0.0}), "in-4", 0.97), 1.25, 200.0)},
                 0.02);
  const SummaryCard found = card_of(results);
  CHECK(found.headline ==
        "ring reaches the target first, after 2.00 s, 4.0x as fast as one worker, 2.0x faster than server. One seed: "
        "the order may be chance.");
  REQUIRE(found.winners.size() == 3);
  CHECK(found.winners[0].by == "time");
  CHECK(found.winners[0].label == "ring");
  CHECK(found.winners[0].text ==
        "2.00 s to the target, 4.0x as fast as one worker; next: server with 4.00 s to the target");
  CHECK(found.winners[1].by == "cost");
  CHECK(found.winners[1].label == "server");
  CHECK(found.winners[1].text == "$1.25 to the target; next: ring with $2.50");
  CHECK(found.winners[2].by == "energy");
  CHECK(found.winners[2].label == "server");
  CHECK(found.winners[2].text == "200 J to the target; next: ring with 300 J");
  REQUIRE(found.bottleneck);
  CHECK(found.bottleneck->name == "ring");
  CHECK(
      found.bottleneck->text ==
      "computing takes 50 % of the time. It is ahead of server because the link \"in-4\" of server is busy 97 % of the "
      "time: server communicates for 3.00 s, ring for 1.00 s.");
  CHECK(found.notes.empty());
}

TEST_CASE("the summary tells which runs have the losses of one model and the times of another") {
  const std::string note =
      "losses are those of softmax_regression with 28 parameters; times, messages and bytes are those of alexnet with "
      "61.1 M parameters (model.timed_as)";
  Run proxied = arrived("ring", 4, {1.0, 1.0, 0.0, 0.0});
  proxied.record.notes = {"another note", note};
  CHECK(card_of(results_of({proxied, with_seed(proxied, 2)}, 0.02)).notes ==
        std::vector<std::string>{"This experiment combines two models: " + note + "."});
  const Run plain = arrived("server", 4, {1.0, 3.0, 0.0, 0.0});
  CHECK(card_of(results_of({proxied, plain, with_seed(proxied, 2)}, 0.02)).notes ==
        std::vector<std::string>{"2 of 3 runs combine two models: " + note + "."});
  CHECK(card_of(results_of({plain}, 0.02)).notes.empty());
}

TEST_CASE("one strategy alone is not compared, and absent prices are not mentioned") {
  const SummaryCard found = card_of(results_of({arrived("ring", 4, {1.0, 1.0, 0.0, 0.0})}, 0.02));
  CHECK(found.headline == "ring reaches the target after 2.00 s, 4.0x as fast as one worker.");
  REQUIRE(found.winners.size() == 1);
  CHECK(found.winners[0].point.empty());
}

TEST_CASE("one worker that is faster alone is said to be") {
  const SummaryCard found = card_of(results_of({arrived("ring", 4, {4.0, 12.0, 0.0, 0.0})}, 0.02));
  CHECK(found.headline == "ring reaches the target after 16.0 s, 2.0x slower than one worker alone.");
}

TEST_CASE("without a target, throughput decides") {
  const Results results =
      results_of({priced(with_samples(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0}), 4'000'000), 2.0, 8.0),
                  priced(with_samples(sample_run("tree", 2, {1.0, 1.0, 0.0, 0.0}), 4'000'000), 1.0, 4.0)});
  const SummaryCard found = card_of(results);
  CHECK(found.headline == "ring is the fastest, with 4.00 M samples/s, 2.0x faster than tree.");
  CHECK(found.winners[1].text == "$0.25 per million samples; next: ring with $0.50");
}

TEST_CASE("a target that nobody reached, or not with every seed, is the headline") {
  Run far = sample_run("far", 2, {1.0, 0.0, 0.0, 0.0});
  far.record.final_loss = 0.5;
  Run near = sample_run("near", 2, {2.0, 0.0, 0.0, 0.0});
  near.record.final_loss = 0.0625;
  const SummaryCard none = card_of(results_of({far, near}, 0.02));
  CHECK(none.headline == "No run reached the target (loss 0.02); the closest is near with loss 0.0625.");
  REQUIRE(none.notes.size() == 1);
  CHECK(none.notes[0] == "far is the fastest, with 2.00 M samples/s, 2.0x faster than near.");
  const SummaryCard some =
      card_of(results_of({with_seed(arrived("near", 2, {1.0, 0.0, 0.0, 0.0}), 1), with_seed(near, 2)}, 0.02));
  CHECK(some.headline ==
        "No strategy reached the target with every seed (loss 0.02); the closest is near with loss 0.03625.");
}

TEST_CASE("runs that diverged or failed are named, and cannot win") {
  Run broken = diverged(with_samples(sample_run("wild", 2, {0.1, 0.0, 0.0, 0.0}), 9'000'000));
  const Results results = results_of(
      {arrived("ring", 2, {1.0, 0.0, 0.0, 0.0}), broken, failed(sample_run("lost", 2, {}), "rank 3 was lost")}, 0.02);
  const SummaryCard found = card_of(results);
  CHECK(found.winners.at(0).label == "ring");
  CHECK(found.notes == std::vector<std::string>{"1 run failed. First error (lost): rank 3 was lost",
                                                "1 run diverged: wild at step 100."});
  CHECK(card_of(results_of({broken})).headline == "Every run diverged. A smaller training.learning_rate may help.");
  CHECK(card_of(results_of({failed(broken, "x")})).headline == "Every run failed.");
  CHECK(card_of(results_of({broken, failed(sample_run("lost", 2, {}), "x")})).winners.empty());
}

TEST_CASE("nothing finished, and an experiment that was interrupted") {
  CHECK(card_of(results_of({})).headline == "No run has finished.");
  Results results = results_of({arrived("ring", 2, {1.0, 0.0, 0.0, 0.0})});
  results.complete = false;
  CHECK(card_of(results).notes ==
        std::vector<std::string>{"Incomplete: 1 run finished before the experiment was interrupted."});
}

TEST_CASE("cases in which one seed is unsound are not called the best") {
  const Run good = with_seed(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0}), 1);
  const Run bad = with_seed(diverged(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0})), 2);
  CHECK(card_of(results_of({good, bad})).headline ==
        "Every case has a seed that diverged or failed, so no case is called the best.");
}

TEST_CASE("sound cases without samples are not said to have diverged") {
  const Run good = with_samples(with_seed(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0}), 1), 0);
  const Run bad = with_seed(diverged(sample_run("tree", 2, {1.0, 0.0, 0.0, 0.0})), 1);
  CHECK(card_of(results_of({good, bad})).headline ==
        "No case in which every run is sound has processed any samples, so no case is called the best.");
}

TEST_CASE("a card names the next strategy where the next case may be another of the first strategy") {
  const auto with_workers = [](const char* label, std::int64_t workers, double s) {
    return at(arrived(label, workers, {s, 0.0, 0.0, 0.0}), "cluster.workers", workers);
  };
  const SummaryCard found = card_of(results_of(
      {with_workers("a", 2, 1.5), with_workers("a", 4, 1.0), with_workers("b", 2, 4.0), with_workers("b", 4, 2.0)},
      0.02));
  CHECK(found.winners[0].text.ends_with("; next strategy: b with 4 workers with 2.00 s to the target"));
}

TEST_CASE("a range of leads has one form: percentages, or factors if its larger end is one") {
  const auto at_features = [](const char* label, int features, double s) {
    return at(sample_run(label, 2, {s, 0.0, 0.0, 0.0}), "data.features", features);
  };
  const auto headline = [&](double first, double second) {
    return card_of(results_of({at_features("a", 10, 1.0), at_features("b", 10, first), at_features("a", 100, 1.0),
                               at_features("b", 100, second)}))
        .headline;
  };
  CHECK(headline(1.22, 1.6) ==
        "a is the fastest at every value of features, 1.2x to 1.6x faster than the next strategy.");
  CHECK(headline(1.1, 1.22) ==
        "a is the fastest at every value of features, 10 % to 22 % faster than the next strategy.");
}

TEST_CASE("jobs say once that no change was tried") {
  Results results = results_of({sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), sample_run("b", 2, {1.0, 0.0, 0.0, 0.0})});
  results.scenario["job"] = Json::array({{{"label", "a"}}, {{"label", "b"}}});
  CHECK(card_of(results).notes == std::vector<std::string>{"No change was tried to find the bottleneck: jobs share "
                                                           "the cluster, and a change for one changes all."});
}

TEST_CASE("the headline follows the numbers") {
  const auto headline = [](double s) {
    return card_of(results_of({arrived("a", 2, {1.0, s, 0.0, 0.0}), arrived("b", 2, {3.0, 1.0, 0.0, 0.0})})).headline;
  };
  CHECK(headline(0.5).starts_with("a reaches the target first, after 1.50 s"));
  CHECK(headline(1.0).starts_with("a reaches the target first, after 2.00 s"));
  CHECK(headline(9.0).starts_with("b reaches the target first, after 4.00 s"));
}

TEST_CASE("cases that are equally fast are named together, and none is called the first") {
  const auto headline = [](double b_s, double c_s) {
    return card_of(results_of({arrived("a", 2, {2.0, 0.0, 0.0, 0.0}), arrived("b", 2, {b_s, 0.0, 0.0, 0.0}),
                               arrived("c", 2, {c_s, 0.0, 0.0, 0.0})}))
        .headline;
  };
  CHECK(headline(2.005, 3.0) ==
        "a and b are equally fast: 2.00 s to the target, 4.0x as fast as one worker, 1.5x faster than c. One seed: the "
        "order may be chance.");
  CHECK(headline(2.0, 2.0).starts_with("a, b and c are equally fast"));
  CHECK(headline(2.02, 3.0).starts_with("a reaches the target first"));
}

TEST_CASE("the cheapest is the cheapest, those within 0.5 % are named, and prices of 0 are left out") {
  const auto winners_of = [](double a_usd, double b_usd, double c_usd) {
    return card_of(results_of({priced(arrived("a", 2, {2.0, 0.0, 0.0, 0.0}), a_usd, 0.0),
                               priced(arrived("b", 2, {3.0, 0.0, 0.0, 0.0}), b_usd, 0.0),
                               priced(arrived("c", 2, {4.0, 0.0, 0.0, 0.0}), c_usd, 0.0)}))
        .winners;
  };
  CHECK(winners_of(0.0, 0.0, 0.0).size() == 1);
  REQUIRE(winners_of(2.0, 1.001, 1.0).size() == 2);
  CHECK(winners_of(2.0, 1.001, 1.0)[1].label == "c");
  CHECK(winners_of(2.0, 1.001, 1.0)[1].text == "$1.00 to the target; b costs the same within 0.5 %");
  CHECK(winners_of(1.0, 1.0, 1.0)[1].label == "a");
  CHECK(winners_of(1.0, 1.0, 1.0)[1].text.ends_with("; b and c cost the same within 0.5 %"));
  CHECK(winners_of(2.0, 1.5, 1.0)[1].text == "$1.00 to the target; next: b with $1.50");
}

namespace {

Run sized(const std::string& label, int features, double s) {
  return at(sample_run(label, 2, {s, 0.0, 0.0, 0.0}), "data.features", features);
}

}  // namespace

TEST_CASE("different data are different questions: each size has its own winner") {
  const SummaryCard found = card_of(results_of({sized("a", 10, 1.0), sized("b", 10, 2.0), sized("a", 100, 3.0),
                                                sized("b", 100, 2.0), sized("a", 1000, 30.0), sized("b", 1000, 20.0)}));
  CHECK(found.headline == "The fastest depends on features: a at 10, b at 100 and 1000.");
  REQUIRE(found.winners.size() == 3);
  CHECK(found.winners[0].label == "a");
  CHECK(found.winners[1].label == "b");
  CHECK(found.winners[2].point == "features=1000");
  REQUIRE(found.bottleneck);
  CHECK(found.bottleneck->name == "b at features=1000");
  const SummaryCard same =
      card_of(results_of({sized("a", 10, 1.0), sized("b", 10, 2.0), sized("a", 100, 2.0), sized("b", 100, 3.0)}));
  CHECK(same.headline == "a is the fastest at every value of features, 1.5x to 2.0x faster than the next strategy.");
  const auto with_spread = [](Run run, double spread) { return at(std::move(run), "data.spread", spread); };
  std::vector<Run> runs;
  for (const double spread : {1.0, 2.0})
    for (const int features : {10, 100})
      for (const char* label : {"a", "b"}) {
        const bool first = (label[0] == 'a') == (features == 10 || spread == 1.0);
        runs.push_back(with_spread(sized(label, features, first ? 1.0 : 2.0), spread));
      }
  CHECK(card_of(results_of(runs)).headline ==
        "The fastest depends on features and spread: a in 3 of 4 cases; b at features=100, spread=2.0.");
  // How many workers there are is a choice, and so is what only one strategy is tried at.
  CHECK(card_of(results_of({sized("a", 10, 1.0), sized("a", 100, 2.0)})).headline.starts_with("a at features=10"));
}

TEST_CASE("each question has a card by each number, or none by any, which a note says") {
  const auto cards = [](int questions) {
    std::vector<Run> runs;
    for (int k = 1; k <= questions; ++k)
      for (const char* label : {"a", "b"}) runs.push_back(priced(sized(label, 10 * k, 1.0 + k), 1.0 * k, 2.0 * k));
    return card_of(results_of(runs));
  };
  const SummaryCard six = cards(6);
  for (const char* by : {"time", "cost", "energy"}) CHECK(std::ranges::count(six.winners, by, &Winner::by) == 6);
  CHECK(six.notes.empty());
  const SummaryCard eight = cards(8);
  CHECK(eight.winners.size() == 18);
  CHECK(eight.notes == std::vector<std::string>{"Cards name the winners of the first 6 of 8 values of features; the "
                                                "table has all results."});
}

TEST_CASE("where there is no clear winner nobody is called ahead") {
  std::vector<Run> runs;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const double s = 1.0 + 0.1 * static_cast<double>(seed);
    runs.push_back(with_seed(arrived("a", 2, {0.2, s, 0.0, 0.0}), seed));
    runs.push_back(with_seed(arrived("b", 2, {0.2, seed == 2 ? 0.5 : s + 1.0, 0.0, 0.0}), seed));
    runs.push_back(with_seed(arrived("c", 2, {0.2, s + 8.0, 0.0, 0.0}), seed));
  }
  const SummaryCard found = card_of(results_of(runs));
  CHECK(found.headline.starts_with("No clear winner"));
  REQUIRE(found.bottleneck);
  CHECK(found.bottleneck->text.find("ahead") == std::string::npos);
}

TEST_CASE(
    "two cases of one strategy between which chance may decide are both named, though one is the strategy's best") {
  std::vector<Run> runs;
  const auto add = [&](const char* label, std::int64_t workers, double s, std::uint64_t seed) {
    runs.push_back(with_seed(at(arrived(label, workers, {s, 0.0, 0.0, 0.0}), "cluster.workers", Json(workers)), seed));
  };
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    add("a", 2, seed == 2 ? 0.5 : 1.1, seed);
    add("a", 4, seed == 2 ? 1.1 : 0.9, seed);
    add("b", 2, 5.0 + 0.1 * static_cast<double>(seed), seed);
    add("b", 4, 6.0 + 0.1 * static_cast<double>(seed), seed);
  }
  const SummaryCard found = card_of(results_of(runs));
  CHECK(found.headline.find("a with 2 workers") != std::string::npos);
  CHECK(found.headline.find("a with 4 workers") != std::string::npos);
  CHECK(found.headline.find("b with") == std::string::npos);
  CHECK(found.headline.starts_with("No clear winner"));
  CHECK(found.winners[0].label == "no clear winner");
}

TEST_CASE("where the target was missed the highest throughput is called so") {
  Run a = sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), b = sample_run("b", 2, {2.0, 0.0, 0.0, 0.0});
  CHECK(card_of(results_of({a, b}, 0.02)).winners[0].by == "throughput");
  CHECK(card_of(results_of({a, b})).winners[0].by == "time");
}

TEST_CASE("jobs are never ranked: the summary says how much longer each takes beside the others") {
  const auto job = [](const std::string& label, double s, std::optional<double> interference) {
    Run run = sample_run(label, 2, {s, 0.0, 0.0, 0.0});
    run.interference = interference;
    return run;
  };
  Results results = results_of({job("small", 1.0, 1.0), job("large", 4.0, 1.75)});
  results.scenario["job"] = Json::array();
  const SummaryCard found = card_of(results);
  CHECK(found.headline ==
        "While the other jobs run, small takes as long as alone and large takes 1.8x as long as alone.");
  REQUIRE(found.winners.size() == 2);
  CHECK(found.winners[1].text == "4.00 s, 1.8x as long as alone");
  REQUIRE(found.bottleneck);
  CHECK(found.bottleneck->name == "large");
  CHECK(found.bottleneck->text.find("ahead") == std::string::npos);
}

}  // namespace report_summary_card_test
