// The plot on a terminal, whole.
#include "outputs/terminal/plot.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "catch.h"
#include "outputs/sample.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace plot_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

/// loss(k) at step_s * k.
template <class Loss>
Run falling(const std::string& label, double step_s, int steps, Loss loss) {
  Run run = sample_run(label, 4, {1.0, 0.0, 0.0, 0.0});
  for (int k = 0; k <= steps; ++k) {
    record::Evaluation& e = run.record.curve.emplace_back();
    e.step = k;
    e.simulated_s = step_s * k;
    e.loss = loss(k);
  }
  return run;
}

Results of(std::vector<Run> runs) {
  Results results;
  results.runs = std::move(runs);
  return results;
}

const auto linear = [](int k) { return 1.0 - 0.1 * k; };
const auto exponential = [](int k) { return std::pow(10.0, -0.5 * k); };

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("a loss that falls evenly is a line from corner to corner, and equal curves take turns") {
  // 25 columns and 9 rows: evaluation k is in column 3 k and row k.
  CHECK("\n" + plot(of({falling("ring", 1.0, 8, linear), falling("tree", 1.0, 8, linear)}), {.width = 37}) == R"(
Loss against simulated time [s]:
        1 ┤ab
          │  aba
      0.8 ┤     bab
          │        aba
      0.6 ┤           bab
          │              aba
      0.4 ┤                 bab
          │                    aba
      0.2 ┤                       ba
          └┬─────┬─────┬─────┬─────┬
           0     2     4     6     8
  a ring   b tree
)");
}

TEST_CASE("the axis of a loss that falls twentyfold is logarithmic, and the target is a line") {
  Results results = of({falling("ring", 1e-3, 4, exponential)});
  results.scenario = {{"stop", {{"loss", 0.1}}}};
  // Evaluation k is in column 6 k and row 2 k.
  CHECK("\n" + plot(results, {.width = 37}) == R"(
Loss against simulated time [ms]:
        1 ┤aa
          │  aaa
          │     aaa
          │        aaa
   target ┤┄┄┄┄┄┄┄┄┄┄┄aaa┄┄┄┄┄┄┄┄┄┄┄
          │              aaa
          │                 aaa
          │                    aaa
     0.01 ┤                       aa
          └┬─────┬─────┬─────┬─────┬
           0     1     2     3     4
  a ring
)");
}

TEST_CASE("where one strategy takes twenty times as long as another, time is logarithmic too") {
  const std::string text =
      plot(of({falling("fast", 0.1, 10, linear), falling("slow", 3.0, 10, linear)}), {.width = 80});
  const auto all = lines(text);
  REQUIRE(all.size() == 13);
  // From 0.1 s to 30 s in 68 columns: 1 s is in column 67 ln 10 / ln 300 = 27.05, 10 s in 54.1.
  CHECK(all[11] == "          0.1" + std::string(25, ' ') + "1" + std::string(25, ' ') + "10");
}

TEST_CASE("the plot is of the grid point of the fastest case to the target") {
  const auto curve = [](double s) {
    return std::vector<record::Evaluation>{{.step = 0, .simulated_s = 0.0, .loss = 1.0},
                                           {.step = 100, .simulated_s = s, .loss = 0.01}};
  };
  Results results = six_runs();
  results.runs.clear();
  for (const auto& [value, s] : {std::pair(1, 2.0), std::pair(2, 1.0), std::pair(3, 4.0)}) {
    Run run = at(reached(sample_run("a", 2, {s, 0.0, 0.0, 0.0}), 0.01, 4.0), "training.batch_size", value);
    run.record.curve = curve(s);
    results.runs.push_back(run);
  }
  CHECK(plot(results, {.colour = false, .width = 80}).find("at batch_size=2") != std::string::npos);
}

TEST_CASE("the plot is of the last grid point, and of the means over its seeds") {
  std::vector<Run> runs = {falling("ring", 1.0, 8, [](int) { return 5.0; }), falling("ring", 1.0, 8, linear),
                           falling("ring", 3.0, 6, [](int k) { return 3.0 - 0.3 * k; })};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].parameters["cluster.workers"] = i == 0 ? 2 : 4;
    runs[i].seed = i;
  }
  // The mean: 2 s a step, 2 - 0.2 k, over the six steps that both have; then the second stays at 18 s and 1.2.
  Run mean = falling("ring", 2.0, 8, [](int k) { return k <= 6 ? 2.0 - 0.2 * k : 0.5 * (1.0 - 0.1 * k + 1.2); });
  for (const std::size_t k : {7, 8}) mean.record.curve[k].simulated_s = 0.5 * (static_cast<double>(k) + 18.0);
  const auto found = lines(plot(of(runs), {.width = 60}));
  auto expected = lines(plot(of({mean}), {.width = 60}));
  expected[0] = "Loss against simulated time [s], mean over the seeds, at";
  expected.insert(expected.begin() + 1, "  workers=4:");
  CHECK(found == expected);
}

TEST_CASE("no line of a plot is wider than the terminal, nor than 80 columns") {
  std::vector<Run> runs;
  for (int i = 0; i < 14; ++i)
    runs.push_back(falling("parameter_server(consistency=ssp, staleness=" + std::to_string(i) + ", servers=2)",
                           1e-4 * (i + 1), 200, [i](int k) { return 1e3 * std::exp(-0.01 * (i + 1) * k); }));
  for (const bool colour : {false, true})
    for (const int width : {30, 60, 80, 200})
      for (std::string line : lines(plot(of(runs), {.colour = colour, .width = width}))) {
        INFO(line);
        CHECK(display_width(line) <= static_cast<std::size_t>(std::min(width, 80)));
      }
}

TEST_CASE("in colour a curve is dots of Braille patterns, painted") {
  const auto all = lines(plot(of({falling("ring", 1.0, 8, linear)}), {.colour = true, .width = 37}));
  REQUIRE(all.size() == 13);
  // Two dots across and four down a cell, 50 by 36: dot x is in line 35 x / 49, rounded.
  CHECK(all[1] == "        1 ┤\033[34m⠑\033[0m\033[34m⠢\033[0m\033[34m⡀\033[0m");
  CHECK(all.back() == "  \033[34m━━\033[0m ring");
  for (const std::string& line : all) CHECK(line.find('\033') == line.find("\033[34m"));
}

TEST_CASE("a curve that diverges leaves the plot at ten times its first loss, so that the others are seen") {
  const auto all =
      lines(plot(of({falling("ring", 1.0, 8, linear), falling("wild", 1.0, 8, [](int k) { return std::pow(1e6, k); })}),
                 {.width = 60}));
  REQUIRE(all.size() == 13);
  const auto column_of_b = [&](std::size_t row) {
    const auto found = all[row].rfind('b');
    return found == std::string::npos ? 0 : display_width(all[row].substr(0, found));
  };
  CHECK(all[1].starts_with("       10 ┤"));
  CHECK(column_of_b(1) > 0);
  for (std::size_t row = 1; row < 10; ++row) CHECK(column_of_b(row) <= 13);  // within the first of its eight steps
  CHECK(all[9].starts_with("      0.2 ┤"));
  CHECK(all[9].ends_with("a"));
}

TEST_CASE("the legend has the step at which a curve diverges, and how many of its seeds do") {
  const auto wild = [](int k) { return k < 5 ? 1.0 : INFINITY; };
  const auto large = [](int k) { return k < 3 ? 1.0 : 1001.0; };
  const auto diverged = [](Run run, std::int64_t step) {
    run.record.status = record::Status::diverged;
    run.record.diverged_step = step;
    return run;
  };
  Run one = falling("ring", 1.0, 8, linear);
  Run two = diverged(falling("ring", 1.0, 8, wild), 5);
  one.seed = 1;
  two.seed = 2;
  CHECK(lines(plot(of({one, two}), {.width = 60})).back() == "  a ring (1 of 2 seeds diverged at step 5)");
  CHECK(lines(plot(of({diverged(falling("wild", 1.0, 8, wild), 5)}), {.width = 60})).back() ==
        "  a wild (diverged at step 5)");
  CHECK(lines(plot(of({diverged(falling("large", 1.0, 8, large), 3)}), {.width = 60})).back() ==
        "  a large (diverged at step 3)");
  // Large losses alone are no divergence: the training has judged them.
  CHECK(lines(plot(of({falling("large", 1.0, 8, large)}), {.width = 60})).back() == "  a large");
  for (int width = 30; width <= 60; ++width)
    for (const std::string& line : lines(plot(of({falling(std::string(40, 'x'), 1.0, 8, wild)}), {.width = width})))
      CHECK(display_width(line) <= static_cast<std::size_t>(width));
}

TEST_CASE("on a logarithmic time axis the first loss is at its beginning, and a lone point is a dot") {
  // Each has two evaluations, at 0 and at its end; the third diverges at once.
  Run wild = falling("wild", 1.0, 1, [](int k) { return k == 0 ? 0.5 : INFINITY; });
  wild.record.status = record::Status::diverged;
  wild.record.diverged_step = 1;
  const auto all =
      lines(plot(of({falling("fast", 0.1, 1, linear), falling("slow", 10.0, 1, linear), wild}), {.width = 60}));
  REQUIRE(all.size() == 13);
  CHECK(all[1].starts_with("        1 ┤"));
  std::string curve;
  for (std::size_t r = 1; r < 10; ++r) curve += all[r];
  CHECK(std::ranges::count(curve, 'a') >= 1);
  CHECK(std::ranges::count(curve, 'b') > 40);
  CHECK(all.back() == "  a fast   b slow   c wild (diverged at step 1)");
}

TEST_CASE("losses that differ by an ulp are a line") {
  const Run still = falling("ring", 1.0, 8, [](int k) { return k % 2 == 0 ? 5e9 : std::nextafter(5e9, 1e10); });
  CHECK(lines(plot(of({still}), {})).size() == 13);
}

TEST_CASE("there is no plot where there is nothing to draw") {
  const double nan = std::nan("");
  CHECK(plot(Results{}, {}).empty());
  CHECK(plot(of({sample_run("ring", 4, {1.0, 0.0, 0.0, 0.0})}), {}).empty());        // no curve
  CHECK(plot(of({falling("ring", 1.0, 0, linear)}), {}).empty());                    // one point
  CHECK(plot(of({falling("ring", 0.0, 5, linear)}), {}).empty());                    // no time
  CHECK(plot(of({falling("ring", 1.0, 5, [&](int) { return nan; })}), {}).empty());  // no loss
  CHECK(plot(of({failed(falling("ring", 1.0, 5, linear), "lost")}), {}).empty());
  CHECK(plot(of({falling("ring", 1.0, 5, linear)}), {.width = 29}).empty());
  Run blind = falling("ring", 1.0, 5, linear);
  for (record::Evaluation& e : blind.record.curve) e.loss.reset();
  CHECK(plot(of({blind}), {}).empty());
}

TEST_CASE("a loss that stays the same is a line, and strange numbers do no harm") {
  const auto flat = [](double loss) { return [loss](int) { return loss; }; };
  for (const double loss : {0.0, 1.0, -1.0, 1e-308, 1e308})
    for (const int steps : {1, 5, 1000}) {
      const auto all = lines(plot(of({falling("ring", 1e-9, steps, flat(loss))}), {}));
      CHECK(all.size() == 13);
      int rows_with_curve = 0;
      for (std::size_t r = 1; r < 10 && r < all.size(); ++r)
        rows_with_curve += all[r].find("aaaaaaaa") != std::string::npos;
      CHECK(rows_with_curve == 1);
    }
}

}  // namespace plot_test
