// The answer at the top of the report, in the plain cases and in the awkward ones.
#include "catch.h"
#include "outputs/report/answer.h"
#include "report_sample.h"

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

Answer answer_of(const Results& results) { return answer(results, view(results)); }

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

TEST_CASE("the answer names the winner by time, by cost and by energy, and what binds the first") {
  const Results results =
      results_of({priced(arrived("ring", 4, {1.0, 1.0, 0.0, 0.0}), 2.5, 300.0),
                  priced(over(arrived("server", 4, {1.0, 3.0, 0.0, 0.0}), "in-4", 0.97), 1.25, 200.0)},
                 0.02);
  const Answer found = answer_of(results);
  CHECK(found.headline ==
        "ring reaches the target first, after 2.00 s, 4.0x as fast as one worker, 2.0x faster than server.");
  REQUIRE(found.lines.size() == 3);
  CHECK(found.lines[0].by == "time");
  CHECK(found.lines[0].label == "ring");
  CHECK(found.lines[0].text ==
        "2.00 s to the target, 4.0x as fast as one worker; next is server with 4.00 s to the target");
  CHECK(found.lines[1].by == "cost");
  CHECK(found.lines[1].label == "server");
  CHECK(found.lines[1].text == "$1.25 to the target; next is ring with $2.50");
  CHECK(found.lines[2].by == "energy");
  CHECK(found.lines[2].label == "server");
  CHECK(found.lines[2].text == "200 J to the target; next is ring with 300 J");
  CHECK(found.binds ==
        "What binds ring: computing takes 50 % of the time. It is ahead of server because the link \"in-4\" of "
        "server is busy 97 % of the time: server communicates for 3.00 s, ring for 1.00 s.");
  CHECK(found.notes.empty());
}

TEST_CASE("one strategy alone is not compared, and prices that are not there are not spoken of") {
  const Answer found = answer_of(results_of({arrived("ring", 4, {1.0, 1.0, 0.0, 0.0})}, 0.02));
  CHECK(found.headline == "ring reaches the target after 2.00 s, 4.0x as fast as one worker.");
  REQUIRE(found.lines.size() == 1);
  CHECK(found.lines[0].point.empty());
}

TEST_CASE("one worker that is faster alone is said to be") {
  const Answer found = answer_of(results_of({arrived("ring", 4, {4.0, 12.0, 0.0, 0.0})}, 0.02));
  CHECK(found.headline == "ring reaches the target after 16.0 s, 2.0x slower than one worker alone.");
}

TEST_CASE("without a target, throughput decides") {
  const Results results =
      results_of({priced(with_samples(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0}), 4'000'000), 2.0, 8.0),
                  priced(with_samples(sample_run("tree", 2, {1.0, 1.0, 0.0, 0.0}), 4'000'000), 1.0, 4.0)});
  const Answer found = answer_of(results);
  CHECK(found.headline == "ring computes most, 4.00 M samples/s, 2.0x faster than tree.");
  CHECK(found.lines[1].text == "$0.25 a million samples; next is ring with $0.5");
}

TEST_CASE("a target that nobody reached, or not with every seed, is the headline") {
  Run far = sample_run("far", 2, {1.0, 0.0, 0.0, 0.0});
  far.record.final_loss = 0.5;
  Run near = sample_run("near", 2, {2.0, 0.0, 0.0, 0.0});
  near.record.final_loss = 0.0625;
  const Answer none = answer_of(results_of({far, near}, 0.02));
  CHECK(none.headline == "No run reached the target (loss 0.02); the closest is near, loss 0.0625.");
  REQUIRE(none.notes.size() == 1);
  CHECK(none.notes[0] == "far computes most, 2.00 M samples/s, 2.0x faster than near.");
  const Answer some =
      answer_of(results_of({with_seed(arrived("near", 2, {1.0, 0.0, 0.0, 0.0}), 1), with_seed(near, 2)}, 0.02));
  CHECK(some.headline ==
        "No strategy reached the target with every seed (loss 0.02); the closest is near, loss 0.03625.");
}

TEST_CASE("runs that diverged or failed are named, and cannot win") {
  Run broken = diverged(with_samples(sample_run("wild", 2, {0.1, 0.0, 0.0, 0.0}), 9'000'000));
  const Results results = results_of(
      {arrived("ring", 2, {1.0, 0.0, 0.0, 0.0}), broken, failed(sample_run("lost", 2, {}), "rank 3 was lost")}, 0.02);
  const Answer found = answer_of(results);
  CHECK(found.lines.at(0).label == "ring");
  CHECK(found.notes ==
        std::vector<std::string>{"1 run failed; the first: lost: rank 3 was lost", "1 run diverged: wild."});
  CHECK(answer_of(results_of({broken})).headline ==
        "Every run diverged: the loss is no number any more. A smaller training.learning_rate may help.");
  CHECK(answer_of(results_of({failed(broken, "x")})).headline == "Every run failed.");
  CHECK(answer_of(results_of({broken, failed(sample_run("lost", 2, {}), "x")})).lines.empty());
}

TEST_CASE("nothing finished, and an experiment that was interrupted") {
  CHECK(answer_of(results_of({})).headline == "No run has finished.");
  Results results = results_of({arrived("ring", 2, {1.0, 0.0, 0.0, 0.0})});
  results.complete = false;
  CHECK(answer_of(results).notes ==
        std::vector<std::string>{"Incomplete: 1 run finished before the experiment was interrupted."});
}

TEST_CASE("cases in which one seed is unsound are not called the best") {
  const Run good = with_seed(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0}), 1);
  const Run bad = with_seed(diverged(sample_run("ring", 2, {1.0, 0.0, 0.0, 0.0})), 2);
  CHECK(answer_of(results_of({good, bad})).headline ==
        "No case finished every seed soundly, so that none can be called the best.");
}

TEST_CASE("an answer follows its numbers") {
  const auto headline = [](double s) {
    return answer_of(results_of({arrived("a", 2, {1.0, s, 0.0, 0.0}), arrived("b", 2, {3.0, 1.0, 0.0, 0.0})})).headline;
  };
  CHECK(headline(0.5).starts_with("a reaches the target first, after 1.50 s"));
  CHECK(headline(1.0).starts_with("a reaches the target first, after 2.00 s"));
  CHECK(headline(9.0).starts_with("b reaches the target first, after 4.00 s"));
}
