// Runs that answer requests: their columns, their sentences, their rows and their chart.
#include "catch.h"
#include "outputs/report/charts/answers.h"
#include "outputs/result_tables.h"
#include "report_sample.h"

namespace served_requests_test {

using namespace simgrad;
using namespace simgrad::outputs;
using simgrad::outputs::report::answers;

namespace {

/// 101 requests, of which request k has its first token k ms after its arrival and a token each 2 ms.
Run served(const std::string& label, double factor) {
  Run run = sample_run(label, 4, {0.5, 0.2, 0.3, 0.0});
  run.record.samples = 0;
  run.record.curve.clear();
  run.record.final_loss.reset();
  for (int k = 0; k <= 100; ++k)
    run.record.requests.push_back({.arrival_s = 0.1 * k,
                                   .start_s = 0.1 * k,
                                   .first_token_s = 0.1 * k + 0.001 * factor * k,
                                   .end_s = 0.1 * k + 0.001 * factor * k + 0.018,
                                   .prompt_tokens = 5,
                                   .output_tokens = 10});
  record::Serving& serving = run.record.serving;
  serving.ttft_s = {.mean = 0.05 * factor, .median = 0.05 * factor, .p95 = 0.095 * factor, .p99 = 0.099 * factor};
  serving.tpot_s = {.mean = 0.002, .median = 0.002, .p95 = 0.002, .p99 = 0.002};
  serving.requests = 101;
  serving.output_tokens_per_s = 97.5;
  serving.dollars_per_million_tokens = 3.0 / factor;
  return run;
}

}  // namespace

TEST_CASE("the table tells the times of tokens, tokens a second and dollars of runs that answer") {
  const std::string text = table(results_of({served("a", 1.0), served("b", 2.0)}), {.width = 120});
  INFO(text);
  for (const char* cell :
       {"first token", "each token", "50.0 ms", "100 ms", "99.0 ms", "198 ms", "2.00 ms", "$3", "$1.5", " 97.5 "})
    CHECK(text.find(cell) != std::string::npos);
  CHECK(text.find("Shortest median time to the first token: a, 50.0 ms") != std::string::npos);
  CHECK(text.find("Cheapest: b") != std::string::npos);
  CHECK(text.find("steps done") == std::string::npos);
  CHECK(text.find("No run processed") == std::string::npos);
}

TEST_CASE("prices of a million tokens that chance may have set apart are equal") {
  const std::string text = table(results_of({served("a", 1.0), served("b", 1.04), served("c", 0.9)}), {.width = 120});
  INFO(text);
  CHECK(text.find("Cheapest, within 5 % of each other: a and b, from $2.88 for a million") != std::string::npos);
}

TEST_CASE("requests.csv has a row a request, and is there only where requests were answered") {
  const Results results = results_of({served("a", 1.0)});
  const std::vector<ResultTable> tables = result_tables(results);
  const auto found = std::ranges::find(tables, "requests", &ResultTable::name);
  REQUIRE(found != tables.end());
  std::size_t rows = 0;
  found->each_row([&](const ResultRow&) { ++rows; });
  CHECK(rows == 101);
  const Results trained = results_of({sample_run("a", 4, {1.0, 0.0, 0.0, 0.0})});
  CHECK(std::ranges::none_of(result_tables(trained), [](const ResultTable& each) { return each.name == "requests"; }));
}

TEST_CASE("requests are read back as they were written") {
  const Run run = served("a", 1.0);
  const Run again = run_from_json(to_json(run));
  REQUIRE(again.record.requests.size() == 101);
  CHECK(again.record.requests[7].first_token_s == run.record.requests[7].first_token_s);
  CHECK(again.record.serving.ttft_s.p99 == run.record.serving.ttft_s.p99);
}

TEST_CASE("the chart has the shares of requests, and names the shortest and the longest tail") {
  const Results results = results_of({served("a", 1.0), served("b", 2.0)});
  const auto chart = answers(report::report_model(results));
  REQUIRE(chart);
  REQUIRE(chart->rows.size() == 2);
  REQUIRE(chart->rows[0].ttft_s.size() == 51);
  CHECK(chart->rows[0].ttft_s[25] == Approx(0.050).epsilon(1e-9));  // half of 100 requests behind the first
  CHECK(chart->rows[1].latency_s[50] == Approx(0.218).epsilon(1e-9));
  CHECK(chart->rows[0].tpot_s[10] == Approx(0.002).epsilon(1e-9));
  CHECK(chart->sentence ==
        "99 % of the requests have their first token within 99.0 ms with a, and within 198 ms with b.");
  CHECK_FALSE(answers(report::report_model(results_of({sample_run("a", 4, {1.0, 0.0, 0.0, 0.0})}))));
}

}  // namespace served_requests_test
