// cluster.collectives: a word, or a table with a file of measured times, which is checked before anything runs.
#include "experiment/refused.h"

namespace collectives_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// The plan of the small scenario with these lines in [cluster], beside such a file "t.csv".
Plan planned_with(const std::string& lines, const std::string& file) {
  const tests::Scratch scratch;
  scratch.write("t.csv", file);
  return make_plan(
      scratch.write("x.toml", "[cluster]\n" + lines + small.substr(small.find("workers")) + ring_allreduce), {});
}

const std::string measured = "ranks,bytes,seconds\n4,32,0.001\n";

std::string told(const std::string& lines, const std::string& file) {
  try {
    planned_with(lines, file);
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("cluster.collectives is a word or a table with measured times") {
  for (const std::string lines : {"collectives = \"messages\"\n", "collectives.measured = \"t.csv\"\n",
                                  "collectives = { kind = \"messages\", measured = \"t.csv\" }\n",
                                  "collectives = { measured = \"t.csv\", ranks = 4 }\n"})
    CHECK(told(lines, measured) == "accepted");
  CHECK(told("collectives = \"massages\"\n", measured).find("did you mean \"messages\"?") != std::string::npos);
  CHECK(told("collectives = { ranks = 4 }\n", measured).find("give \"measured\", or leave it out") !=
        std::string::npos);
}

TEST_CASE("a run with measured times is known by the file's contents") {
  const auto id = [](const std::string& lines, const std::string& file) {
    return planned_with(lines, file).runs.at(0).id;
  };
  const std::string lines = "collectives.measured = \"t.csv\"\n";
  CHECK(id(lines, measured) == id(lines, measured));
  CHECK(id(lines, measured) != id(lines, "ranks,bytes,seconds\n4,32,0.002\n"));
  CHECK(id(lines, measured) != id("", measured));
  CHECK(id("collectives = \"auto\"\n", measured) == id("", measured));
}

TEST_CASE("faults of a measured file are told with its line, and failures are refused beside it") {
  const std::string lines = "collectives.measured = \"t.csv\"\n";
  CHECK(told(lines, measured + "4,16,0.001\n").find("t.csv:3: 16 bytes after 32 bytes") != std::string::npos);
  CHECK(told(lines + "failures.crash = [ { rank = 1, at = \"1s\" } ]\n", measured)
            .find("ranks are lost under \"failures\"") != std::string::npos);
  CHECK(told(lines + "link_bins = 10\n", measured).find("leave one of them out") != std::string::npos);
}

TEST_CASE("rings in slices and overlapping trees are refused where options disturb messages, rings in rounds are not") {
  const auto with = [](const std::string& algorithm, const std::string& cluster = "") {
    return "[cluster]\n" + cluster + small.substr(small.find("workers")) + plain_allreduce +
           "algorithm = " + algorithm + "\n";
  };
  const std::string rings = "{ kind = \"ring\", slices = 2, rings = 4 }";
  const std::string trees = "{ kind = \"double_binary_tree\", overlap = true }";
  CHECK_NOTHROW(planned(with(rings)));
  CHECK_NOTHROW(planned(with(trees)));
  CHECK_NOTHROW(planned(with("{ kind = \"ring\", rings = 4 }", "network_model = \"tcp\"\n")));
  check_refused_text(with(rings, "network_model = \"tcp\"\n"),
                     "rings = 4 is computed from the routes of its transfers");
  check_refused_text(with(trees, "link_bins = 4\n"),
                     "overlap = true is computed from the routes of its transfers, which "
                     "cluster.link_bins disturbs");
  check_refused_text(with("{ kind = \"nccl\", rings = 2 }", "jitter = \"log_normal\"\n"), "cluster.jitter disturbs");
  check_refused_text(with("{ kind = \"ring\", slices = 65 }"), "slices");
}

}  // namespace collectives_refusals_test
