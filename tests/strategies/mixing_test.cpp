// Mixing matrices and their spectra.
#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <numeric>

#include "catch.h"
#include "scratch.h"
#include "strategies/gossip/graphs/powers.h"
#include "strategies/gossip/mixing/matrix.h"
#include "strategies/gossip/mixing/matrix_file.h"
#include "strategies/gossip/mixing/spectrum.h"

namespace mixing_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::strategies;

namespace {

std::vector<int> everybody(int P) {
  std::vector<int> all(static_cast<std::size_t>(P));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

MixingMatrix mixed(std::string_view rule, const Adjacency& edges) {
  return mixings().find(rule)->make()->matrix(edges, everybody(static_cast<int>(edges.size())));
}
MixingMatrix mixed(std::string_view rule, std::string_view graph, int P) {
  return mixed(rule, graphs().find(graph)->make()->edges(P, 3));
}

Eigen::MatrixXd dense(const MixingMatrix& W) {
  Eigen::MatrixXd full(W.size(), W.size());
  for (int i = 0; i < W.size(); ++i)
    for (int j = 0; j < W.size(); ++j) full(i, j) = W.entry(i, j);
  return full;
}

constexpr auto drawn_from_nothing = {"ring",     "path",      "star",        "complete",       "grid_2d",
                                     "torus_2d", "hypercube", "exponential", "random_regular", "erdos_renyi"};

template <class Check>
void on_every_graph(Check check) {
  for (const std::string graph : drawn_from_nothing)
    for (int P = 1; P <= 16; ++P) {
      if (!graphs().find(graph)->make()->refusal(P).empty()) continue;
      CAPTURE(graph, P);
      check(graph, P);
    }
}

double gap(std::string_view graph, int P, std::string_view rule = "metropolis") {
  return *spectral_gap(mixed(rule, graph, P));
}

MatrixFile matrix_file(const Scratch& scratch, const std::string& text) {
  MatrixFile file;
  file.path = scratch.write("W.csv", text);
  return file;
}

std::string refusal(const Scratch& scratch, const std::string& text, std::string_view graph = "ring") {
  const std::string said = matrix_file(scratch, text).refusal(graphs().find(graph)->make()->edges(3, 1));
  const auto from = said.find("W.csv");
  return from == std::string::npos ? said : said.substr(from);
}

}  // namespace

TEST_CASE("metropolis and max_degree are not negative, symmetric, and rows sum to one on every graph") {
  for (const std::string rule : {"metropolis", "max_degree"})
    on_every_graph([&](const std::string& graph, int P) {
      const MixingMatrix made = mixed(rule, graph, P);
      const Eigen::MatrixXd W = dense(made);
      CHECK(W.minCoeff() >= -1e-15);
      CHECK((W - W.transpose()).cwiseAbs().maxCoeff() < 1e-15);
      CHECK((W.rowwise().sum() - Eigen::VectorXd::Ones(P)).cwiseAbs().maxCoeff() < 1e-15);
      CHECK((made.symmetric() && made.doubly_stochastic()));
    });
}

TEST_CASE("mixing weights are the papers': a star of four, where degrees differ") {
  const MixingMatrix metropolis = mixed("metropolis", "star", 4), most = mixed("max_degree", "star", 4),
                     uniform = mixed("uniform", "star", 4);
  for (const MixingMatrix& W : {metropolis, most}) {
    CHECK(W.entry(0, 1) == 0.25);
    CHECK(W.entry(1, 0) == 0.25);
    CHECK(W.entry(1, 1) == 0.75);
    CHECK(W.entry(1, 2) == 0.0);
  }
  CHECK(uniform.entry(0, 3) == 0.25);
  CHECK(uniform.entry(3, 0) == 0.5);
  CHECK(uniform.entry(3, 3) == 0.5);
  CHECK(!uniform.doubly_stochastic());
  const MixingMatrix path = mixed("max_degree", "path", 4);
  CHECK(path.entry(0, 1) == 1.0 / 3.0);
  CHECK(path.entry(0, 0) == Approx(2.0 / 3.0).epsilon(1e-15));
}

TEST_CASE("on regular graphs all three rules give one matrix, bit for bit") {
  for (const std::string graph : {"ring", "complete", "torus_2d", "hypercube", "exponential", "random_regular"}) {
    const MixingMatrix W = mixed("metropolis", graph, 16);
    for (const std::string rule : {"uniform", "max_degree"}) {
      const MixingMatrix other = mixed(rule, graph, 16);
      CAPTURE(graph, rule);
      for (int i = 0; i < 16; ++i) {
        CHECK(other.rows[static_cast<std::size_t>(i)].weights == W.rows[static_cast<std::size_t>(i)].weights);
        for (const double weight : other.rows[static_cast<std::size_t>(i)].weights) CHECK(weight == W.entry(0, 0));
      }
    }
  }
}

TEST_CASE("mixing preserves the mean by metropolis and max_degree") {
  for (const std::string rule : {"metropolis", "max_degree"})
    on_every_graph([&](const std::string& graph, int P) {
      const Eigen::MatrixXd W = dense(mixed(rule, graph, P));
      Eigen::VectorXd x(P);
      for (int i = 0; i < P; ++i) x(i) = 1.0 / (3.0 + i);
      const double mean = x.mean();
      for (int round = 0; round < 50; ++round) x = W * x;
      CHECK(x.mean() == Approx(mean).epsilon(1e-12));
    });
}

TEST_CASE("spectral gaps are the closed forms") {
  using std::numbers::pi;
  for (int P = 4; P <= 33; ++P) {
    CAPTURE(P);
    CHECK(gap("ring", P) == Approx(1.0 - (1.0 + 2.0 * std::cos(2.0 * pi / P)) / 3.0).epsilon(1e-9));
    CHECK(gap("path", P) == Approx(2.0 / 3.0 * (1.0 - std::cos(pi / P))).epsilon(1e-9));
    CHECK(gap("complete", P) == Approx(1.0).epsilon(1e-9));
    CHECK(gap("star", P) == Approx(1.0 / P).epsilon(1e-9));
    Exponential directed;
    directed.one_way = true;
    if (P % 2 == 0)
      CHECK(*spectral_gap(mixed("uniform", directed.edges(P, 1))) ==
            Approx(2.0 / (1.0 + std::ceil(std::log2(P)))).epsilon(1e-9));
  }
  for (const int k : {1, 2, 3, 4, 5}) CHECK(gap("hypercube", 1 << k) == Approx(2.0 / (k + 1.0)).epsilon(1e-9));
  for (const auto& [P, longer] :
       {std::pair(16, 4), std::pair(12, 4), std::pair(15, 5), std::pair(36, 6), std::pair(24, 6)})
    CHECK(gap("torus_2d", P) == Approx(1.0 - (3.0 + 2.0 * std::cos(2.0 * pi / longer)) / 5.0).epsilon(1e-9));
}

TEST_CASE("where a graph knows its extreme eigenvalues in closed form they are those of the matrix") {
  int known = 0;
  for (const auto& entry : graphs().entries())
    for (int P = 2; P <= 36; ++P) {
      const auto graph = entry.make();
      if (graph->of_named_ranks() || !graph->refusal(P).empty()) continue;
      const auto closed = graph->metropolis_extremes(P);
      if (!closed) continue;
      const MixingMatrix W = mixed("metropolis", entry.about.kind, P);
      CAPTURE(entry.about.kind, P);
      CHECK(std::min(closed->below_one, 1.0 - std::abs(closed->least)) ==
            Approx(*spectral_gap(W)).epsilon(1e-11).margin(1e-13));
      CHECK(closed->least == Approx(*spectrum(W)->least).margin(1e-12));
      CHECK(closed->below_one / 2.0 == Approx(*spectral_gap(W.lazy())).margin(1e-12));
      ++known;
    }
  CHECK(known > 4 * 35);
}

TEST_CASE("a gap that iteration does not come to is not known, and the least eigenvalue of a large matrix neither") {
  CHECK(!spectral_gap(mixed("metropolis", "path", 1000)));
  CHECK(!spectrum(mixed("metropolis", "hypercube", 1024))->least);
}

TEST_CASE("the gap of a thousand ranks, by iteration, is the closed form to a millionth") {
  CHECK(gap("hypercube", 1024) == Approx(2.0 / 11.0).epsilon(1e-6));
  const double torus = 1.0 - (3.0 + 2.0 * std::cos(2.0 * std::numbers::pi / 32)) / 5.0;
  CHECK(gap("torus_2d", 1024) == Approx(torus).epsilon(1e-6));
}

TEST_CASE("the second eigenvalue may be a negative one, or not real") {
  MixingMatrix swapping;  // eigenvalues 1 and -1/2
  swapping.rows = {{{1}, {0.25, 0.75}, {1}}, {{0}, {0.75, 0.25}, {0}}};
  CHECK(*spectral_gap(swapping) == Approx(0.5).epsilon(1e-12));
  // One way around a ring: (1 + e^(2 pi i k / P)) / 2, whose modulus is cos(pi k / P).
  for (const int P : {3, 4, 7}) {
    Adjacency around;
    for (int i = 0; i < P; ++i) around.push_back({(i + 1) % P});
    CHECK(*spectral_gap(mixed("uniform", around)) == Approx(1.0 - std::cos(std::numbers::pi / P)).epsilon(1e-9));
  }
}

TEST_CASE("a graph in several parts has no gap") {
  CHECK(*spectral_gap(mixed("metropolis", Adjacency{{1}, {0}, {3}, {2}})) == 0.0);
  CHECK(*spectral_gap(mixed("metropolis", Adjacency(3))) == 0.0);
}

TEST_CASE(
    "matrices that take turns: one-peer exponential averages exactly after all of them, one matrix is its own gap") {
  for (const int P : {2, 4, 8, 16}) {
    std::vector<MixingMatrix> turns;
    for (int hop = 1; hop < P; hop *= 2) {
      Adjacency edges(static_cast<std::size_t>(P));
      for (int i = 0; i < P; ++i) edges[static_cast<std::size_t>(i)] = {(i + P - hop) % P};
      turns.push_back(mixed("uniform", edges));
    }
    CAPTURE(P);
    CHECK(*spectral_gap_of_turns(turns) == 1.0);
    const std::vector<MixingMatrix> one = {turns.front()}, twice = {turns.front(), turns.front()};
    CHECK(*spectral_gap_of_turns(one) == Approx(*spectral_gap(turns.front())).margin(1e-12));
    CHECK(*spectral_gap_of_turns(twice) == Approx(*spectral_gap(turns.front())).margin(1e-12));
  }
}

TEST_CASE(
    "averages in random pairs: on a complete graph lambda = 1 - 1 / (P - 1), on a ring 1 - (1 - cos(2 pi / P)) / P") {
  using std::numbers::pi;
  const auto of_pairs = [](std::string_view graph, int P) {
    return *spectral_gap_of_pairs(graphs().find(graph)->make()->edges(P, 1));
  };
  CHECK(of_pairs("complete", 2) == Approx(1.0));
  for (int P = 3; P <= 20; ++P) {
    CAPTURE(P);
    CHECK(of_pairs("complete", P) == Approx(1.0 - std::pow(1.0 - 1.0 / (P - 1.0), P / 2.0)).epsilon(1e-9));
    CHECK(of_pairs("ring", P) ==
          Approx(1.0 - std::pow(1.0 - (1.0 - std::cos(2.0 * pi / P)) / P, P / 2.0)).epsilon(1e-9));
  }
}

TEST_CASE("lazy mixing is (I + W) / 2, without negative eigenvalues") {
  const MixingMatrix W = mixed("metropolis", "ring", 6), half = W.lazy();
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      CHECK(half.entry(i, j) == Approx(((i == j ? 1.0 : 0.0) + W.entry(i, j)) / 2.0).epsilon(1e-15));
  CHECK(*spectrum(W)->least == Approx(-1.0 / 3.0).epsilon(1e-12));
  CHECK(*spectrum(half)->least == Approx(1.0 / 3.0).epsilon(1e-12));
}

TEST_CASE("a matrix file is read in commas or blanks, and its support is a graph") {
  const Scratch scratch;
  const std::string text = "# rows of ranks 0, 1, 2\n0.5, 0.5, 0\n0.25 0.5 0.25\n0,0.5,0.5\n";
  const MatrixFile file = matrix_file(scratch, text);
  const Adjacency support = *file.support(3);
  CHECK(support == Adjacency{{1}, {0, 2}, {1}});
  CHECK(file.refusal(support).empty());
  const MixingMatrix W = file.matrix(support, everybody(3));
  CHECK(dense(W) == (Eigen::Matrix3d() << 0.5, 0.5, 0, 0.25, 0.5, 0.25, 0, 0.5, 0.5).finished());
  CHECK(!W.doubly_stochastic());
  // Without rank 1 the others keep themselves alone.
  const MixingMatrix rest = file.matrix(restricted(support, std::vector{0, 2}), std::vector{0, 2});
  CHECK(dense(rest) == Eigen::Matrix2d::Identity());
}

TEST_CASE("a matrix file of the wrong size, sums, places or numbers is refused, and says which row") {
  const Scratch scratch;
  CHECK(refusal(scratch, "1 0\n0 1\n") ==
        "W.csv:1: a mixing matrix of 2 rows for 3 workers; expected a row for each of the ranks 0 to 2");
  CHECK(refusal(scratch, "1 0 0\n0 1 0\n0 0 1\n\n0 0 1\n") ==
        "W.csv:5: a mixing matrix of 4 rows for 3 workers; expected a row for each of the ranks 0 to 2");
  CHECK(refusal(scratch, "1 0 0\n0 1\n0 0 1\n") ==
        "W.csv:2: row 1 of the mixing matrix has 2 entries; expected 3, one for each worker");
  CHECK(refusal(scratch, "1 0 0\n0 1 0\n0 0.25 0.5\n") ==
        "W.csv:3: row 2 of the mixing matrix sums to 0.75; expected 1, for it is an average");
  CHECK(refusal(scratch, "1 0 0\n0, x, 0\n0 0 1\n") == "W.csv:2:4: found \"x\", expected a finite number");
  CHECK(refusal(scratch, "1 0 0\n0 nan 0\n0 0 1\n") == "W.csv:2:3: found \"nan\", expected a finite number");
  for (const std::string row : {"1,,0", ",1,0", "1,0,", "1, ,0"})
    CHECK(refusal(scratch, "0 1 0\n" + row + ",0\n0 0 1\n").find("empty entry") != std::string::npos);
  CHECK(refusal(scratch, "0 1 0\n1,,0\n0 0 1\n") ==
        "W.csv:2:2: found an empty entry between commas; expected a finite number");
  CHECK(refusal(scratch, "0.5 0 0.5\n0 1 0\n0.5 0 0.5\n", "path") ==
        "W.csv:1: row 0 has 0.5 for rank 2, from whom the graph has no edge to rank 0; expected 0, or graph = "
        "\"support\", which "
        "is that of the matrix");
}

TEST_CASE("weights of those that are left sum to one, and count equally where all of them are 0") {
  std::vector<double> some{0.25, 0.5}, none{0.0, 0.0};
  normalize(some);
  normalize(none);
  CHECK(some[1] == Approx(2.0 / 3.0).epsilon(1e-15));
  CHECK(none == std::vector{0.5, 0.5});
}

TEST_CASE("metropolis weights are refused where edges lead one way and degrees differ") {
  CHECK(!mixings().find("metropolis")->make()->refusal(Adjacency{{1}, {0, 2}, {0}}).empty());
  CHECK(mixings().find("metropolis")->make()->refusal(Adjacency{{1}, {2}, {0}}).empty());
}

}  // namespace mixing_test
