// Refusals of topologies, with their positions: what was given, and what would do.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/errors.h"
#include "catch.h"
#include "cluster/topologies/fat_tree.h"
#include "experiment/run/simulate.h"
#include "experiment/scenario.h"
#include "simulation.h"

namespace topology_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// `small` with that topology and strategy.
std::string text_of(const std::string& topology, const std::string& strategy) {
  std::string text = small + strategy;
  return text.insert(text.find("[data]"), "topology = " + topology + "\n");
}

/// The faults of such a scenario with so many workers instead of its four.
std::string faults_of(const std::string& topology, int workers = 4, const std::string& strategy = ring_allreduce) {
  const tests::Scratch scratch;
  try {
    make_plan(scratch.write("x.toml", text_of(topology, strategy)),
              {.sets = {"cluster.workers=" + std::to_string(workers)}});
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

void check_refused(const std::string& topology, int workers, const std::string& why,
                   const std::string& strategy = ring_allreduce) {
  const std::string text = faults_of(topology, workers, strategy);
  CAPTURE(topology, text);
  CHECK(text.find(why) != std::string::npos);
  CHECK(text.find("x.toml:4:") != std::string::npos);
}

}  // namespace

TEST_CASE("pods are refused whose devices, NICs or fabric contradict each other") {
  check_refused("\"pod\"", 20, "20 workers do not fill hosts of 8 devices; expected 16 or 24");
  check_refused("{ kind = \"pod\", devices = 4, nics = 8 }", 4, "8 NICs for 4 devices; expected at most one a device");
  check_refused("{ kind = \"pod\", oversubscription = 0.5 }", 4,
                "oversubscription must be from 1 to 1000000, found 0.5");
  check_refused("{ kind = \"pod\", rails = false, pxn = true }", 4, "pxn = true takes the receiver's rail, but rails");
  check_refused("{ kind = \"pod\", routing = \"spray\" }", 4, "destination, ecmp");
  CHECK(faults_of("\"pod\"", 1) == "accepted");
  CHECK(faults_of("{ kind = \"pod\", devices = 2, nics = 2 }") == "accepted");
  CHECK(faults_of("{ kind = \"pod\", devices = 2 }") == "accepted");  // with a NIC for each
  check_refused("{ kind = \"two_tier\", oversubscription = 0.5 }", 4,
                "oversubscription must be from 1 to 1000000, found 0.5");
}

TEST_CASE("slices of a torus are refused that do not fit into it, or do not hold the workers") {
  check_refused("{ kind = \"torus\", slice = [2, 2] }", 4,
                "slice is a box of a larger torus, but shape is not given; set shape, as in shape = [8, 8]");
  check_refused("{ kind = \"torus\", shape = [4, 4, 4], slice = [2, 2] }", 4,
                "slice = [2, 2] has 2 dimensions, but shape = [4, 4, 4] has 3; give as many");
  check_refused("{ kind = \"torus\", shape = [4, 1], slice = [2, 2] }", 4,
                "slice = [2, 2] does not fit into shape = [4, 1]: expected at most 1 in dimension 1");
  check_refused("{ kind = \"torus\", shape = [4, 4], slice = [2, 3] }", 4,
                "slice = [2, 3] has 6 hosts, but workers = 4; expected sides whose product is 4");
  check_refused("{ kind = \"torus\", shape = [4, 4], slice = [1.5, 2] }", 4, "expected whole numbers");
  CHECK(faults_of("{ kind = \"torus\", shape = [4, 4], slice = [2, 2] }") == "accepted");
  // One fault, though it has too few hosts for all ranks, too.
  CHECK_THAT(
      faults_of("{ kind = \"torus\", shape = [4, 4], slice = [1, 2] }"),
      ContainsSubstring("slice = [1, 2] has 2 hosts, but workers = 4") && !ContainsSubstring("servers included"));
}

TEST_CASE("a torus is refused that is smaller than the cluster, and a slice beside servers of their own") {
  check_refused("{ kind = \"torus\", shape = [2, 2] }", 5,
                "shape = [2, 2] has 4 hosts, but the ranks (servers included) are 5; expected sides whose product is "
                "at least 5, as in "
                "[3, 2]");
  CHECK(faults_of("{ kind = \"torus\", shape = [2, 3] }", 5) == "accepted");  // with a note
  const std::string slice = "{ kind = \"torus\", shape = [4, 4], slice = [2, 2] }";
  const std::string server = "[[strategy]]\nkind = \"parameter_server\"\n";
  check_refused(slice, 4,
                "slice = [2, 2] has 4 hosts, but the ranks (servers included) are 5; a slice has its workers alone, so "
                "place servers on their hosts (placement = \"colocated\"), or leave slice out",
                server);
  CHECK(faults_of(slice, 4, server + "placement = \"colocated\"\n") == "accepted");
  CHECK(faults_of("{ kind = \"torus\", shape = [4, 4] }", 4, server) == "accepted");
}

TEST_CASE("the room that a torus or a pod leaves empty is a note of the run, and a full one has none") {
  const auto note = [](const std::string& topology, int workers) {
    return tests::text_of_child([&] {
      const Plan plan =
          planned(text_of(topology, ring_allreduce), {.sets = {fmt::format("cluster.workers={}", workers)}});
      const record::Record record = simulate(plan.runs.front(), load_data(plan.runs.front()), 0, nullptr);
      std::string all;
      for (const std::string& each : record.notes)
        if (each.find("collectives were") == std::string::npos) all += each;
      return all;
    });
  };
  // The default torus of 5 hosts is 3 x 2.
  CHECK(note("\"torus\"", 5) == "the torus has 6 nodes for 5 hosts; nodes without a host only forward messages");
  CHECK(note("{ kind = \"torus\", shape = [3, 3, 2] }", 4) ==
        "the torus has 18 nodes for 4 hosts; nodes without a host only forward messages");
  CHECK(note("\"torus\"", 4) == "");
  CHECK(note("{ kind = \"torus\", shape = [4, 4], slice = [2, 2] }", 4) == "");
  CHECK(note("\"pod\"", 4) == "the GPU host has 8 devices for 4 workers; the others are idle");
  CHECK(note("\"pod\"", 8) == "");
  const std::string groups = "{ kind = \"pod\", devices = 2, nics = 1, hosts_per_group = 2 }";
  CHECK(note(groups, 6) == "the last group has 1 of 2 hosts, and the spine links of a full group");
  CHECK(note(groups, 8) == "");
  CHECK(note(groups, 2) == "");  // one group, hence no spine
}

TEST_CASE("the note on ways of a fat tree by ecmp counts the pairs that share a link, recomputed from its paths") {
  // Recursive doubling of eight workers on a tree of 4 ports: rank r exchanges with r xor 1, 2 and 4.
  constexpr int workers = 8;
  cluster::FatTree tree;
  tree.k = 4;
  tree.routing = cluster::Routing::ecmp;
  const cluster::Blueprint blueprint{.host_spec = {}, .hosts = workers, .workers = workers};
  std::map<std::pair<int, int>, int> pairs_on;  // by the two ends of a link between switches
  std::vector<std::vector<std::pair<int, int>>> chosen;
  for (int rank = 0; rank < workers; ++rank)
    for (const int other : {rank ^ 1, rank ^ 2, rank ^ 4}) {
      const std::vector<int> path = tree.path(blueprint, rank, other);
      std::vector<std::pair<int, int>> links;
      for (std::size_t i = 2; i + 1 < path.size(); ++i) links.emplace_back(path[i - 1], path[i]);
      for (const auto& link : links) ++pairs_on[link];
      if (!links.empty()) chosen.push_back(links);
    }
  const auto meet = std::ranges::count_if(chosen, [&](const auto& links) {
    return std::ranges::any_of(links, [&](const auto& link) { return pairs_on[link] > 1; });
  });
  CHECK(chosen.size() == 16);  // ranks r and r xor 1 hang on one edge switch
  CHECK(meet > 0);
  const std::string notes = tests::text_of_child([&] {
    const Plan plan = planned(text_of("{ kind = \"fat_tree\", k = 4, routing = \"ecmp\" }",
                                      plain_allreduce + "algorithm = \"recursive_doubling\"\n"),
                              {.sets = {"cluster.workers=8"}});
    std::string all;
    for (const std::string& each : simulate(plan.runs.front(), load_data(plan.runs.front()), 0, nullptr).notes)
      all += each + "\n";
    return all;
  });
  CAPTURE(notes, meet);
  CHECK(notes.find(fmt::format("{} of {} pairs of hosts share a link between switches with another pair (routing = "
                               "\"ecmp\")\n",
                               meet, chosen.size())) != std::string::npos);
}

TEST_CASE("more hosts than a run has are refused, and a fat tree of too many ports") {
  check_refused("{ kind = \"fat_tree\", k = 84 }", 4, "k must be from 2 to 82, found 84");
  CHECK(faults_of("\"ring\"", 131'073).find("workers must be from 1 to 131072, found 131073") != std::string::npos);
}

}  // namespace topology_refusals_test
