// What binds a case, and why one is ahead of another: every reason with the numbers it is made of.
#include "catch.h"
#include "outputs/report/ranking.h"
#include "report_sample.h"

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

std::string limit_of(const Run& run) { return limit_text(view(results_of({run})).cases.at(0)); }

/// Why the first is ahead of the second.
std::string why(const Run& a, const Run& b, Measure measure = Measure::time_to_target) {
  const View seen = view(results_of({a, b}));
  return ahead(seen, seen.cases.at(0), seen.cases.at(1), measure);
}

Run arrived(const std::string& label, std::int64_t workers, std::array<double, 4> parts_s,
            std::int64_t samples = 1000) {
  return with_samples(reached(sample_run(label, workers, parts_s), 0.01, 10.0), samples);
}

}  // namespace

TEST_CASE("computing binds what computes most of the time") {
  CHECK(limit_of(sample_run("a", 4, {3.0, 0.75, 0.25, 0.0})) == "computing takes 75 % of the time");
}

TEST_CASE("a link that is busy half of the time binds what communicates") {
  CHECK(limit_of(over(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0}), "up-8", 0.97)) ==
        "communicating takes 75 % of the time, and the link \"up-8\" is busy 97 % of the time");
  Run shared = over(sample_run("a", 4, {1.0, 1.0, 2.0, 0.0}), "wan", 0.5);
  shared.record.links[0].background_bytes = 5;
  CHECK(limit_of(shared) ==
        "waiting takes 50 % of the time, and the link \"wan\", which carries other traffic too, is busy 50 % of the "
        "time");
}

TEST_CASE("a server's link whose directions take turns binds by both together") {
  const auto server = [](double up, double down, double others) {
    Run run = sent(sample_run("server", 4, {1.0, 9.0, 0.0, 0.0}), 1000, 800);
    for (const char* name : {"nic-0_UP", "nic-0_DOWN", "nic-1_UP", "nic-1_DOWN"}) run = over(run, name, others);
    return over(over(run, "nic-2_UP", up), "nic-2_DOWN", down);
  };
  CHECK(limit_of(server(0.44, 0.45, 0.1)) ==
        "communicating takes 90 % of the time, and the two directions of the link \"nic-2\" are busy 44 % and 45 % of "
        "the "
        "time");
  // Where all links are equal, their directions work at the same time: 45 % is all that they are busy.
  CHECK(limit_of(server(0.45, 0.45, 0.45)) ==
        "communicating takes 90 % of the time though no link is busy more than 45 % of it: latency and the order of "
        "its 8 "
        "messages a step, not bandwidth");
  CHECK(limit_of(server(0.2, 0.2, 0.01)) ==
        "communicating takes 90 % of the time though no link is busy more than 20 % of it: latency and the order of "
        "its 8 "
        "messages a step, not bandwidth");
}

TEST_CASE("of links that other jobs use too, it is said that they do") {
  Results results = results_of({over(sent(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0}), 1000, 1400), "rack-0", 0.37)});
  results.scenario["job"] = Json::array();
  CHECK(limit_text(view(results).cases.at(0)) ==
        "communicating takes 75 % of the time, on links that other jobs use too");
  results.runs[0].record.links[0].utilisation = 0.6;
  CHECK(
      limit_text(view(results).cases.at(0)) ==
      "communicating takes 75 % of the time, and the link \"rack-0\" is busy 60 % of the time, other jobs not counted");
}

TEST_CASE("where no link is busy, latency and the order of messages bind what communicates") {
  const Run run = over(sent(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0}), 1000, 1400), "up-0", 0.12);
  CHECK(limit_of(run) ==
        "communicating takes 75 % of the time though no link is busy more than 12 % of it: latency and the order of "
        "its 14 "
        "messages a step, not bandwidth");
  CHECK(limit_of(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0})) == "communicating takes 75 % of the time");
}

TEST_CASE("waiting is for the slowest worker where one computes longer than the mean") {
  Run run = sample_run("a", 2, {1.0, 0.0, 3.0, 0.0});
  CHECK(limit_of(run) == "waiting takes 75 % of the time, for other ranks");
  run.record.ranks[1] = {.role = "worker", .compute_s = 3.0, .communicate_s = 0.0, .wait_s = 1.0};
  run.record.ranks.push_back({.role = "worker", .compute_s = 0.5, .communicate_s = 0.0, .wait_s = 3.5});
  run.record.ranks.push_back({.role = "worker", .compute_s = 0.5, .communicate_s = 0.0, .wait_s = 3.5});
  // Computing: 1, 3, 0.5, 0.5: a mean of 1.25, the slowest 2.4 times that; 11 of 16 s are waited.
  CHECK(limit_of(run) == "waiting takes 69 % of the time: the slowest worker computes 2.4x as long as the mean");
}

TEST_CASE("being down binds what is down most of the time") {
  Run run = sample_run("a", 2, {1.0, 0.0, 0.0, 3.0});
  run.record.crashes = 2;
  CHECK(limit_of(run) == "being down takes 75 % of the time, in 2 crashes a run");
}

TEST_CASE("nothing is said of what binds a run of which no time is known") {
  Run run = sample_run("a", 2, {0, 0, 0, 0});
  CHECK(limit_of(run).empty());
}

TEST_CASE("ahead by time: the part of the time in which the other loses most, and its busy link") {
  const Run ring = arrived("ring", 4, {1.0, 1.0, 0.0, 0.0});
  const Run server = over(arrived("server", 4, {1.0, 3.2, 0.0, 0.0}), "in-4", 0.97);
  CHECK(why(ring, server) ==
        "2.1x faster than server because the link \"in-4\" of server is busy 97 % of the time: server communicates "
        "for 3.20 s, ring for 1.00 s");
  const Run idle = over(arrived("server", 4, {1.0, 3.2, 0.0, 0.0}), "in-4", 0.05);
  CHECK(why(ring, idle) ==
        "2.1x faster than server because server communicates for 3.20 s, ring for 1.00 s; with no link busy more "
        "than 5 %, not bandwidth but latency counts");
}

TEST_CASE("ahead by samples: staleness and disagreement cost steps") {
  const Run sync = arrived("sync", 4, {1.0, 1.0, 0.0, 0.0}, 1000);
  Run stale = arrived("async", 4, {3.0, 1.0, 0.0, 0.0}, 3000);
  CHECK(why(sync, stale) == "2.0x faster than async because it needs 3.0x fewer samples to the target");
  stale.record.staleness_mean = 6.86;
  CHECK(why(sync, stale) ==
        "2.0x faster than async because it needs 3.0x fewer samples to the target: the gradients of async are 6.86 "
        "updates "
        "old on average");
  Run apart = with_losses(arrived("gossip", 4, {3.0, 1.0, 0.0, 0.0}, 3000), {1.0});
  apart.record.curve[0].consensus_distance = 0.25;
  apart.record.spectral_gap = 0.195;
  CHECK(why(sync, apart) ==
        "2.0x faster than gossip because it needs 3.0x fewer samples to the target: the replicas of gossip disagree "
        "(distance 0.25 from their mean at the end, spectral gap 0.195)");
}

TEST_CASE("ahead although more samples are needed") {
  const Run async = arrived("async", 4, {1.0, 0.0, 0.0, 0.0}, 2000);
  const Run sync = arrived("sync", 4, {0.5, 0.0, 1.5, 0.0}, 1000);
  // A sample costs async 0.5 ms and sync 2 ms; of sync's, 1.5 ms are waited: 3 s for 2000.
  CHECK(why(async, sync) ==
        "2.0x faster than sync because sync waits for 3.00 s, async for 0 s, for as many samples, although async "
        "needs 2.0x more samples");
}

TEST_CASE("ahead by more workers, which share the computing") {
  CHECK(why(arrived("ring", 8, {1.0, 0.0, 0.0, 0.0}), arrived("ring of two", 2, {4.0, 0.0, 0.0, 0.0})) ==
        "4.0x faster than ring of two because 8 workers share what 2 do compute: ring of two computes for 4.00 "
        "s, ring for 1.00 s");
}

TEST_CASE("ahead of what is down or waits for its slowest") {
  const Run steady = arrived("steady", 2, {1.0, 0.0, 0.0, 0.0});
  CHECK(why(steady, arrived("spot", 2, {1.0, 0.0, 0.0, 3.0})) ==
        "4.0x faster than spot because spot is down for 3.00 s, steady for 0 s");
  Run uneven = arrived("uneven", 2, {1.0, 0.0, 3.0, 0.0});
  uneven.record.ranks[0].compute_s = 0.5;
  uneven.record.ranks[1].compute_s = 1.5;
  CHECK(why(steady, uneven) ==
        "4.0x faster than uneven because the slowest worker of uneven computes 1.5x as long as the mean: uneven "
        "waits for 3.00 s, steady for 0 s");
}

TEST_CASE("equal times are equal, and a record without parts gives no reason") {
  const Run a = arrived("a", 2, {1.0, 0.0, 0.0, 0.0});
  CHECK(why(a, arrived("b", 2, {1.0, 0.0, 0.0, 0.0})) == "as fast as b");
  Run bare = arrived("b", 2, {2.0, 0.0, 0.0, 0.0});
  bare.record.ranks.clear();
  CHECK(why(a, bare) == "2.0x faster than b");
}

TEST_CASE("by throughput a sample is what counts, whether or not there is a target") {
  const Run a = with_samples(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 3000);
  const Run b = with_samples(sample_run("b", 2, {1.0, 1.0, 0.0, 0.0}), 2000);
  // a: 1/3 ms a sample, b: 1 ms.  B communicates 1 s for 2000 samples, so 1.5 s for 3000.
  CHECK(why(a, b, Measure::throughput) ==
        "3.0x faster than b because b communicates for 1.50 s, a for 0 s, for as many samples");
}

TEST_CASE("the ranking has each strategy's best case, and all cases of a single strategy") {
  const auto at_workers = [](const std::string& label, std::int64_t workers, double s) {
    return at(arrived(label, workers, {s, 0.0, 0.0, 0.0}), "cluster.workers", workers);
  };
  const View two = view(
      results_of({at_workers("a", 2, 4.0), at_workers("b", 2, 3.0), at_workers("a", 8, 1.0), at_workers("b", 8, 2.0)}));
  const auto best = ranking(two, Measure::time_to_target);
  REQUIRE(best.size() == 2);
  CHECK(two.named(*best[0]) == "a at workers=8");
  CHECK(two.named(*best[1]) == "b at workers=8");
  const View one = view(results_of({at_workers("a", 2, 4.0), at_workers("a", 8, 1.0)}));
  CHECK(ranking(one, Measure::time_to_target).size() == 2);
  CHECK(best_measure(one) == Measure::time_to_target);
  CHECK(best_measure(view(results_of({sample_run("a", 2, {1, 0, 0, 0})}))) == Measure::throughput);
}
