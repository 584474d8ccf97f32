// Protocols from measured transfers: as many rows as the times have, and their latencies and bandwidths.
#include "experiment/calibration/protocol_fit.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "base/errors.h"
#include "catch.h"

namespace protocol_fit_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

auto nine(double x) { return Approx(x).epsilon(1e-9); }

/// Times of a protocol with latencies of 10 and 40 us, and 0.4 and 1.1 GB/s from 100 kB on.
double exact_s(Timed timed, double n, double P) {
  const double m = timed == Timed::ring ? n / P : n;
  const double alpha = m < 100e3 ? 10e-6 : 40e-6, beta = m < 100e3 ? 1 / 0.4e9 : 1 / 1.1e9;
  if (timed == Timed::ring) return 2 * (P - 1) * (alpha + m * beta);
  return alpha + (timed == Timed::flat ? (P - 1) * n : n) * beta;
}

std::vector<Measured> exact(const std::vector<double>& sizes) {
  std::vector<Measured> all;
  for (const double n : sizes)
    for (const auto& [timed, P] : {std::pair{Timed::message, 2}, std::pair{Timed::ring, 8}, std::pair{Timed::flat, 5}})
      all.push_back({.bytes = n, .seconds = exact_s(timed, n, P), .timed = timed, .workers = P});
  return all;
}

}  // namespace

TEST_CASE("measurements of two protocols give a table of two rows, exactly") {
  const ProtocolFit fit = fit_protocol(exact({1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6}), "m.csv");
  REQUIRE(fit.rows.size() == 2);
  CHECK(fit.rows[0].from_bytes == 0.0);
  CHECK(fit.rows[0].latency_s == nine(10e-6));
  CHECK(fit.rows[0].bytes_per_s == nine(0.4e9));
  CHECK(fit.rows[1].from_bytes > 64e3);
  CHECK(fit.rows[1].from_bytes <= 128e3);  // 1 MB among 8 has messages of 125 kB
  CHECK(fit.rows[1].latency_s == nine(40e-6));
  CHECK(fit.rows[1].bytes_per_s == nine(1.1e9));
  CHECK(fit.rms_relative_error < 1e-9);
}

TEST_CASE("measurements of one line give one row, whatever the noise of a tenth of a percent") {
  std::vector<Measured> all;
  for (int i = 0; i < 12; ++i) {
    const double n = 1e3 * std::pow(2.0, i);
    all.push_back({.bytes = n, .seconds = (30e-6 + n / 1e9) * (1.0 + 0.001 * (i % 3 - 1))});
  }
  const ProtocolFit fit = fit_protocol(all, "m.csv");
  REQUIRE(fit.rows.size() == 1);
  CHECK(fit.rows[0].latency_s == Approx(30e-6).epsilon(0.005));
  CHECK(fit.rows[0].bytes_per_s == Approx(1e9).epsilon(0.005));
}

TEST_CASE("halving and doubling is told apart by the sizes of its rounds") {
  const auto message_s = [](double m) { return m < 50e3 ? 5e-6 + m / 0.5e9 : 30e-6 + m / 2e9; };
  std::vector<Measured> all;
  for (const double n : {8e3, 64e3, 512e3, 4e6, 32e6})
    for (const std::int64_t P : {2, 4, 16}) {
      Measured one{.bytes = n, .seconds = 0.0, .timed = Timed::rabenseifner, .workers = P};
      for (std::int64_t parts = 2; parts <= P; parts *= 2)
        one.seconds += 2.0 * message_s(n / static_cast<double>(parts));
      all.push_back(one);
    }
  const ProtocolFit fit = fit_protocol(all, "m.csv");
  REQUIRE(fit.rows.size() == 2);
  CHECK(fit.rows[0].latency_s == Approx(5e-6).epsilon(1e-6));
  CHECK(fit.rows[0].bytes_per_s == Approx(0.5e9).epsilon(1e-6));
  CHECK(fit.rows[1].latency_s == Approx(30e-6).epsilon(1e-6));
  CHECK(fit.rows[1].bytes_per_s == Approx(2e9).epsilon(1e-6));
  CHECK(fit.rms_relative_error < 1e-6);
}

TEST_CASE("times that do not grow with the bytes are no protocol") {
  CHECK_THROWS_AS(fit_protocol({{.bytes = 1e3, .seconds = 1e6}, {.bytes = 1e6, .seconds = 1e-3}}, "m.csv"),
                  base::ScenarioError);
}

TEST_CASE("a fitted table describes the published allreduces of Knights Landing with a median error of 6 %") {
  const char* const folder = std::getenv("SIMGRAD_TEST_DATA");
  if (!folder) {
    WARN("skipped: SIMGRAD_TEST_DATA is not set");
    return;
  }
  std::ifstream file(std::string(folder) + "/published/deepbench_allreduce.csv");
  std::vector<Measured> all;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("KNL,")) continue;
    std::ranges::replace(line, ',', ' ');
    std::istringstream words(line);
    std::string system;
    double ranks = 0.0, floats = 0.0, milliseconds = 0.0;
    words >> system >> ranks >> floats >> milliseconds;
    all.push_back({.bytes = 4.0 * floats,
                   .seconds = 1e-3 * milliseconds,
                   .timed = Timed::rabenseifner,
                   .workers = static_cast<std::int64_t>(ranks)});
  }
  REQUIRE(all.size() == 30);
  const ProtocolFit fit = fit_protocol(all, "KNL");
  CAPTURE(fit.rows.size(), fit.rms_relative_error);
  CHECK(fit.median_relative_error < 0.06);
}

}  // namespace protocol_fit_test
