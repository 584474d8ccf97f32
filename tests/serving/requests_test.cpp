// The requests of a run: their arrivals and lengths, drawn or read.
#include "serving/requests.h"

#include <cmath>

#include "catch.h"
#include "scratch.h"
#include "serving/summary.h"

namespace serving_requests_test {

using namespace simgrad;
using namespace simgrad::serving;

namespace {

Options drawn(Lengths lengths) {
  Options options;
  options.requests = 20000;
  options.rate_per_s = 4.0;
  options.prompt_tokens = 50;
  options.output_tokens = 8;
  options.lengths = lengths;
  return options;
}

/// Whether the mean of numbers is within four standard errors of this.
bool near(const std::vector<double>& numbers, double mean) {
  double sum = 0.0, squares = 0.0;
  for (const double each : numbers) sum += each;
  const auto n = static_cast<double>(numbers.size());
  for (const double each : numbers) squares += (each - sum / n) * (each - sum / n);
  return std::abs(sum / n - mean) <= 4.0 * std::sqrt(squares / (n - 1.0) / n);
}

}  // namespace

TEST_CASE("gaps of a Poisson process have the mean 1 / rate, and the standard deviation of an exponential") {
  const std::vector<Request> all = requests_of(drawn(Lengths::fixed), 7);
  std::vector<double> gaps, squares;
  double before = 0.0;
  for (const Request& each : all) {
    gaps.push_back(each.arrival_s - before);
    squares.push_back(gaps.back() * gaps.back());
    before = each.arrival_s;
  }
  CHECK(near(gaps, 0.25));
  CHECK(near(squares, 2.0 * 0.25 * 0.25));
}

TEST_CASE("lengths have the mean that the capacity counts with, and never more than the longest") {
  for (const Lengths lengths : {Lengths::fixed, Lengths::uniform, Lengths::geometric}) {
    const Options options = drawn(lengths);
    const Expected facts = expected(options);
    std::vector<double> prompts, outputs;
    for (const Request& each : requests_of(options, 3)) {
      prompts.push_back(static_cast<double>(each.prompt_tokens));
      outputs.push_back(static_cast<double>(each.output_tokens));
      REQUIRE((each.prompt_tokens >= 1 && each.prompt_tokens <= facts.longest_prompt));
      REQUIRE((each.output_tokens >= 1 && each.output_tokens <= facts.longest_output));
    }
    CHECK(near(prompts, facts.prompt_tokens));
    CHECK(near(outputs, facts.output_tokens));
  }
}

TEST_CASE("a request depends on the seed and its number, not on how many there are") {
  Options options = drawn(Lengths::geometric);
  const std::vector<Request> many = requests_of(options, 5);
  options.requests = 10;
  const std::vector<Request> few = requests_of(options, 5);
  for (std::size_t i = 0; i < few.size(); ++i) {
    CHECK(few[i].arrival_s == many[i].arrival_s);
    CHECK(few[i].prompt_tokens == many[i].prompt_tokens);
  }
  CHECK(requests_of(options, 6)[3].arrival_s != few[3].arrival_s);
}

TEST_CASE("a trace says arrivals and lengths, and its rate is that of its gaps") {
  const tests::Scratch scratch;
  Options options;
  options.trace = scratch.write("t.csv", "arrival_s,prompt_tokens,output_tokens\n0.5,3,4\n1.5,5,2\n\n2.5,7,1\r\n");
  const std::vector<Request> all = requests_of(options, 1);
  REQUIRE(all.size() == 3);
  CHECK(all[1].arrival_s == 1.5);
  CHECK(all[2].prompt_tokens == 7);
  const Expected facts = expected(options);
  CHECK(facts.rate_per_s == 1.0);  // two gaps in two seconds
  CHECK(facts.prompt_tokens == 5.0);
  CHECK(facts.longest == 8);
  options.requests = 2;
  CHECK(requests_of(options, 1).size() == 2);
}

TEST_CASE("quantiles lie between two numbers in proportion") {
  std::vector<double> numbers;
  for (int k = 10; k >= 0; --k) numbers.push_back(k);
  const record::Spread spread = spread_of(numbers);
  CHECK(*spread.mean == 5.0);
  CHECK(*spread.median == 5.0);
  CHECK(*spread.p95 == Approx(9.5).epsilon(1e-12));  // 0.95 x 10
  CHECK(*spread.p99 == Approx(9.9).epsilon(1e-12));
  CHECK_FALSE(spread_of({}).mean);
}

TEST_CASE("requests of the warm-up do not count, and limits are met by those within both") {
  record::Record record;
  for (int k = 0; k < 4; ++k)  // one a second; first tokens after 0.1, 0.2, 0.3, 0.4 s, then three more in 0.3 s
    record.requests.push_back({.arrival_s = 1.0 * k,
                               .start_s = 1.0 * k,
                               .first_token_s = 1.0 * k + 0.1 * (k + 1),
                               .end_s = 1.0 * k + 0.1 * (k + 1) + 0.3,
                               .prompt_tokens = 2,
                               .output_tokens = 4});
  Options options;
  options.warm_up_s = 0.5;
  options.ttft_limit_s = 0.35;
  options.tpot_limit_s = 0.2;
  summarise(record, options, {.in_window = 10, .after_warm_up = 12}, 4.5);
  CHECK(*record.serving.requests == 3);
  CHECK(*record.serving.ttft_s.mean == Approx(0.3).epsilon(1e-12));
  CHECK(*record.serving.tpot_s.mean == Approx(0.1).epsilon(1e-12));
  CHECK(*record.serving.within_limits == Approx(2.0 / 3.0).epsilon(1e-12));
  CHECK(*record.serving.output_tokens_per_s == Approx(4.0).epsilon(1e-12));  // 10 from 0.5 to 3 s
  CHECK(*record.serving.requests_per_s == Approx(0.8).epsilon(1e-12));       // the second and the third
  CHECK(*record.serving.output_tokens == 16.0);
}

TEST_CASE("rates go on to the end of the run where no answer is complete before the last arrival") {
  record::Record record;
  for (int k = 0; k < 3; ++k) record.requests.push_back({.end_s = 1.0 + k, .output_tokens = 4});
  summarise(record, {}, {.in_window = 0, .after_warm_up = 12}, 6.0);
  CHECK(*record.serving.requests_per_s == Approx(0.5).epsilon(1e-12));
  CHECK(*record.serving.output_tokens_per_s == Approx(2.0).epsilon(1e-12));
}

}  // namespace serving_requests_test
