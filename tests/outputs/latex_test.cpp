// The tables and the paragraph for a paper.
#include "outputs/paper/latex.h"

#include <regex>

#include "catch.h"
#include "outputs/pairs.h"
#include "outputs/paper/latex_text.h"
#include "outputs/paper/methods.h"
#include "outputs/seed_means.h"
#include "report_sample.h"

namespace latex_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::paper;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t number_of(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// `strategies` strategies with three seeds each, all of which reach the target; the k-th is k + 1 times as slow.
Results seeded(int strategies) {
  Results results = results_of({}, 0.02);
  results.title = "100% of A_B & C";
  for (int k = 0; k < strategies; ++k)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const double time_s = (k + 1) * 1e-3 * (1.0 + 0.01 * static_cast<double>(seed * seed));
      results.runs.push_back(
          with_seed(reached(sample_run("s" + std::to_string(k), 8, {time_s, 0.0, 0.0, 0.0}), 0.01, 8e-3), seed));
    }
  return results;
}

/// The lines of a table's body by their cells.
std::vector<std::vector<std::string>> rows_in(const std::string& tabular) {
  std::vector<std::vector<std::string>> rows;
  const std::string end = " \\\\\n";
  for (std::size_t from = 0, to; (to = tabular.find(end, from)) != std::string::npos; from = to + end.size()) {
    const std::size_t begin = tabular.rfind('\n', to) + 1;
    rows.emplace_back();
    const std::string line = tabular.substr(begin, to - begin);
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t next = std::min(line.find(" & ", at), line.size());
      rows.back().push_back(line.substr(at, next - at));
      at = next + 3;
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("characters that are commands of LaTeX are escaped") {
  CHECK(latex_text("a_b 50% $5 {x} #1 A&B") == "a\\_b 50\\% \\$5 \\{x\\} \\#1 A\\&B");
  CHECK(latex_text("\\input{x}") == "\\textbackslash{}input\\{x\\}");
  CHECK(latex_text("~^<>|\"") ==
        "\\textasciitilde{}\\textasciicircum{}\\textless{}\\textgreater{}\\textbar{}\\char34{}");
  CHECK(latex_text("--set a-b") == "-{}-set a-b");
  CHECK(latex_text("环\n1") == "环 1");
}

TEST_CASE("a number has three digits, and its margin decides how many it has") {
  CHECK(latex_number(12.34, outputs::nan) == "12.3");
  CHECK(latex_number(9.996, outputs::nan) == "10.0");
  CHECK(latex_number(0.001234, outputs::nan) == "0.00123");
  CHECK(latex_number(1234.5, outputs::nan) == "1234");  // to even, as IEEE 754 rounds
  CHECK(latex_number(1.2345e-9, outputs::nan) == "$1.23 \\times 10^{-9}$");
  CHECK(latex_number(12345678.0, outputs::nan) == "$1.23 \\times 10^{7}$");
  CHECK(latex_number(-1.5, outputs::nan) == "$-1.50$");
  CHECK(latex_number(outputs::nan, outputs::nan) == "--");
  CHECK(latex_number(0.0, outputs::nan) == "0");
  CHECK(latex_number(31.34, 1.234) == "$31.3 \\pm 1.2$");
  CHECK(latex_number(31.34, 0.1234) == "$31.34 \\pm 0.12$");
  CHECK(latex_number(31.34, 0.01) == "$31.34 \\pm 0.01$");
  CHECK(latex_number(123.4, 45.6) == "$123 \\pm 46$");
  CHECK(latex_number(0.568, 5.6e-16) == "0.568");
}

TEST_CASE("p-values have three decimals, and bold ones are below 0.05") {
  CHECK(latex_p_value(0.0123) == "\\textbf{0.012}");
  CHECK(latex_p_value(0.05) == "0.050");
  CHECK(latex_p_value(1.0) == "1.000");
  CHECK(latex_p_value(1e-9) == "$\\mathbf{<0.001}$");
  CHECK(latex_p_value(outputs::nan) == "--");
}

TEST_CASE("the table has the numbers in one unit a column, with their margins") {
  const Results results = seeded(3);
  const std::string text = latex(results);
  const std::string table = text.substr(0, text.find("\\end{tabular}"));
  CHECK(has(table, "\\caption{100\\% of A\\_B \\& C. Means over seeds 1 to 3; $\\pm$: "));
  CHECK(has(table, "Target: a loss of 0.02 or less.}"));
  CHECK(has(table, "\\multicolumn{2}{c}{speed-up}"));
  const auto rows = rows_in(table);
  REQUIRE(rows.size() == 5);  // two of the header
  CHECK(rows[1][0] == "strategy");
  CHECK(rows[1][3] == "time [ms]");
  CHECK(rows[2][0] == "{}s0");
  // Times 1.01, 1.04 and 1.09 ms: mean 1.04667, s = 0.0404145, half = 4.30265 s / sqrt(3) = 0.100396.
  CHECK(rows[2][3] == "$1.05 \\pm 0.10$");
  CHECK(rows[4][3] == "$3.14 \\pm 0.30$");
  // Speed-up: 8 / 1.04667 = 7.643; the baseline's time is the same with each seed, so that the relative margin stays.
  CHECK(rows[2][5].starts_with("$7.64 \\pm 0.7"));
  for (const auto& row : rows) CHECK(row.size() <= rows[1].size());
  CHECK(number_of(text, "\\begin{") == number_of(text, "\\end{"));
}

TEST_CASE("rows that did not reach the target say so, and a row of some seeds counts them") {
  Results results = seeded(2);
  results.runs[0].record.time_to_target_s.reset();
  for (int k = 3; k < 6; ++k) results.runs[k].record.time_to_target_s.reset();
  const auto rows = rows_in(latex(results));
  CHECK(rows[2][4].ends_with(" (2 of 3)"));
  CHECK(rows[3][4] == "not reached");
}

TEST_CASE("the matrix of pairs has Holm's p-values under the diagonal, of eight strategies at most") {
  for (const int strategies : {1, 2, 8, 9}) {
    const std::string text = latex(seeded(strategies));
    const std::size_t shown = std::min<std::size_t>(strategies, most_in_matrix);
    INFO(strategies);
    CHECK(number_of(text, "\\begin{table}") == (strategies > 1 ? 2 : 1));
    if (strategies < 2) continue;
    const std::string matrix = text.substr(text.find("\\end{table}"));
    const auto rows = rows_in(matrix);
    REQUIRE(rows.size() == shown + 1);
    CHECK(number_of(matrix, "$\\mathbf{<") + number_of(matrix, "\\textbf{") <= shown * (shown - 1) / 2);
    CHECK(rows[1][0].starts_with("{}(1) s0"));
    const int pairs = strategies * (strategies - 1) / 2;
    CHECK(has(matrix, "Holm's method for " + std::to_string(pairs) + (pairs == 1 ? " pair." : " pairs.")));
    CHECK(has(matrix, "the first 8 are shown") == (strategies == 9));
    CHECK(number_of(matrix.substr(0, matrix.find("\\paragraph")), "&") == (shown - 1) * (shown + 1));
  }
  // Differences of s1 and s0 are 1.01, 1.04, 1.09 ms: t = 44.857, and with two degrees of freedom p = 4.966e-4.
  CHECK(has(latex(seeded(2)), "(2) s1 & $\\mathbf{<0.001}$ \\\\"));
}

TEST_CASE("the paragraph says version, cluster, model, seeds and limits, as the resolved scenario has them") {
  Results results = seeded(2);
  results.command = "simgrad run x.toml";
  results.scenario = {{"cluster",
                       {{"workers", 8},
                        {"topology", {{"kind", "star"}, {"devices", 1}}},
                        {"speed", "1GF"},
                        {"device", "none"},
                        {"bandwidth", "1Gbps"},
                        {"latency", "50us"},
                        {"network_model", "ideal"},
                        {"stragglers", "none"}}},
                      {"data", {{"source", "house_prices"}, {"samples", 20000}}},
                      {"model", {{"kind", "least_squares"}}},
                      {"stop", {{"loss", 0.02}, {"epochs", 500}}}};
  const std::string text = methods(results);
  CHECK(has(text, "by simgrad 0.1.0 "));
  CHECK(has(text,
            "Cluster: number of workers 8, topology star, sustained speed of a worker 1GF, bandwidth of a network card "
            "(each way) 1Gbps, latency (one way) 50us, network model ideal."));
  CHECK(has(text, "Training: model least_squares, data house_prices, samples 20000."));
  CHECK(has(text, "Strategies: s0 and s1."));
  CHECK(has(text, "first of: loss 0.02, epochs 500."));
  CHECK(has(text, "means over seeds 1 to 3."));
  CHECK(has(text, "Holm's method"));
  CHECK(has(text, "; workers that take unlike times for the same work"));
  CHECK(has(text, "\"simgrad run x.toml\" repeats"));
  results.scenario["cluster"]["stragglers"] = {{"kind", "exponential"}};
  CHECK_FALSE(has(methods(results), "workers that take unlike times"));
  CHECK(has(methods(results), "stragglers exponential"));
  for (Run& run : results.runs) run.parameters["cluster.latency"] = run.seed == 1 ? "1ms" : "2ms";
  CHECK(has(methods(results), "latency (one way) as the grid says"));
  CHECK(has(methods(results), "The grid varies cluster.latency over 1ms and 2ms."));
  results.runs.resize(1);
  CHECK(has(methods(results), "All numbers come from seed 1, so that their spread is unknown."));
}

TEST_CASE("seeds are a range, a list or a number of seeds") {
  const auto of = [](const std::vector<std::uint64_t>& seeds) {
    Results results = results_of({});
    for (const std::uint64_t seed : seeds) results.runs.push_back(with_seed(sample_run("a", 1, {1, 0, 0, 0}), seed));
    return seeds_text(results);
  };
  CHECK(of({}) == "no seed");
  CHECK(of({7}) == "seed 7");
  CHECK(of({3, 1, 2}) == "seeds 1 to 3");
  CHECK(of({1, 4, 9}) == "seeds 1, 4, 9");
  CHECK(of({1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21}) == "11 seeds from 1 to 21");
}

}  // namespace latex_test
