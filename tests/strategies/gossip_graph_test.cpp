#include "strategies/gossip_graph.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "catch.h"

using namespace simgrad::strategies;

namespace {

/// The whole mixing matrix, from its rows.
Eigen::MatrixXd matrix(Graph graph, int P) {
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(P, P);
  for (int i = 0; i < P; ++i) {
    const Mixing row = mixing(graph, P, i);
    REQUIRE(row.weights.size() == row.neighbours.size() + 1);
    REQUIRE(std::is_sorted(row.neighbours.begin(), row.neighbours.end()));
    std::vector<int> group = row.neighbours;
    group.insert(std::lower_bound(group.begin(), group.end(), i), i);
    REQUIRE(std::adjacent_find(group.begin(), group.end()) == group.end());
    for (std::size_t k = 0; k < group.size(); ++k) W(i, group[k]) = row.weights[k];
  }
  return W;
}

constexpr auto graphs = {Graph::ring, Graph::complete, Graph::star};

}  // namespace

TEST_CASE("mixing weights are not negative, symmetric, and add up to one in every row") {
  for (const Graph graph : graphs)
    for (int P = 1; P <= 16; ++P) {
      const Eigen::MatrixXd W = matrix(graph, P);
      CAPTURE(static_cast<int>(graph), P);
      CHECK(W.minCoeff() >= 0.0);
      CHECK((W - W.transpose()).cwiseAbs().maxCoeff() < 1e-15);
      CHECK((W.rowwise().sum() - Eigen::VectorXd::Ones(P)).cwiseAbs().maxCoeff() < 1e-15);
    }
}

TEST_CASE("mixing weights are Metropolis': 1 / (1 + the larger degree)") {
  for (int P = 4; P <= 12; ++P) {
    const Eigen::MatrixXd ring = matrix(Graph::ring, P);
    const Eigen::MatrixXd complete = matrix(Graph::complete, P);
    const Eigen::MatrixXd star = matrix(Graph::star, P);
    for (int i = 0; i < P; ++i)
      for (int j = 0; j < P; ++j) {
        const int apart = std::min((i - j + P) % P, (j - i + P) % P);
        CHECK(ring(i, j) == (apart <= 1 ? 1.0 / 3.0 : 0.0));
        CHECK(complete(i, j) == 1.0 / P);
        const bool spoke = i != j && (i == 0 || j == 0);
        const double self = i == 0 ? 1.0 - (P - 1.0) / P : 1.0 - 1.0 / P;
        CHECK(star(i, j) == Approx(spoke ? 1.0 / P : i == j ? self : 0.0).margin(1e-15));
      }
  }
}

TEST_CASE("the spectral gap is that of the matrix") {
  for (const Graph graph : graphs)
    for (int P = 1; P <= 16; ++P) {
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix(graph, P));
      // Ascending: the last is 1; of the others the largest in size counts.
      const Eigen::VectorXd lambda = solver.eigenvalues();
      const double second = P == 1 ? 0.0 : std::max(std::abs(lambda(0)), std::abs(lambda(P - 2)));
      CAPTURE(static_cast<int>(graph), P);
      CHECK(lambda(P - 1) == Approx(1.0).epsilon(1e-14));
      CHECK(spectral_gap(graph, P) == Approx(1.0 - second).epsilon(1e-12).margin(1e-14));
    }
}

TEST_CASE("mixing preserves the mean") {
  for (const Graph graph : graphs)
    for (int P = 1; P <= 12; ++P) {
      const Eigen::MatrixXd W = matrix(graph, P);
      Eigen::VectorXd x(P);
      for (int i = 0; i < P; ++i) x(i) = 1.0 / (3.0 + i);
      const double mean = x.mean();
      for (int round = 0; round < 50; ++round) x = W * x;
      CHECK(x.mean() == Approx(mean).epsilon(1e-12));
    }
}
