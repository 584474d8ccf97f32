// Bubbles of pipeline schedules that were published with the times of their pieces, against the tables.
//
// Source: P. Qi, X. Wan, G. Huang, M. Lin, Zero Bubble Pipeline Parallelism, ICLR 2024, Tables 4 and 5. Their bubble is
// (T - m (F + B + W)) / T. It was computed from the measured times; the calculation is efficiency.py of the repository
// sail-sg/zero-bubble-pipeline-parallelism at commit f68d387.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "catch.h"
#include "strategies/schedules.h"

namespace schedules_published_test {

using namespace simgrad;
using namespace simgrad::strategies;
using namespace simgrad::tests;

namespace {

using Row = std::map<std::string, double>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) all.push_back(cell);
  return all;
}

/// The rows of the published table; none where SIMGRAD_TEST_DATA is unset.
std::vector<Row> published() {
  const char* folder = std::getenv("SIMGRAD_TEST_DATA");
  if (!folder) {
    WARN("skipped: SIMGRAD_TEST_DATA is unset");
    return {};
  }
  std::ifstream file(std::filesystem::path(folder) / "published" / "zero_bubble.csv");
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    const std::vector<std::string> values = cells(line);
    if (names.empty()) {
      names = values;
      continue;
    }
    Row& row = rows.emplace_back();
    for (std::size_t k = 1; k < names.size(); ++k) row[names[k]] = std::stod(values.at(k));
  }
  REQUIRE(rows.size() == 12);
  return rows;
}

PieceTimes times(Row& row) {
  return {row["forward_ms"], row["backward_input_ms"], row["backward_weight_ms"], row["hop_ms"]};
}

/// One layer a chunk, the embedding and the loss counting as one each. That is as many chunks as there can be.
PipelineShape shape(Row& row, bool interleaved) {
  const auto whole = [&](const char* name) { return static_cast<int>(row[name]); };
  return {whole("stages"), whole("micro_batches"), interleaved ? (whole("layers") + 2) / whole("stages") : 1};
}

double share(double time, double work) { return (time - work) / time; }

/// m (F + B + W)
double work(Row& row) {
  return row["micro_batches"] * (row["forward_ms"] + row["backward_input_ms"] + row["backward_weight_ms"]);
}

/// The end of the interleaved table if only the first micro-batch of every p waits for its way from the last stage back
/// to the first one, and on the backward from the first one to the last.
double end_with_fewer_waits(const PipelineShape& shape, const PieceTimes& stage) {
  const PipelineTable table = pipeline_table("interleaved_1f1b", shape);
  const PieceTimes t = equal_pieces(stage, shape).front();
  std::map<std::tuple<bool, int, int>, double> ends;  // forward?, micro-batch, piece
  std::vector<std::size_t> next(table.size(), 0);
  std::vector<double> now(table.size(), 0.0);
  const auto can_go = [&](std::size_t i) {
    if (next[i] == table[i].size()) return false;
    const auto [piece, micro, chunk] = table[i][next[i]];
    const int here = shape.piece(static_cast<int>(i), chunk), last = shape.pieces() - 1;
    const bool forward = piece == Piece::forward, first = here == (forward ? 0 : last);
    double start = now[i];
    if (!first || !forward) {
      const auto needed = ends.find({forward || first, micro, first ? here : forward ? here - 1 : here + 1});
      if (needed == ends.end()) return false;
      const bool wraps = i == (forward ? 0 : table.size() - 1);
      if (!first && (!wraps || micro % shape.stages == 0)) start = std::max(start, needed->second + t.hop);
    }
    now[i] = start + (forward ? t.forward : t.input_backward + t.weight_backward);
    ends[{forward, micro, here}] = now[i];
    ++next[i];
    return true;
  };
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < table.size(); ++i)
      while (can_go(i)) any = true;
  }
  return *std::max_element(now.begin(), now.end());
}

}  // namespace

TEST_CASE("published bubbles of the 1f1b and zero-bubble pipeline schedules are the tables', to all printed digits") {
  for (Row row : published()) {
    CAPTURE(row["layers"], row["micro_batches"]);
    const auto bubble = [&](const char* kind) {
      return share(timed_pipeline(kind, shape(row, false), times(row)).period, work(row));
    };
    // Four decimals are printed.
    CHECK(bubble("1f1b") == Approx(row["bubble_1f1b"]).margin(0.5001e-4).epsilon(0));
    CHECK(bubble("zb_h1") == Approx(row["bubble_zb_h1"]).margin(0.5001e-4).epsilon(0));
    CHECK(bubble("zb_h2") == Approx(row["bubble_zb_h2"]).margin(0.5001e-4).epsilon(0));
  }
}

TEST_CASE("published bubbles of the interleaved pipeline leave out p hops, which real micro-batches wait for") {
  for (Row row : published()) {
    const PipelineShape interleaved = shape(row, true);
    CAPTURE(row["layers"], row["micro_batches"], interleaved.chunks);
    const double p = interleaved.stages, v = interleaved.chunks, c = row["hop_ms"];
    const double table = timed_pipeline("interleaved_1f1b", interleaved, times(row)).makespan;
    const double fewer = end_with_fewer_waits(interleaved, times(row));
    CHECK(share(fewer, work(row)) == Approx(row["bubble_interleaved_1f1b"]).margin(0.5001e-4).epsilon(0));
    // The calculation's hops in closed form, and the table's.
    CHECK(fewer - (1 + (p - 1) / (v * interleaved.micro_batches)) * work(row) == Approx((2 * p * v - p - 2) * c));
    CHECK(table - fewer == Approx(p * c));
    const double off = share(table, work(row)) / row["bubble_interleaved_1f1b"] - 1;
    CHECK((off > 0.023 && off < 0.042));
  }
}

TEST_CASE("end chunks without a layer move the interleaved pipeline's bubble away from the published ones") {
  for (Row row : published()) {
    const PipelineShape interleaved = shape(row, true);
    CAPTURE(row["layers"], row["micro_batches"], interleaved.chunks);
    auto pieces = equal_pieces(times(row), interleaved);
    pieces.front() = pieces.back() = {0.0, 0.0, 0.0, row["hop_ms"]};
    const double time = timed(pipeline_table("interleaved_1f1b", interleaved), interleaved, pieces).makespan;
    const double off = share(time, work(row)) / row["bubble_interleaved_1f1b"] - 1;
    CHECK((off > -0.212 && off < -0.028));
  }
}

}  // namespace schedules_published_test
