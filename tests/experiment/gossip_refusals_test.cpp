// Refusals of gossip: graphs and mixing matrices contradict each other, the workers, the files they name.
#include "experiment/refused.h"
#include "scratch.h"

namespace gossip_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;
using simgrad::tests::Scratch;

namespace {

/// `small` has 4 workers.
void check_refused(const std::string& strategy, const std::string& why) {
  check_refused_text(small + "[[strategy]]\n" + strategy, why);
}

void check_accepted(const std::string& strategy) {
  CAPTURE(strategy);
  CHECK(planned(small + "[[strategy]]\n" + strategy).runs.size() == 1);
}

}  // namespace

TEST_CASE("graphs that four workers do not make are refused, in every strategy that has one") {
  for (const std::string kind : {"gossip", "d2", "gradient_tracking", "sgp", "ad_psgd"}) {
    const std::string strategy = "kind = \"" + kind + "\"\n";
    check_refused(strategy + "graph = { kind = \"grid_2d\", rows = 3 }\n", "rows = 3 does not divide 4 workers");
    check_refused(strategy + "graph = { kind = \"random_regular\", degree = 4 }\n",
                  "degree = 4 on 4 workers; expected at most 3");
    check_refused(strategy + "graph = { kind = \"file\" }\n", "reads edges from a file; give path");
    check_accepted(strategy + "graph = { kind = \"random_regular\", degree = 2 }\n");
    check_accepted(strategy + "graph = \"hypercube\"\n");
  }
  check_refused("kind = \"gossip\"\ngraph = { kind = \"erdos_renyi\", probability = 1.5 }\n", "probability");
}

TEST_CASE("an edge list with an unknown rank is refused at the option, with the file's own place") {
  const Scratch scratch;
  const std::string file = scratch.write("edges.txt", "0 1\n1 7\n");
  check_refused("kind = \"gossip\"\ngraph = { kind = \"file\", path = \"" + file + "\" }\n",
                "edges.txt:2:3: rank 7, but there are 4 workers; expected 0 to 3");
}

TEST_CASE("a mixing matrix is refused for its size, a row's sum, and entries without an edge") {
  const Scratch scratch;
  const auto mixing = [&](const std::string& graph, const std::string& text) {
    return "kind = \"gossip\"\ngraph = \"" + graph + "\"\nmixing = { kind = \"file\", path = \"" +
           scratch.write("W.csv", text) + "\" }\n";
  };
  check_refused(mixing("ring", "1 0\n0 1\n"), "W.csv:1: a mixing matrix of 2 rows for 4 workers");
  check_refused(mixing("support", "1 0 0 0\n0 1 0 0\n0 0 0.5 0.4\n0 0 0 1\n"),
                "W.csv:3: row 2 of the mixing matrix sums to 0.9");
  const std::string across = "0.5 0 0.5 0\n0 1 0 0\n0.5 0 0.5 0\n0 0 0 1\n";
  check_refused(mixing("ring", across), "W.csv:1: row 0 has 0.5 for rank 2, from whom the graph has no edge");
  check_accepted(mixing("support", across));
  check_accepted(mixing("complete", across));
}

TEST_CASE("gossip with one peer refuses graphs without turns, weights of its own, and copies of all neighbours") {
  const std::string one_peer = "kind = \"gossip\"\none_peer = true\n";
  for (const char* graph : {"star", "path"})
    check_refused(one_peer + "graph = \"" + graph + "\"\n", "every rank must hear from exactly one other in each step");
  for (const char* graph : {"ring", "complete", "hypercube", "torus_2d", "exponential"})
    check_accepted(one_peer + "graph = \"" + graph + "\"\n");
  check_refused(one_peer + "mixing = \"uniform\"\n", "averages half and half with one rank a step");
  check_refused(one_peer + "lazy = true\n", "averages half and half with one rank a step");
  check_refused(one_peer + "compression = { kind = \"top_k\", k = 1 }\n",
                "copies that all neighbours hold at every step");
  check_accepted(one_peer + "compression = \"int8\"\n");
}

TEST_CASE("options of gossip that contradict each other are refused with both names") {
  check_refused("kind = \"gossip\"\ngraph = \"support\"\n",
                "graph = \"support\" is that of a matrix in a file, but mixing is");
  check_refused("kind = \"gossip\"\nupdate = \"adapt_then_combine\"\noverlap = true\n",
                "overlap = true sends the parameters before");
  check_refused("kind = \"d2\"\nlazy = false\n", "the least of these is -0.333333; set lazy = true");
  check_refused("kind = \"ad_psgd\"\ngraph = { kind = \"exponential\", directed = true }\n",
                "ad_psgd averages in pairs");
  check_accepted("kind = \"gossip\"\ngraph = { kind = \"exponential\", directed = true }\n");
  for (const std::string kind : {"sgp", "ad_psgd"})
    check_refused("kind = \"" + kind + "\"\ngraph = \"support\"\n", "but this strategy has no mixing matrix");
}

TEST_CASE("push-sum needs a way back for every way, and gossip says what a graph without one does") {
  const Scratch scratch;
  const std::string graph =
      "graph = { kind = \"file\", directed = true, path = \"" + scratch.write("e.txt", "0 1\n1 2\n2 3\n") + "\" }\n";
  check_refused("kind = \"sgp\"\n" + graph,
                "sgp needs a strongly connected graph: to some ranks there is no path back");
  check_accepted("kind = \"gossip\"\nmixing = \"uniform\"\n" + graph);
}

}  // namespace gossip_refusals_test
