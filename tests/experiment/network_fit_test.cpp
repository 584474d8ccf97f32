// Alpha, efficiency and flow limit from measured transfers.
#include "experiment/calibration/network_fit.h"

#include <fmt/format.h>

#include <cmath>

#include "base/errors.h"
#include "catch.h"
#include "scratch.h"

namespace network_fit_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

constexpr double alpha = 30e-6;
constexpr double link_B = 1.1e9;
constexpr double flow_B = 0.4e9;

double exact_s(Timed timed, double n, double P) {
  switch (timed) {
    case Timed::ring:
      return 2 * (P - 1) * (alpha + n / P / flow_B);
    case Timed::flat:
      return alpha + std::max((P - 1) * n / link_B, n / flow_B);
    case Timed::rabenseifner:
      return 2 * (std::log2(P) * alpha + (P - 1) / P * n / flow_B);
    case Timed::message:
      break;
  }
  return alpha + n / flow_B;
}

Measured one(Timed timed, double n, std::int64_t P) {
  return {.bytes = n, .seconds = exact_s(timed, n, static_cast<double>(P)), .timed = timed, .workers = P};
}

auto nine(double x) { return Approx(x).epsilon(1e-9); }

std::string refusal(const std::string& text) {
  const tests::Scratch scratch;
  const std::string path = scratch.write("m.csv", text);
  try {
    fit_network(read_measurements(path), path);
  } catch (const base::ScenarioError& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "accepted";
}

}  // namespace

TEST_CASE("exact measurements of messages, rings and flat gathers give back alpha, the link's rate and a flow's") {
  std::vector<Measured> all;
  for (const double n : {1e3, 1e4, 1e5, 1e6, 1e7}) {
    all.push_back(one(Timed::message, n, 2));
    all.push_back(one(Timed::ring, n, 8));
    all.push_back(one(Timed::rabenseifner, n, 16));
    all.push_back(one(Timed::flat, n, 3));   // bound by the flows: 2 x 0.4 < 1.1
    all.push_back(one(Timed::flat, n, 16));  // bound by the link
  }
  const NetworkFit fit = fit_network(all, "m.csv");
  CHECK(fit.latency_s == nine(alpha));
  CHECK(fit.link_bytes_per_s == nine(link_B));
  REQUIRE(fit.flow_bytes_per_s);
  CHECK(*fit.flow_bytes_per_s == nine(flow_B));
  CHECK(fit.rms_relative_error < 1e-9);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(fit.predicted_s[i] == nine(all[i].seconds));
}

TEST_CASE("messages alone do not tell a flow's limit from the link's rate") {
  const NetworkFit fit = fit_network({one(Timed::message, 1e3, 2), one(Timed::message, 1e6, 2)}, "m.csv");
  CHECK(fit.latency_s == nine(alpha));
  CHECK(fit.link_bytes_per_s == nine(flow_B));
  CHECK_FALSE(fit.flow_bytes_per_s);
  CHECK_FALSE(fit.tells_flow_from_link);
}

TEST_CASE("where one flow has the whole link there is no limit") {
  std::vector<Measured> all;
  for (const double n : {1e3, 1e5, 1e7}) {
    all.push_back({.bytes = n, .seconds = alpha + n / link_B});
    all.push_back({.bytes = n, .seconds = alpha + 7 * n / link_B, .timed = Timed::flat, .workers = 8});
  }
  const NetworkFit fit = fit_network(all, "m.csv");
  CHECK(fit.link_bytes_per_s == nine(link_B));
  CHECK_FALSE(fit.flow_bytes_per_s);
  CHECK(fit.tells_flow_from_link);
}

TEST_CASE("noise of five per cent on alternate measurements is seen in the residuals and hardly in the fit") {
  std::vector<Measured> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(one(Timed::message, std::pow(10.0, 3.0 + 0.1 * i), 2));
    all.back().seconds *= i % 2 == 0 ? 1.05 : 0.95;
  }
  const NetworkFit fit = fit_network(all, "m.csv");
  CHECK(std::abs(fit.latency_s / alpha - 1.0) < 0.02);
  CHECK(std::abs(fit.link_bytes_per_s / flow_B - 1.0) < 0.02);
  CHECK(fit.rms_relative_error == Approx(0.05).epsilon(0.05));
}

TEST_CASE("latencies below what zero explains are zero, never negative") {
  const NetworkFit fit = fit_network({{.bytes = 1e3, .seconds = 0.5e-6}, {.bytes = 1e6, .seconds = 1e-3}}, "m.csv");
  CHECK(fit.latency_s == 0.0);
  CHECK(fit.link_bytes_per_s > 0.0);
}

TEST_CASE("a file that holds no measurements is refused at its place") {
  CHECK(refusal("bytes,seconds\n1000,0.1\n1e6,abc\n") ==
        ":3:5: seconds is \"abc\"; expected a number from 1e-12 to 1000000000");
  CHECK(refusal("bytes,seconds\n1000,0.1\n-3,1\n") == ":3:1: bytes is \"-3\"; expected a number from 1 to 1e+18");
  CHECK(refusal("bytes,seconds\n1e300,0.1\n") == ":2:1: bytes is \"1e300\"; expected a number from 1 to 1e+18");
  CHECK(refusal("bytes,seconds\n1000,1e300\n") ==
        ":2:6: seconds is \"1e300\"; expected a number from 1e-12 to 1000000000");
  CHECK(refusal("bytes,seconds,collective,workers\n1e3,1e-3,tree,4\n1e4,1e-3,ring,4\n") ==
        ":2:10: collective is \"tree\"; expected message, ring or flat");
  CHECK(refusal("bytes,seconds,collective,workers\n1e3,1e-3,ring,4.5\n") ==
        ":2:15: workers is \"4.5\"; expected a whole number from 2 to 1000000");
  CHECK(refusal("bytes,seconds,collective\n1e3,1e-3,ring\n") ==
        ":2:1: a ring among how many? expected a column \"workers\" with a number");
  CHECK(refusal("bytes,second\n1e3,1e-3\n").starts_with(":1:1: unknown column \"second\"; did you mean \"seconds\"?"));
  CHECK(refusal("bytes\n1e3\n").starts_with(":1:1: there is no column \"seconds\""));
  CHECK(refusal("bytes,seconds\n1e3,1e-3\n1e3,1e-3\n")
            .starts_with(": one size alone cannot separate alpha from bandwidth"));
  CHECK(refusal("bytes,seconds\n1e3,1e-3,4\n").starts_with(":2:10: 3 cells, expected 2"));
}

}  // namespace network_fit_test
