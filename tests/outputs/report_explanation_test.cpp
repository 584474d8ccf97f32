// The bottleneck of a case, and the reason why one case is ahead of another: each with its numbers.
#include "catch.h"
#include "outputs/report/sentences/ranking.h"
#include "report_sample.h"

namespace report_explanation_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

std::string limit_of(const Run& run) { return limit_text(report_model(results_of({run})).cases.at(0)); }

/// Why the first is ahead of the second.
std::string why(const Run& a, const Run& b, Measure measure = Measure::time_to_target) {
  const Results results = results_of({a, b});
  const ReportModel seen = report_model(results);
  return ahead(seen, seen.cases.at(0), seen.cases.at(1), measure);
}

Run arrived(const std::string& label, std::int64_t workers, std::array<double, 4> parts_s,
            std::int64_t samples = 1000) {
  return with_samples(reached(sample_run(label, workers, parts_s), 0.01, 10.0), samples);
}

}  // namespace

TEST_CASE("computing is the bottleneck of a case that computes most of the time") {
  CHECK(limit_of(sample_run("a", 4, {3.0, 0.75, 0.25, 0.0})) == "computing takes 75 % of the time");
}

TEST_CASE("reading and writing a storage has its own name, and waiting its main cause") {
  Run run = sample_run("a", 2, {1.0, 6.0, 1.0, 0.0});
  for (auto& rank : run.record.ranks) {
    rank.parts[record::TimePart::compute_gradient] = 1.0;
    rank.parts[record::TimePart::communicate_storage] = 4.0;
    rank.parts[record::TimePart::communicate_transfer] = 2.0;
    rank.parts[record::TimePart::wait_server] = 1.0;
  }
  CHECK(limit_of(run) == "reading and writing a storage takes 50 % of the time");
  CHECK(table(results_of({run}), {.width = 120}).find("75% communicating, mostly with a storage") != std::string::npos);
  const auto alone = [&](record::TimePart part, double other_s) {
    Run changed = run;
    for (auto& rank : changed.record.ranks) {
      rank.parts[record::TimePart::communicate_storage] = other_s;
      rank.parts[part] += 4.0 - other_s;
    }
    return limit_of(changed);
  };
  using enum record::TimePart;
  CHECK(alone(communicate_input, 0.0) == "reading the training data takes 50 % of the time");
  CHECK(alone(communicate_checkpoint, 0.0) == "writing and reading checkpoints takes 50 % of the time");
  CHECK(alone(communicate_input, 1.0) == "reading and writing a storage takes 50 % of the time");
  Run waits = sample_run("a", 2, {1.0, 0.0, 3.0, 0.0});
  for (auto& rank : waits.record.ranks) {
    rank.parts[record::TimePart::compute_gradient] = 1.0;
    rank.parts[record::TimePart::wait_server] = 2.0;
    rank.parts[record::TimePart::wait_transfer] = 1.0;
  }
  CHECK(limit_of(waits) == "waiting takes 75 % of the time, mostly waiting for a server's processor");
  Run sums = sample_run("a", 2, {1.0, 0.0, 0.0, 0.0});
  for (auto& rank : sums.record.ranks) rank.parts[record::TimePart::compute_reduction] = 1.0;
  CHECK(limit_of(sums) == "computing takes 100 % of the time, mostly sums");
}

TEST_CASE("a link that is busy for half of the time of communicating and waiting is the bottleneck") {
  // 3 of 4 s are communication and waiting; a link is the bottleneck if it is busy for half of that, 1.5 s.
  const auto of = [](double utilisation, double communicate_s = 3.0) {
    return limit(report_model(results_of({over(sample_run("a", 4, {1.0, communicate_s, 3.0 - communicate_s, 0.0}),
                                               "up-8", utilisation)}))
                     .cases.at(0));
  };
  CHECK(of(0.97) == Limit::link);
  CHECK(of(0.375) == Limit::link);
  CHECK(of(0.375, 1.0) == Limit::link);
  CHECK(of(0.37) == Limit::messages);
  CHECK(of(0.37, 1.0) == Limit::waiting);
  CHECK(of(0.076) == Limit::messages);
  CHECK(of(0.074) == Limit::latency);
  CHECK(limit_of(over(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0}), "up-8", 0.97)) ==
        "communicating takes 75 % of the time, and the link \"up-8\" is busy 97 % of the time");
  Run shared = over(sample_run("a", 4, {1.0, 1.0, 2.0, 0.0}), "wan", 0.5);
  shared.record.links[0].background_bytes = 5;
  CHECK(limit_of(shared).ends_with("which also carries other traffic, is busy 50 % of the time"));
}

namespace {

/// Four workers and a server, each on its own link; bytes as the ranks sent and received them.
Run with_server(double up, double down, double others, std::array<double, 4> parts_s) {
  Run run = sent(sample_run("server", 4, parts_s), 1000, 800);
  for (std::size_t k = 0; k < 4; ++k) {
    run.record.ranks[k].host = static_cast<std::int64_t>(k);
    run.record.ranks[k].bytes_sent = run.record.ranks[k].bytes_received = 25;
    run = over(over(run, "nic-" + std::to_string(k) + "_UP", others, 25), "nic-" + std::to_string(k) + "_DOWN", others,
               25);
  }
  run.record.ranks.push_back({.role = "server", .bytes_sent = 100, .bytes_received = 100, .host = 4});
  return over(over(run, "nic-4_UP", up, 100), "nic-4_DOWN", down, 100);
}

bool says(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("a synchronous server that is bound by bandwidth is never said to be bound by latency") {
  // It receives, then answers: no direction can be busy for more than half of the time.
  for (const double compute : {0.05, 0.2, 0.4, 0.8})
    for (const double filled : {0.51, 0.75, 1.0}) {
      const double each = 0.5 * filled * (1.0 - compute);
      const Run run = with_server(each, each, 0.25 * each, {compute, 1.0 - compute, 0.0, 0.0});
      const Results results = results_of({run});
      const ReportModel seen = report_model(results);
      const Case& one = seen.cases.at(0);
      CHECK(overhead(one) == Limit::link);
      CHECK(says(overhead_text(one), "the server's link \"nic-4\" is busy "));
      CHECK_FALSE(says(overhead_text(one), "latency"));
    }
  CHECK(limit_of(with_server(0.44, 0.45, 0.1, {1.0, 9.0, 0.0, 0.0})) ==
        "communicating takes 90 % of the time, and the server's link \"nic-4\" is busy 89 % of the time, 44 % in one "
        "direction and 45 % in the other");
}

TEST_CASE("directions that work at the same time are not added") {
  const Run even = over(over(sample_run("ring", 4, {1.0, 9.0, 0.0, 0.0}), "nic-0_UP", 0.3), "nic-0_DOWN", 0.3);
  CHECK(limit(report_model(results_of({even})).cases.at(0)) == Limit::messages);
  // A stale server receives while it answers.
  Run stale = with_server(0.4, 0.41, 0.1, {1.0, 9.0, 0.0, 0.0});
  stale.record.staleness_mean = 3.0;
  CHECK(limit_of(stale) == "communicating takes 90 % of the time");
  for (auto& link : stale.record.links) link.utilisation *= 2.0;
  CHECK(limit_of(stale).ends_with("the server's link \"nic-4\" is busy 82 % of the time"));
}

TEST_CASE("a link belongs to the host whose ranks sent its bytes, and to none if no host fits") {
  Run run = with_server(0.1, 0.1, 0.5, {1.0, 1.0, 0.0, 0.0});
  CHECK(report_model(results_of({run})).cases.at(0).duplex_link->owner == "a worker's");
  run = with_server(0.5, 0.5, 0.1, {1.0, 1.0, 0.0, 0.0});
  CHECK(report_model(results_of({run})).cases.at(0).duplex_link->owner == "the server's");
  run.record.ranks.push_back({.role = "server", .bytes_sent = 100, .bytes_received = 100, .host = 5});
  CHECK(report_model(results_of({run})).cases.at(0).duplex_link->owner == "a server's");
  run.record.links.back().link_class = "rack";
  CHECK(report_model(results_of({run})).cases.at(0).duplex_link->owner.empty());
  run.record.links.back().link_class = "nic";
  run.record.links.back().bytes += 1;
  CHECK(report_model(results_of({run})).cases.at(0).duplex_link->owner.empty());
}

TEST_CASE("links that other jobs also use are named as such") {
  Results results = results_of({over(sent(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0}), 1000, 1400), "rack-0", 0.05)});
  results.scenario["job"] = Json::array();
  CHECK(limit_text(report_model(results).cases.at(0)) ==
        "communicating takes 75 % of the time, on links that other jobs also use");
  results.runs[0].record.links[0].utilisation = 0.6;
  CHECK(limit_text(report_model(results).cases.at(0)).ends_with("is busy 60 % of the time, other jobs not counted"));
}

TEST_CASE("where all links are idle, latency is the bottleneck of communication") {
  const Run run = over(sent(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0}), 1000, 1400), "up-0", 0.05);
  CHECK(limit_of(run) ==
        "communicating takes 75 % of the time, although no link is busy for more than 5 % of the time; a step has 14 "
        "messages");
  CHECK(limit_of(over(run, "up-1", 0.0000001)).find("under") == std::string::npos);
  CHECK(limit_of(sample_run("a", 4, {1.0, 3.0, 0.0, 0.0})) == "communicating takes 75 % of the time");
}

TEST_CASE("waiting is for the slowest worker only where its excess covers half of it") {
  // One worker computes 1 + e, three 1: a mean of 1 + e / 4, so the excess is 3 e / 4, of a wait of 3 s.
  const auto of = [](double e) {
    Run run = sample_run("a", 4, {1.0, 0.0, 3.0, 0.0});
    run.record.ranks[0].compute_s += e;
    return limit(report_model(results_of({run})).cases.at(0));
  };
  for (const double e : {0.0, 0.3, 1.0, 1.9}) CHECK(of(e) == Limit::waiting);
  for (const double e : {2.1, 4.0, 7.9}) CHECK(of(e) == Limit::slowest);
  CHECK(limit_of(sample_run("a", 2, {1.0, 0.0, 3.0, 0.0})) == "waiting takes 75 % of the time");
  Run run = sample_run("a", 2, {1.0, 0.0, 3.0, 0.0});
  run.record.ranks[1] = {.role = "worker", .compute_s = 7.0, .communicate_s = 0.0, .wait_s = 9.0};
  CHECK(limit_of(run) == "waiting takes 60 % of the time: the slowest worker computes 1.8x as long as the mean");
}

TEST_CASE("waiting for stragglers, for the last member of a collective, and for its turn") {
  Run run = sample_run("a", 2, {1.0, 0.0, 3.0, 0.0});
  const auto found = [&](const Json& cluster) {
    Results results = results_of({run});
    results.scenario["cluster"] = cluster;
    return limit_text(report_model(results).cases.at(0));
  };
  CHECK(found({{"stragglers", {{"kind", "bimodal"}}}}) ==
        "waiting takes 75 % of the time; the scenario has stragglers");
  CHECK(found({{"stragglers", "none"}, {"sharing", "gang"}}) == "waiting takes 75 % of the time");
  run.record.collectives = {{.name = "ring", .members = 2, .calls = 10, .skew_s = 0.14}};
  CHECK(found({{"stragglers", "none"}}) == "waiting takes 75 % of the time");
  run.record.collectives[0].skew_s = 0.16;
  CHECK(found({{"stragglers", "none"}}) ==
        "waiting takes 75 % of the time: the last member of a collective arrives 160 ms after the mean");
  Results jobs = results_of({run});
  jobs.scenario = {{"job", Json::array()}, {"cluster", {{"sharing", "processor"}}}};
  jobs.runs[0].parameters["cluster.sharing"] = "gang";
  CHECK(limit(report_model(jobs).cases.at(0)) == Limit::turns);
}

TEST_CASE("being down is the bottleneck of a case that is down most of the time") {
  Run run = sample_run("a", 2, {1.0, 0.0, 0.0, 3.0});
  run.record.crashes = 2;
  CHECK(limit_of(run) == "being down after 2 crashes takes 75 % of the time");
}

TEST_CASE("crashes, lost work and checkpoints are named where they take the time") {
  Run run = sample_run("a", 2, {4.0, 1.0, 5.0, 0.0});
  run.record.crashes = 32;
  run.record.recovery_s = 5.0;
  run.record.lost_s = 2.0;
  run.record.checkpoint_s = 1.0;
  CHECK(limit_of(run) ==
        "recovering from 32 crashes (until all ranks work again) takes 50 % of the time, repeating lost work 20 % and "
        "writing checkpoints 10 %");
  // Half of the 6 s that are not computing, and of those done again, is what faults have to make up.
  run.record.recovery_s = run.record.lost_s = 0.0;
  run.record.checkpoint_s = 2.9;
  CHECK(overhead(report_model(results_of({run})).cases.at(0)) != Limit::faults);
  run.record.checkpoint_s = 3.1;
  CHECK(overhead(report_model(results_of({run})).cases.at(0)) == Limit::faults);
}

TEST_CASE("a number of crashes that is a mean over the seeds is called one") {
  const auto text = [](std::int64_t first, std::int64_t second) {
    Run run = sample_run("a", 2, {4.0, 1.0, 5.0, 0.0});
    run.record.recovery_s = 5.0;
    Run other = with_seed(run, 2);
    run.record.crashes = first;
    other.record.crashes = second;
    return limit_text(report_model(results_of({run, other})).cases.at(0));
  };
  // (1 + 2) / 2 and (0 + 2) / 2 crashes.
  CHECK(text(1, 2) == "recovering from 1.5 crashes on average (until all ranks work again) takes 50 % of the time");
  CHECK(text(0, 2) == "recovering from 1 crash on average (until all ranks work again) takes 50 % of the time");
}

TEST_CASE("a run without recorded time has no bottleneck") {
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
  CHECK(says(why(ring, over(arrived("server", 4, {1.0, 3.2, 0.0, 0.0}), "in-4", 0.2)), "ring for 1.00 s"));
  CHECK_FALSE(says(why(ring, over(arrived("server", 4, {1.0, 3.2, 0.0, 0.0}), "in-4", 0.2)), "latency"));
  CHECK(why(ring, idle) == "2.1x faster than server because server communicates for 3.20 s, ring for 1.00 s");
}

TEST_CASE("ahead by samples: staleness and disagreement cost steps") {
  const Run sync = arrived("sync", 4, {1.0, 1.0, 0.0, 0.0}, 1000);
  Run stale = arrived("async", 4, {3.0, 1.0, 0.0, 0.0}, 3000);
  CHECK(why(sync, stale) == "2.0x faster than async because it needs 3.0x fewer samples to reach the target");
  stale.record.staleness_mean = 6.86;
  CHECK(why(sync, stale) ==
        "2.0x faster than async because it needs 3.0x fewer samples to reach the target: the gradients of async "
        "are 6.86 updates old on average");
  Run apart = with_losses(arrived("gossip", 4, {3.0, 1.0, 0.0, 0.0}, 3000), {1.0});
  apart.record.curve[0].consensus_distance = 0.25;
  apart.record.spectral_gap = 0.195;
  CHECK(why(sync, apart) ==
        "2.0x faster than gossip because it needs 3.0x fewer samples to reach the target: the replicas of gossip "
        "disagree "
        "(distance 0.25 from their mean at the end, spectral gap 0.195)");
}

TEST_CASE("ahead although more samples are needed") {
  const Run async = arrived("async", 4, {1.0, 0.0, 0.0, 0.0}, 2000);
  const Run sync = arrived("sync", 4, {0.5, 0.0, 1.5, 0.0}, 1000);
  // A sample costs async 0.5 ms and sync 2 ms, of which 1.5 ms are waited. Of async's samples, half are further ones,
  // which would cost 1 ms each of all of its samples at sync's time: the wait alone is more.
  CHECK(
      why(async, sync) ==
      "2.0x faster than sync because per sample async waits less (0 s against 1.50 ms), which outweighs that it needs "
      "2.0x as many samples");
}

TEST_CASE("ahead by more workers, which share the computing") {
  CHECK(why(arrived("ring", 8, {1.0, 0.0, 0.0, 0.0}), arrived("ring of two", 2, {4.0, 0.0, 0.0, 0.0})) ==
        "4.0x faster than ring of two because 8 workers share the work of 2: ring of two computes for 4.00 "
        "s, ring for 1.00 s");
}

TEST_CASE("ahead of a case that is down or waits for its slowest worker") {
  const Run steady = arrived("steady", 2, {1.0, 0.0, 0.0, 0.0});
  CHECK(why(steady, arrived("spot", 2, {1.0, 0.0, 0.0, 3.0})) ==
        "4.0x faster than spot because in spot being down takes 75 % of the time: spot is down for 3.00 s, steady for "
        "0 s");
  Run uneven = arrived("uneven", 2, {1.0, 0.0, 0.5, 0.0});
  uneven.record.ranks[0] = {.role = "worker", .compute_s = 0.5, .communicate_s = 0.0, .wait_s = 1.0};
  uneven.record.ranks[1] = {.role = "worker", .compute_s = 1.5, .communicate_s = 0.0, .wait_s = 0.0};
  CHECK(why(steady, uneven) ==
        "1.5x faster than uneven because the slowest worker of uneven computes 1.5x as long as the mean: uneven "
        "waits for 500 ms, steady for 0 s");
}

TEST_CASE("a fact is no reason where both have as much of it") {
  const auto recovered = [](Run run) {
    run.record.crashes = 1;
    run.record.recovery_s = 1.2;
    return run;
  };
  const Run a = recovered(arrived("a", 2, {1.0, 0.0, 1.2, 0.0}));
  CHECK(why(a, recovered(arrived("b", 2, {1.0, 0.3, 1.2, 0.0}))) ==
        "14 % faster than b because b communicates for 300 ms, a for 0 s");
  // A link is as busy in both, and the slowest workers are alike.
  const Run busy = over(arrived("a", 4, {1.0, 3.0, 0.0, 0.0}), "in-4", 0.9);
  CHECK_FALSE(says(why(busy, over(arrived("b", 4, {1.0, 4.0, 0.0, 0.0}), "in-4", 0.94)), "busy"));
  CHECK(says(why(busy, over(arrived("b", 4, {1.0, 4.0, 0.0, 0.0}), "in-4", 1.0)), "busy 100 %"));
}

TEST_CASE("equal times are equal, and a record without parts gives no reason") {
  const Run a = arrived("a", 2, {1.0, 0.0, 0.0, 0.0});
  CHECK(why(a, arrived("b", 2, {1.0, 0.0, 0.0, 0.0})) == "as fast as b");
  Run bare = arrived("b", 2, {2.0, 0.0, 0.0, 0.0});
  bare.record.ranks.clear();
  CHECK(why(a, bare) == "2.0x faster than b");
}

TEST_CASE("seconds are those of the runs unless they are said to be per sample") {
  // 0.3 % more samples: too few to be said, so that the seconds are not scaled.
  const Run a = with_samples(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 1'000'000);
  const Run b = with_samples(sample_run("b", 2, {1.0, 50.0, 0.0, 0.0}), 997'000);
  CHECK(why(a, b, Measure::throughput).ends_with("because b communicates for 50.0 s, a for 0 s"));
}

TEST_CASE("by throughput the time per sample counts, with and without a target") {
  const Run a = with_samples(sample_run("a", 2, {1.0, 0.0, 0.0, 0.0}), 3000);
  const Run b = with_samples(sample_run("b", 2, {1.0, 1.0, 0.0, 0.0}), 2000);
  // a: 1/3 ms a sample, b: 1 ms.  B communicates 1 s for 2000 samples, so 1.5 s for 3000.
  CHECK(why(a, b, Measure::throughput) == "3.0x faster than b because per sample b communicates for 500 µs, a for 0 s");
}

TEST_CASE("more samples are outweighed by one activity only if that alone makes up for them") {
  // A takes 1.10 ms a sample and needs 1100 samples, B takes 2 ms and needs 1000: 100 further samples at 2 ms are 0.2
  // s.
  const Run b = arrived("b", 4, {0.5, 1.0, 0.5, 0.0}, 1000);
  // Communication saves 1100 x 0.7 ms = 0.77 s.
  CHECK(why(arrived("a", 4, {0.55, 0.33, 0.33, 0.0}, 1100), b) ==
        "1.7x faster than b because per sample a communicates less (300 µs against 1.00 ms), which outweighs its 10 % "
        "more samples");
  // Each of three activities saves 0.1 ms a sample, 0.11 s: only all of them save more than 0.2 s.
  CHECK(
      why(arrived("a", 4, {0.44, 0.99, 0.44, 0.0}, 1100), b) ==
      "7 % faster than b because per sample a takes less time (1.70 ms against 2.00 ms), which outweighs its 10 % more "
      "samples");
}

TEST_CASE("the ranking has each strategy's best case, and all cases of a single strategy") {
  const auto at_workers = [](const std::string& label, std::int64_t workers, double s) {
    return at(arrived(label, workers, {s, 0.0, 0.0, 0.0}), "cluster.workers", workers);
  };
  const ReportModel two = report_model(
      results_of({at_workers("a", 2, 4.0), at_workers("b", 2, 3.0), at_workers("a", 8, 1.0), at_workers("b", 8, 2.0)}));
  const auto best = ranking(two, Measure::time_to_target);
  REQUIRE(best.size() == 2);
  CHECK(two.named(*best[0]) == "a with 8 workers");
  CHECK(two.named(*best[1]) == "b with 8 workers");
  const ReportModel one = report_model(results_of({at_workers("a", 2, 4.0), at_workers("a", 8, 1.0)}));
  CHECK(ranking(one, Measure::time_to_target).size() == 2);
  CHECK(best_measure(one) == Measure::time_to_target);
  CHECK(best_measure(report_model(results_of({sample_run("a", 2, {1, 0, 0, 0})}))) == Measure::throughput);
}

}  // namespace report_explanation_test
