// The report's statistics, decimation and JSON.
#include <cmath>
#include <limits>
#include <numeric>

#include "catch.h"
#include "outputs/report/data/decimation.h"
#include "outputs/report/data/phrases.h"
#include "outputs/report/data/writer.h"
#include "outputs/statistics.h"
#include "outputs/text/text_layout.h"

namespace report_numbers_test {

using namespace simgrad::outputs;
using namespace simgrad::outputs::report;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;
}  // namespace

TEST_CASE("Student's t is that of its closed forms") {
  // One degree of freedom is Cauchy's distribution: P(|T| <= t) = 2/pi atan t.
  CHECK(student_t95(1) == Approx(std::tan(0.95 * pi / 2.0)).epsilon(1e-9));
  // Two: P(|T| <= t) = t / sqrt(2 + t^2).
  CHECK(student_t95(2) == Approx(0.95 * std::sqrt(2.0 / (1.0 - 0.95 * 0.95))).epsilon(1e-9));
  // More: the tables of any textbook, to their three decimals.
  CHECK(std::abs(student_t95(3) - 3.182) < 5e-4);
  CHECK(std::abs(student_t95(4) - 2.776) < 5e-4);
  CHECK(std::abs(student_t95(9) - 2.262) < 5e-4);
  CHECK(std::abs(student_t95(30) - 2.042) < 5e-4);
  CHECK(std::abs(student_t95(100'000) - 1.960) < 5e-4);
}

TEST_CASE("Student's t is known at any confidence") {
  for (const double c : {0.05, 0.5, 0.9, 0.98, 0.999998}) {
    CHECK(student_t(1, c) == Approx(std::tan(c * pi / 2.0)).epsilon(1e-9));
    CHECK(student_t(2, c) == Approx(c * std::sqrt(2.0 / (1.0 - c * c))).epsilon(1e-9));
  }
  CHECK(std::abs(student_t(4, 0.9) - 2.132) < 5e-4);   // the one-sided 95 % of any textbook
  CHECK(std::abs(student_t(9, 0.98) - 2.821) < 5e-4);  // 99 %
}

TEST_CASE("the sign test adds the upper terms of the binomial distribution") {
  CHECK(sign_test(5, 5) == Approx(1.0 / 32.0).epsilon(1e-12));
  CHECK(sign_test(4, 5) == Approx((5.0 + 1.0) / 32.0).epsilon(1e-12));
  CHECK(sign_test(0, 5) == Approx(1.0).epsilon(1e-12));
  CHECK(sign_test(2000, 2000) < 1e-300);
}

TEST_CASE("the interval of a mean is t s / sqrt(n) to each side") {
  const double numbers[] = {1.0, 2.0, 6.0};
  const Interval band = interval(numbers);
  // mean 3, s^2 = (4 + 1 + 9) / 2 = 7.
  CHECK(band.mean == 3.0);
  const double half = student_t95(2) * std::sqrt(7.0 / 3.0);
  CHECK(band.low == Approx(3.0 - half).epsilon(1e-9));
  CHECK(band.high == Approx(3.0 + half).epsilon(1e-9));
}

TEST_CASE("one number has a mean and no interval, and a number that is not finite leaves neither") {
  const double one[] = {0.1};
  CHECK(interval(one).mean == 0.1);
  CHECK(std::isnan(interval(one).low));
  const double broken[] = {1.0, infinity};
  CHECK(std::isnan(interval(broken).mean));
  CHECK(std::isnan(interval(broken).high));
}

TEST_CASE("the interval of a share lies within 0 and 1, and is symmetric about its odds") {
  // A half of all, with residuals of -1 and 1: the standard error is 1 / 10. To the first order the odds, 1, lie
  // between the same factor above and below, whose logarithm is t 0.1 / (0.5 0.5).
  const std::vector<double> useful{4.0, 6.0}, all{10.0, 10.0};
  const double factor = std::exp(4.0 * 0.1 * std::tan(0.95 * pi / 2.0));
  const Interval half = share_of_means(useful, all);
  CHECK(half.mean == 0.5);
  CHECK(half.low / (1.0 - half.low) == Approx(1.0 / factor).epsilon(1e-9));
  CHECK(half.high / (1.0 - half.high) == Approx(factor).epsilon(1e-9));
  // Where little is uncertain, it is the interval of the ratio; a share that no pair deviates from has none.
  const std::vector<double> near{90.0001, 89.9999}, hundred{100.0, 100.0};
  const Interval straight = ratio_of_means(near, hundred), within = share_of_means(near, hundred);
  CHECK(within.low == Approx(straight.low).epsilon(1e-9));
  CHECK(within.high == Approx(straight.high).epsilon(1e-9));
  for (const double share : {0.0, 1.0}) {
    const std::vector<double> equal{share * 3.0, share * 5.0}, of{3.0, 5.0};
    const Interval none = share_of_means(equal, of);
    CHECK((none.mean == share && none.low == share && none.high == share));
  }
  CHECK(std::isnan(share_of_means(std::vector{1.0}, std::vector{2.0}).low));
}

TEST_CASE("Amdahl's serial share is found where the law holds, and needs two sizes") {
  const double workers[] = {1.0, 2.0, 8.0};
  const double share = 0.125;
  double speedups[3];
  for (int i = 0; i < 3; ++i) speedups[i] = amdahl_speedup(share, workers[i]);
  CHECK(speedups[2] == Approx(1.0 / (0.125 + 0.875 / 8.0)).epsilon(1e-12));
  CHECK(amdahl_serial_share(workers, speedups) == Approx(share).epsilon(1e-9));
  CHECK(std::isnan(amdahl_serial_share(std::span(workers, 1), std::span(speedups, 1))));
  const double superlinear[] = {1.0, 3.0, 20.0};
  CHECK(amdahl_serial_share(workers, superlinear) == 0.0);
  const double none[] = {0.0, 0.0, infinity};
  CHECK(std::isnan(amdahl_serial_share(workers, none)));
}

TEST_CASE("a decimated curve keeps its ends and its peaks, and is short") {
  std::vector<double> loss(100'000);
  for (std::size_t i = 0; i < loss.size(); ++i) loss[i] = 1.0 / static_cast<double>(i + 1);
  loss[54'321] = 7.0;
  loss[77'777] = -3.0;
  const std::vector<std::vector<double>> columns = {loss};
  const auto kept = decimated(columns, 2000);
  CHECK(kept.size() <= 2000);
  CHECK(kept.size() > 1000);
  CHECK(kept.front() == 0);
  CHECK(kept.back() == loss.size() - 1);
  CHECK(std::ranges::is_sorted(kept));
  CHECK(std::ranges::count(kept, 54'321U) == 1);
  CHECK(std::ranges::count(kept, 77'777U) == 1);
}

TEST_CASE("decimation keeps the peaks of every column, and all points where they fit") {
  std::vector<double> loss(1000, 1.0);
  std::vector<double> metric(1000, 0.5);
  loss[123] = std::nan("");
  metric[456] = 0.9;
  const std::vector<std::vector<double>> columns = {loss, metric};
  const auto kept = decimated(columns, 100);
  CHECK(kept.size() <= 100);
  CHECK(std::ranges::count(kept, 456U) == 1);
  CHECK(decimated(columns, 1000).size() == 1000);
  CHECK(decimated(std::vector<std::vector<double>>{{}}, 10).empty());
}

TEST_CASE("the writer's text is JSON that is safe within a script element") {
  Writer writer;
  writer.begin_object();
  writer.member("label", "</script><script>\"\\\n\x01");
  writer.member("lines", "a\u2028b\u2029c");
  writer.member("broken", std::string("x\xff\xc3y"));
  writer.member("wide", "loss \u2264 0.02, \U0001F600");
  writer.member("numbers", std::vector<double>{0.1, -2.0, infinity, std::nan("")});
  writer.member("nothing", std::optional<double>());
  writer.member("flag", true);
  writer.rounded_member("rounded", {1.0 / 3.0, 1e-300, 123456789012.0});
  writer.rounded_or_null("none", {});
  writer.end_object();
  CHECK(writer.take() ==
        "{\"label\":\"\\u003c/script>\\u003cscript>\\\"\\\\\\u000a\\u0001\",\"lines\":\"a\\u2028b\\u2029c\","
        "\"broken\":\"x\\ufffd\\ufffdy\",\"wide\":\"loss \u2264 0.02, \U0001F600\",\"numbers\":[0.1,-2,null,null],"
        "\"nothing\":null,\"flag\":true,\"rounded\":[0.3333333333,1e-300,1.23456789e+11],\"none\":null}");
}

TEST_CASE("no share that is not whole is called all or nothing") {
  CHECK(percent(0.97) == "97 %");
  CHECK(percent(1.0) == "100 %");
  CHECK(percent(0.996) == "99.6 %");
  CHECK(percent(0.99999) == "nearly 100 %");
  CHECK(percent(0.004) == "0.4 %");
  CHECK(percent(0.00001) == "under 0.1 %");
  CHECK(percent(0.0) == "0 %");
}

TEST_CASE("ratios have two or three digits, and lists an end") {
  CHECK(times(1.0423) == "1.04x");
  CHECK(times(2.13) == "2.1x");
  CHECK(times(35.2) == "35x");
  CHECK(listed({"a"}) == "a");
  CHECK(listed({"a", "b"}) == "a and b");
  CHECK(listed({"a", "b", "c"}) == "a, b and c");
  CHECK(listed({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
  CHECK(counted(1, "{} run", "{} runs") == "1 run");
  CHECK(counted(0, "{} run", "{} runs") == "0 runs");
}

}  // namespace report_numbers_test
