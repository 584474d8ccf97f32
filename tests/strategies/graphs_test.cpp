// The edges of each graph, and the graphs that do not exist.
#include <algorithm>
#include <functional>

#include "base/errors.h"
#include "catch.h"
#include "scratch.h"
#include "strategies/gossip/graphs/edge_list.h"
#include "strategies/gossip/graphs/graph.h"
#include "strategies/gossip/graphs/grids.h"
#include "strategies/gossip/graphs/powers.h"
#include "strategies/gossip/graphs/random.h"

namespace graphs_test {

using namespace simgrad;
using namespace simgrad::tests;
using namespace simgrad::strategies;

namespace {

Adjacency made(std::string_view kind, int P, std::uint64_t seed = 1) {
  return graphs().find(kind)->make()->edges(P, seed);
}

void check_simple(const Adjacency& edges) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::vector<int> own = edges[i];
    std::ranges::sort(own);
    CHECK(std::ranges::adjacent_find(own) == own.end());
    for (const int j : own) {
      CHECK(j != static_cast<int>(i));
      REQUIRE((j >= 0 && j < static_cast<int>(edges.size())));
    }
  }
}

void check_both_ways(const Adjacency& edges) {
  const Adjacency from = sources(edges);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::vector<int> own = edges[i];
    std::ranges::sort(own);
    CHECK(own == from[i]);
  }
}

EdgeList edge_list(const Scratch& scratch, const std::string& text) {
  EdgeList list;
  list.path = scratch.write("edges.txt", text);
  return list;
}

std::string refusal(const Scratch& scratch, const std::string& text, int P = 4) {
  const std::string said = edge_list(scratch, text).refusal(P);
  const auto from = said.find("edges.txt");
  return from == std::string::npos ? said : said.substr(from);
}

}  // namespace

TEST_CASE("graphs have no loops and no double edges, and lead both ways, on every number of ranks that they allow") {
  for (const auto& entry : graphs().entries())
    for (int P = 1; P <= 17; ++P) {
      const auto graph = entry.make();
      if (entry.about.kind == "file" || !graph->refusal(P).empty()) continue;
      CAPTURE(entry.about.kind, P);
      const Adjacency edges = graph->edges(P, 3);
      REQUIRE(edges.size() == static_cast<std::size_t>(P));
      check_simple(edges);
      check_both_ways(edges);
      if (entry.about.kind != "erdos_renyi" && entry.about.kind != "support" && entry.about.kind != "random_regular")
        CHECK(components(edges) == std::vector{P});
    }
}

TEST_CASE("the neighbours of small graphs are the textbook's") {
  CHECK(made("ring", 4) == Adjacency{{1, 3}, {2, 0}, {3, 1}, {0, 2}});
  CHECK(made("path", 3) == Adjacency{{1}, {0, 2}, {1}});
  CHECK(made("star", 3) == Adjacency{{1, 2}, {0}, {0}});
  CHECK(made("complete", 3) == Adjacency{{1, 2}, {2, 0}, {0, 1}});
  CHECK(made("grid_2d", 6) == Adjacency{{1, 3}, {0, 2, 4}, {1, 5}, {0, 4}, {1, 3, 5}, {2, 4}});
  CHECK(made("torus_2d", 9)[0] == std::vector{6, 2, 1, 3});
  CHECK(made("torus_2d", 9)[4] == std::vector{1, 3, 5, 7});
  CHECK(made("torus_2d", 6)[0] == std::vector{3, 2, 1});  // two rows: above is below
  CHECK(made("hypercube", 8)[5] == std::vector{4, 7, 1});
  CHECK(made("exponential", 8)[0] == std::vector{1, 7, 2, 6, 4});
  Exponential directed;
  directed.one_way = true;
  CHECK(directed.edges(6, 1)[3] == std::vector{4, 5, 1});
  Grid2d wide;
  wide.rows = 2;
  CHECK(wide.edges(8, 1)[1] == std::vector{0, 2, 5});
}

TEST_CASE("the torus of 12 ranks is the most square one, three rows of four") {
  const Adjacency edges = made("torus_2d", 12);
  CHECK(edges[0] == std::vector{8, 3, 1, 4});
  for (const auto& own : edges) CHECK(own.size() == 4);
}

TEST_CASE("every rank of a random regular graph has the degree asked for, and the seed decides which neighbours") {
  for (const int P : {4, 7, 12, 40})
    for (int degree = 1; degree < P; ++degree) {
      RandomRegular graph;
      graph.degree = degree;
      if (degree * P % 2 == 1) {
        CHECK(graph.refusal(P).find("must be even") != std::string::npos);
        continue;
      }
      const Adjacency edges = graph.edges(P, 5);
      check_simple(edges);
      check_both_ways(edges);
      for (const auto& own : edges) CHECK(own.size() == static_cast<std::size_t>(degree));
    }
  CHECK(made("random_regular", 40, 1) == made("random_regular", 40, 1));
  CHECK(made("random_regular", 40, 1) != made("random_regular", 40, 2));
}

TEST_CASE("an Erdos-Renyi graph has about p P (P - 1) / 2 edges, none at 0 and all at 1") {
  ErdosRenyi graph;
  for (const double p : {0.0, 0.2, 0.5, 1.0}) {
    graph.probability = p;
    double edges = 0.0;
    constexpr int P = 60, times = 20;
    for (int seed = 0; seed < times; ++seed)
      for (const auto& own : graph.edges(P, static_cast<std::uint64_t>(seed)))
        edges += static_cast<double>(own.size()) / 2.0;
    const double pairs = times * P * (P - 1) / 2.0;
    CHECK(std::abs(edges - p * pairs) <= 5.0 * std::sqrt(pairs * p * (1.0 - p)));
  }
}

TEST_CASE("a graph that its number of ranks does not allow is refused with a way out") {
  CHECK(Hypercube().refusal(6) == "a hypercube has 2^k ranks, but there are 6 workers; take 4 or 8, or another graph");
  CHECK(Hypercube().refusal(8).empty());
  RandomRegular regular;
  regular.degree = 6;
  CHECK(regular.refusal(6) == "degree = 6 on 6 workers; expected at most 5, all others");
  Torus2d torus;
  torus.rows = 4;
  CHECK(torus.refusal(6) == "rows = 4 does not divide 6 workers; give a divisor, or leave rows out");
  for (const auto& entry : graphs().entries()) CHECK(entry.make()->refusal(1).empty());
}

TEST_CASE("an edge list is read with its comments, and an edge that is written twice is one") {
  const Scratch scratch;
  EdgeList list = edge_list(scratch, "# two pairs\r\n0 1\n\n 3\t2  # the other\n1 0\n");
  CHECK(list.edges(4, 1) == Adjacency{{1}, {0}, {3}, {2}});
  CHECK(components(list.edges(4, 1)) == std::vector{2, 2});
  list.one_way = true;
  CHECK(list.edges(4, 1) == Adjacency{{1}, {0}, {}, {2}});
}

TEST_CASE("an edge list with unknown ranks, loops or other text is refused at file, line and column") {
  const Scratch scratch;
  CHECK(refusal(scratch, "0 1\n2 4\n") == "edges.txt:2:3: rank 4, but there are 4 workers; expected 0 to 3");
  CHECK(refusal(scratch, "0 -1\n") == "edges.txt:1:3: rank -1, but there are 4 workers; expected 0 to 3");
  CHECK(refusal(scratch, "0 99999999999\n") ==
        "edges.txt:1:3: rank 99999999999, but there are 4 workers; expected 0 to 3");
  CHECK(refusal(scratch, "\n2  2\n") ==
        "edges.txt:2:4: an edge from rank 2 to itself; every rank is joined to itself anyway");
  CHECK(refusal(scratch, "0 one\n") == "edges.txt:1:3: \"one\" is no rank; expected two whole numbers a line");
  CHECK(refusal(scratch, "0 1.5\n") == "edges.txt:1:3: \"1.5\" is no rank; expected two whole numbers a line");
  CHECK(refusal(scratch, "0 1\n3\n") == "edges.txt:2:1: one rank, \"3\", in the line; expected two");
  CHECK(refusal(scratch, "0 1 0.5\n") == "edges.txt:1:5: found \"0.5\" after two ranks; weights are the mixing's");
  CHECK(refusal(scratch, "").empty());  // no edges: everybody alone
  CHECK_THROWS_AS(edge_list(scratch, std::string("0 1\0", 4)).edges(4, 1), base::ScenarioError);
}

TEST_CASE("parts within which everybody reaches everybody are counted along the edges") {
  CHECK(strong_components({{1}, {2}, {0}}) == 1);
  CHECK(strong_components({{1}, {2}, {}}) == 3);
  CHECK(strong_components({{1}, {0, 2}, {3}, {2}}) == 2);
  CHECK(strong_components({{}, {2}, {1, 0}}) == 2);
  CHECK(strong_components(Adjacency(4)) == 4);
  CHECK(strong_components(graphs().find("path")->make()->edges(2000, 1)) == 1);
}

TEST_CASE("what the loss of ranks leaves of a graph is numbered anew") {
  CHECK(restricted(made("ring", 5), std::vector{0, 2, 3, 4}) == Adjacency{{3}, {2}, {3, 1}, {0, 2}});
  CHECK(components(restricted(made("star", 4), std::vector{1, 2, 3})) == std::vector{1, 1, 1});
}

}  // namespace graphs_test
