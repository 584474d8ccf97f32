#include "outputs/comparison.h"

#include <numeric>
#include <random>

#include "catch.h"
#include "outputs/leaders.h"
#include "outputs/statistics.h"
#include "outputs/terminal/summary_sentence.h"
#include "sample.h"

namespace comparison_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

std::string sentence_of(const Results& results) { return sentence(results, comparison(results)); }

}  // namespace

TEST_CASE("apportioned cells add up, and none is a whole cell off") {
  std::mt19937 random(1);
  std::exponential_distribution<double> part;
  for (int trial = 0; trial < 1000; ++trial) {
    const std::array<double, 4> parts = {part(random), part(random), part(random), trial % 2 == 0 ? 0.0 : part(random)};
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (const int total : {8, 12, 16, 100}) {
      const auto cells = apportioned(parts, total);
      REQUIRE(std::accumulate(cells.begin(), cells.end(), 0) == total);
      for (std::size_t k = 0; k < 4; ++k) REQUIRE(std::abs(cells[k] - parts[k] / sum * total) < 1.0);
    }
  }
}

TEST_CASE("no time is apportioned to nothing") { CHECK(apportioned({0.0, 0.0, 0.0, 0.0}, 16) == std::array<int, 4>{}); }

TEST_CASE("rows are grid points in the order of their first run, labels likewise, seeds together") {
  Results results;
  for (const int point : {1, 2}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      for (const char* label : {"b", "a"}) {
        results.runs.push_back(at(sample_run(label, 4, {1.0, 0.0, 0.0, 0.0}), "x", point));
        results.runs.back().seed = seed;
      }
    }
  }
  std::string order;
  for (const Row& row : comparison(results).rows) order += row.label + row.parameters["x"].dump() + " ";
  CHECK(order == "b1 a1 b2 a2 ");
  CHECK(comparison(results).rows[0].seeds == 2);
}

TEST_CASE("a row's numbers are means over its seeds, its margin half of the 95 % interval") {
  Results results;
  for (const double time : {1.0, 3.0})
    results.runs.push_back(reached(sample_run("a", 2, {time, 0.0, 0.0, 0.0}), 0.1, 3.0));
  const Row row = comparison(results).rows.at(0);
  CHECK(*row.time_to_target_s == 2.0);
  // t s / sqrt(2), where s^2 = ((1 - 2)^2 + (3 - 2)^2) / (2 - 1)
  CHECK(*row.time_to_target_margin_s == Approx(student_t95(1)).epsilon(1e-9));
  // 3 over the mean of 1 and 3
  CHECK(*row.speedup_time_to_target == 1.5);
}

TEST_CASE("a grid's keys are shortened unless two end alike") {
  CHECK(short_name("training.learning_rate", {"training.learning_rate", "cluster.workers"}) == "learning_rate");
  CHECK(short_name("a.kind", {"a.kind", "b.kind"}) == "a.kind");
}

TEST_CASE("the sentence names the fastest, its lead over one worker and its time's largest part first") {
  CHECK(sentence_of(six_runs()) ==
        "Fastest to the target: allreduce at workers=8, after 1.50 s, 5.33x as fast as one worker; its time is 66% "
        "computing, 17% communicating, 10% waiting, 7% down. One seed: the order may be chance.");
}

TEST_CASE("the sentence says so when one worker alone is faster, and when another has the highest throughput") {
  Results results;
  results.runs = {reached(sample_run("slow", 2, {1.0, 3.0, 0.0, 0.0}), 0.1, 2.0),
                  sample_run("busy", 2, {1.0, 0.0, 0.0, 0.0})};
  results.runs[1].speedup_throughput = 1.75;
  CHECK(sentence_of(results) ==
        "Fastest to the target: slow, after 4.00 s, 0.50x as fast as one worker, so one worker alone is faster; its "
        "time is "
        "75% communicating, 25% computing. Highest throughput: busy, 1.75x that of one worker.");
}

TEST_CASE("the sentence when no run reached the target names the closest") {
  Results results = six_runs();
  results.runs = {results.runs[2], results.runs[4]};
  CHECK(sentence_of(results) ==
        "No run reached the target; the closest is gossip(graph=ring) at workers=2 with loss 0.0312 after 4.50 s; its "
        "time is 89% computing, 9% communicating, 2% waiting.");
  results.runs = {results.runs[1]};
  CHECK(sentence_of(results) == "Every run diverged. A smaller training.learning_rate may help.");
  // The losses of diverged runs may be finite, and the runs have speed-ups in files of older releases.
  Results finite = results;
  finite.runs[0].record.final_loss = 1.5e13;
  finite.runs[0].speedup_throughput = finite.runs[0].efficiency = 2.0;
  CHECK(sentence_of(finite) == "Every run diverged. A smaller training.learning_rate may help.");
  finite.scenario = Json::object();
  CHECK(sentence_of(finite) == "Every run diverged. A smaller training.learning_rate may help.");
  for (const Row& row : comparison(finite).rows) CHECK_FALSE((row.speedup_throughput || row.efficiency));
  results.runs[0].record.status = record::Status::stopped;  // without a loss
  CHECK(sentence_of(results) == "No run reached the target.");
}

TEST_CASE("a strategy that reached the target with some seeds only is not the fastest") {
  Results results;
  results.runs = {reached(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 0.1, 2.0),
                  sample_run("a", 2, {1.0, 0.0, 0.0, 0.0})};
  CHECK(ranked(comparison(results), by_time_to_target).empty());
  CHECK(sentence_of(results) == "No strategy reached the target with every seed.");
}

TEST_CASE("the sentence without a target is about throughput") {
  Results results;
  // 2,000,000 samples in 4 s
  results.runs = {sample_run("a", 2, {1.0, 3.0, 0.0, 0.0})};
  CHECK(sentence_of(results) ==
        "Highest throughput: a, 500 k samples/s; its time is 75% communicating, 25% computing.");
}

TEST_CASE("the sentence when nothing ran, all failed, or no time went by") {
  CHECK(sentence_of({}) == "No run has finished.");
  Results results;
  results.runs = {failed(sample_run("a", 2, {}), "lost")};
  CHECK(sentence_of(results) == "Every run failed.");
  results.runs = {sample_run("a", 2, {})};
  CHECK(sentence_of(results) == "No run processed any samples.");
}

TEST_CASE("a case that reaches the target with some seeds only has no price and no speed-up to the target") {
  Run first = reached(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 0.01, 4.0);
  first.bill.cost_to_target_usd = 2.0;
  Run second = sample_run("a", 2, {3.0, 0.0, 0.0, 0.0});
  second.seed = 2;
  Results results;
  results.runs = {first, second};
  const Comparison found = comparison(results);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].reached == 1);
  CHECK_FALSE(found.rows[0].speedup_time_to_target);
  CHECK_FALSE(found.rows[0].cost_to_target_usd);
  results.runs = {first};
  CHECK(comparison(results).rows[0].speedup_time_to_target == Approx(4.0));
  CHECK(comparison(results).rows[0].cost_to_target_usd == Approx(2.0));
}

}  // namespace comparison_test
