// Links and collectives of the report.
#include "catch.h"
#include "outputs/report/charts/collectives.h"
#include "outputs/report/charts/links.h"
#include "outputs/report/charts/time.h"
#include "report_sample.h"

namespace report_links_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {

const std::string workers_key = "cluster.workers";

record::CollectiveUse use(double predicted_s, double simulated_s, double skew_s) {
  return {.name = "ring",
          .members = 8,
          .bytes = 800,
          .calls = 25,
          .predicted_s = predicted_s,
          .simulated_s = simulated_s,
          .skew_s = skew_s};
}

}  // namespace

TEST_CASE("links have the ends of their cables, and the sentence names the busiest link and how uneven the load is") {
  Run run = over(over(over(sample_run("server", 2, {1.0, 3.0, 0.0, 0.0}), "in-2", 0.9, 4'000'000), "in-0", 0.18),
                 "in-1", 0.18);
  run.record.wires = {{"in-2", "switch", "host-2"}};
  const auto chart =
      links(report_model(results_of({run, over(sample_run("ring", 2, {1.0, 0.5, 0.0, 0.0}), "in-0", 0.25)})));
  REQUIRE(chart);
  CHECK(chart->rows[0].links[0].from == "switch");
  CHECK(chart->rows[0].links[0].to == "host-2");
  CHECK_FALSE(chart->rows[0].links[1].from);
  // The mean of its three is 0.42.
  CHECK(chart->sentence ==
        "The busiest link is \"in-2\" of server: busy 90 % of the time, 4.00 MB carried, 2.1x as busy as the mean of "
        "its 3 "
        "links. In ring no link is busy for more than 25 % of the time.");
  CHECK(
      links(report_model(results_of({over(over(sample_run("ring", 2, {2.0, 1.0, 0.0, 0.0}), "a", 0.5), "b", 0.5)})))
          ->sentence ==
      "The busiest link is \"a\" of ring: busy 50 % of the time, 1.00 MB carried, as busy as the mean of its 2 links.");
  CHECK_FALSE(links(report_model(results_of({sample_run("ring", 2, {1, 0, 0, 0})}))));
}

TEST_CASE("the mean over the links is of all links, also of those that are not shown") {
  Run run = sample_run("ring", 2, {1.0, 1.0, 0.0, 0.0});
  for (int k = 0; k < 9000; ++k)
    run.record.links.push_back(
        {.link = "l" + std::to_string(k), .bytes = k == 0 ? 10 : k % 2, .utilisation = k == 0 ? 0.9 : 0.1});
  const auto chart = links(report_model(results_of({run})));
  CHECK(chart->rows[0].links.size() == most_links_in_all);
  // (0.9 + 8999 x 0.1) / 9000 = 0.10009
  CHECK(chart->sentence.find("9.0x as busy as the mean of its 9000 links") != std::string::npos);
}

TEST_CASE("links of hosts are named by their ranks, and those of a contradicting platform by their own names") {
  const auto with_traffic = [](std::int64_t bytes) {
    Run run = over(over(sample_run("server", 2, {1.0, 3.0, 0.0, 0.0}), "nic-2_UP", 0.9), "nic-0_DOWN", 0.1);
    run.record.ranks.push_back({.role = "server"});
    for (std::size_t k = 0; k < 3; ++k) {
      run.record.ranks[k].host = static_cast<std::int64_t>(k);
      run.record.ranks[k].bytes_sent = bytes;
    }
    run.record.wires = {{"nic-2_UP", "host-2", "switch-0"}, {"nic-0_DOWN", "switch-0", "host-0"}};
    return links(report_model(results_of({run})));
  };
  const auto chart = with_traffic(1'000'000);
  CHECK(chart->rows[0].links[0].text == "server 0, sending");
  CHECK(chart->rows[0].links[1].text == "rank 0, receiving");
  CHECK(chart->rows[0].hosts == std::map<std::string, std::string>{{"host-0", "rank 0"}, {"host-2", "server 0"}});
  CHECK(chart->sentence.starts_with("The busiest link is \"nic-2_UP\" (server 0, sending) of server: busy 90 %"));
  CHECK(chart->about->strategy == 0);
  // Links that carried bytes belong to no rank that sent or received any: the names mean other hosts.
  CHECK(with_traffic(0)->rows[0].links[0].text == "nic-2_UP");
  CHECK(with_traffic(0)->rows[0].hosts.empty());
}

TEST_CASE("the heat map has common edges, and a bin is spread over its intervals by time") {
  record::Record record;
  record.link_bins = {{"a", 0.0, 1.0, 10.0, 0.5}, {"a", 1.0, 2.0, 20.0, 1.0}, {"b", 0.0, 2.0, 4.0, 0.25}};
  const auto map = heat(record, 10, 10);
  REQUIRE(map);
  CHECK(map->edges_s == std::vector<double>{0.0, 1.0, 2.0});
  CHECK(map->values == std::vector<std::vector<double>>{{0.5, 1.0}, {0.25, 0.25}});
  const auto small = heat(record, 1, 1);
  CHECK(small->names == std::vector<std::string>{"a"});
  CHECK(small->values == std::vector<std::vector<double>>{{0.75}});
  CHECK_FALSE(heat(record::Record(), 10, 10));
}

TEST_CASE("edges that differ by rounding are one: no column is thin, and none is fuller than full") {
  record::Record record;
  const int bins = 30;
  for (int k = 0; k < bins; ++k) {
    const double wide = 0.1;
    record.link_bins.push_back({"a", k * wide, (k + 1) * wide, 1.0, 1.0});
    record.link_bins.push_back({"b", 3.0 * k / bins, 3.0 * (k + 1) / bins, 1.0, 0.5});  // the same, otherwise rounded
  }
  const auto map = heat(record, 10, 100);
  REQUIRE(map->edges_s.size() == bins + 1);
  for (const double full : map->values[0]) CHECK(full == Approx(1.0).epsilon(1e-9));
  for (const double half : map->values[1]) CHECK(half == Approx(0.5).epsilon(1e-9));
}

TEST_CASE("a collective's gap is explained by a known cause and by skew, in numbers") {
  const auto because = [](Causes causes) { return explained(use(1.0, 1.5, 0.0), causes); };
  Causes all = {
      .network_model = "tcp", .jitter = true, .uneven = true, .traffic = true, .shared = true, .stragglers = true};
  CHECK(because({}) == "500 ms more (50 %)");
  CHECK(because(all) ==
        "500 ms more (50 %), because of the network model \"tcp\": the prediction is for the ideal one");
  all.network_model.clear();
  CHECK(because(all) == "500 ms more (50 %), because latencies vary from message to message");
  all.jitter = false;
  CHECK(because(all) == "500 ms more (50 %), because other traffic takes part of the bandwidth");
  all.traffic = false;
  CHECK(because(all) == "500 ms more (50 %), because members have different speeds");
  all.uneven = false;
  CHECK(because(all) == "500 ms more (50 %), because messages share links");
  all.shared = false;
  CHECK(because(all) == "500 ms more (50 %)");
  CHECK(explained(use(1.0, 1.001, 0.0), all) == "as predicted");
  CHECK(explained(use(1.0, 0.75, 0.0), {}) ==
        "250 ms less (25 %): part of the work was done before the last member arrived");
  CHECK(explained(use(1.0, 1.0, 0.25), all) ==
        "as predicted; members first wait 250 ms on average for the last one, a straggler");
  CHECK_FALSE(explained(use(1.0, 1.0, 0.25), {}).ends_with("straggler"));
  CHECK(explained(use(0.0, 1.0, 0.0), {}) == "no prediction");
  record::CollectiveUse beside = use(1.0, 1.0, 0.0);
  beside.duration_s = 1.0;
  beside.exposed_s = 0.25;
  CHECK(explained(beside, {}) == "as predicted; 75 % of its time is hidden behind other work");
  beside.exposed_s = 1.0;
  CHECK(explained(beside, {}) == "as predicted");
}

TEST_CASE("the causes are the scenario's and the record's") {
  const auto of = [](const Json& cluster, const Run& run, const Json& parameters = Json::object()) {
    Results results = results_of({run});
    results.runs[0].parameters = parameters;
    results.scenario["cluster"] = cluster;
    return causes(report_model(results).cases.at(0));
  };
  Run run = over(sample_run("a", 4, {1.0, 1.0, 0.0, 0.0}), "nic-0_UP", 0.5);
  run.record.links[0].link_class = "nic";
  run.record.hosts.resize(4);
  run.record.network_model = "ideal";
  const Causes none = of({{"stragglers", "none"}, {"jitter", "none"}, {"relative_speeds", {1, 1.0}}}, run);
  CHECK(none.network_model.empty());
  CHECK_FALSE((none.jitter || none.uneven || none.traffic || none.shared || none.stragglers));
  // Latencies that vary make nobody a straggler.
  const Causes jitter = of({{"jitter", "none"}}, run, {{"cluster.jitter.kind", "log_normal"}});
  CHECK((jitter.jitter && !jitter.stragglers && !jitter.uneven));
  CHECK(of({{"stragglers", {{"kind", "bimodal"}}}}, run).stragglers);
  CHECK(of({{"relative_speeds", {1, 0.5}}}, run).uneven);
  run.record.network_model = "tcp";
  run.record.links[0].link_class = "rack";
  CHECK(of(Json::object(), run).network_model == "tcp");
  CHECK(of(Json::object(), run).shared);
}

TEST_CASE("the collectives' sentence names the largest gap, or says that there is none") {
  const auto with = [](const std::string& label, record::CollectiveUse each) {
    Run run = sample_run(label, 8, {1, 0, 0, 0});
    run.record.hosts.resize(8);
    run.record.collectives = {std::move(each)};
    return run;
  };
  const auto sentence = [](const std::vector<Run>& runs) {
    return collectives(report_model(results_of(runs)))->sentence;
  };
  CHECK(sentence({with("a", use(1.0, 1.0, 1e-12))}) ==
        "ring of a (8 members, 800 B) takes as long as the model predicts: 1.00 s.");
  CHECK(sentence({with("a", use(1.0, 1.0, 0.0)), with("b", use(2.0, 2.0, 0.5))}) ==
        "Both take as long as the model predicts, within 0.5 %. Members wait longest in b: 500 ms on average for the "
        "last "
        "one.");
  CHECK(sentence({with("a", use(1.0, 1.0, 0.0)), with("b", use(2.0, 3.0, 0.0))}) ==
        "ring of b (8 members, 800 B) takes 3.00 s instead of the predicted 2.00 s: 1.00 s more (50 %). As predicted: "
        "1 of 2 collectives.");
  CHECK_FALSE(collectives(report_model(results_of({sample_run("a", 8, {1, 0, 0, 0})}))));
}

TEST_CASE("charts of times and of collectives tell which cases their sentences are about") {
  const auto with = [](const char* label, std::int64_t workers, double talk_s) {
    return at(sample_run(label, workers, {1.0, talk_s, 0.0, 0.0}), workers_key, workers);
  };
  Run late = with("ring", 8, 2.0), early = with("ring", 2, 0.5);
  late.record.collectives.push_back(use(2.0, 2.0, 0.3));
  early.record.collectives.push_back(use(2.0, 2.0, 0.1));
  const Results results = results_of({with("tree", 2, 0.1), early, with("tree", 8, 1.0), late});
  const ReportModel model = report_model(results);
  const auto times = report::time(model);
  CHECK(times->sentence.starts_with("tree with 2 workers computes"));
  CHECK(model.strategies[times->about->strategy].label == "ring");
  CHECK(model.points[times->about->point].workers == 8);
  REQUIRE(times->other);
  CHECK(model.strategies[times->other->strategy].label == "tree");
  CHECK(model.points[times->other->point].workers == 2);
  const auto calls = collectives(model);
  CHECK(calls->sentence.find("longest in ring with 8 workers") != std::string::npos);
  CHECK(model.points[calls->about->point].workers == 8);
  const Results alike =
      results_of({sample_run("a", 2, {1.0, 1.0, 0.0, 0.0}), sample_run("b", 2, {1.0, 3.0, 0.0, 0.0})});
  CHECK_FALSE(report::time(report_model(alike))->other);
}

}  // namespace report_links_test
