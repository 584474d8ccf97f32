// Refusals of failures, with their positions.
#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"

namespace failures_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

const std::string server = "[[strategy]]\nkind = \"parameter_server\"\n";
const std::string asp =
    "[[strategy]]\nkind = \"parameter_server\"\nlabel = \"asp\"\nconsistency = \"asp\"\nrecovery = \"continue\"\n";

/// The faults of `small` with those strategies and settings.
std::string faults_of(const std::string& strategies, const Selection& selection, const tests::Scratch& scratch = {}) {
  try {
    make_plan(scratch.write("x.toml", small + strategies), selection);
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return "accepted";
}

bool says(const std::string& text, const std::string& what) {
  UNSCOPED_INFO(text);
  return text.find(what) != std::string::npos;
}

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

const std::string crash = "cluster.failures.crash=[{rank=1,at=\"1s\"},{rank=2,at=\"2s\"}]";

}  // namespace

TEST_CASE("a trace in which a host is down for good suits no strategy that waits for it") {
  const tests::Scratch scratch;
  scratch.write("tr.csv", "host,down_at,up_at\n1,0.02,0.03\n0,0.01,\n");
  const std::string trace = "cluster.failures.hosts={kind=\"trace\",path=\"" + scratch.path() + "/tr.csv\"}";
  CHECK(says(faults_of(ring_allreduce, {.sets = {trace}}, scratch),
             "recovery \"restart\" waits for host 0, which never comes back"));
  CHECK(faults_of(ring_allreduce, {.sets = {trace, "cluster.failures.recovery=shrink"}}, scratch) == "accepted");
  scratch.write("tr.csv", "host,down_at,up_at\n1,0.02,0.03\n3,0.01,\n");
  const std::string shrinking = ring_allreduce + "recovery = \"shrink\"\n";
  CHECK(faults_of(single + shrinking, {.sets = {trace}}, scratch) == "accepted");  // one worker alone has no host 3
}

TEST_CASE("waiting for a host that is never repaired is refused once, with the strategy's other recoveries") {
  const std::string text = faults_of(ring_allreduce, {.sets = {crash}});
  CHECK(says(text, "give every crash a \"repair\" time, or let allreduce recover by \"shrink\" or \"elastic\""));
  CHECK(count(text, "never repaired") == 1);
  CHECK_FALSE(says(faults_of(single, {.sets = {crash}}), "shrink"));
  CHECK(says(faults_of(ring_allreduce, {.sets = {"cluster.failures.crash=[{rank=7,at=\"1s\",repair=\"1s\"}]"}}),
             "--set cluster.failures.crash=[{rank=7,at=\"1s\",repair=\"1s\"}]: a crash of rank 7, but the workers are "
             "ranks 0 to 3"));
}

TEST_CASE("a strategy that does not run is not asked how it recovers") {
  CHECK(says(faults_of(ring_allreduce + asp, {.sets = {crash}}), "let allreduce recover"));
  CHECK(faults_of(ring_allreduce + asp, {.sets = {crash}, .strategies = {"asp"}}) == "accepted");
}

TEST_CASE("recoveries can be compared on one scenario") {
  const std::string repaired = "cluster.failures.crash=[{rank=1,at=\"1s\",repair=\"1s\"}]";
  CHECK(faults_of(ring_allreduce,
                  {.sets = {repaired}, .grids = {"cluster.failures.recovery=restart,shrink,elastic"}}) == "accepted");
  const std::string fail = "cluster.failures.hosts=exponential";
  CHECK(faults_of(ring_allreduce, {.sets = {fail}}) == "accepted");  // a minute, as links
  CHECK(says(faults_of(ring_allreduce, {.sets = {fail, "cluster.failures.repair=never"}}),
             "hosts that are never repaired"));
  CHECK(faults_of(ring_allreduce, {.sets = {"cluster.failures.repair=constant"},
                                   .grids = {"cluster.failures.hosts=none,exponential"}}) == "accepted");
}

TEST_CASE("a class that nothing has never fails, which is told") {
  CHECK(says(faults_of(ring_allreduce, {.sets = {"cluster.failures.hosts={kind=\"exponential\",class=\"gpu\"}",
                                                 "cluster.failures.repair=constant"}}),
             "no host is of the class \"gpu\""));
  CHECK(says(faults_of(ring_allreduce, {.sets = {"cluster.failures.links={kind=\"exponential\",class=\"rack\"}"}}),
             "no link is of the class \"rack\"; known: nic"));
  CHECK(says(faults_of(ring_allreduce, {.sets = {"cluster.failures.market=spot", "cluster.failures.spot.class=gpu"}}),
             "no host is of the class \"gpu\""));
  CHECK(faults_of(ring_allreduce, {.sets = {"cluster.failures.hosts={kind=\"exponential\",class=\"host\"}",
                                            "cluster.failures.repair=constant",
                                            "cluster.failures.links={kind=\"exponential\",class=\"nic\"}"}}) ==
        "accepted");
}

TEST_CASE("slow links and ends of other traffic that are not there are refused at their place") {
  CHECK(says(faults_of(ring_allreduce, {.sets = {"cluster.slow_links=[{link=\"nic-9\",factor=0.5}]"}}),
             "there is no link \"nic-9\""));
  CHECK(faults_of(ring_allreduce,
                  {.sets = {"cluster.slow_links=[{link=\"nic-3\",factor=0.5},{link=\"nic-2_UP\",factor=0.5}]"}}) ==
        "accepted");
  // Its servers' links are not there for strategies without servers.
  const std::string link = "cluster.slow_links=[{link=\"nic-4\",factor=0.5}]";
  CHECK(faults_of(server, {.sets = {link}}) == "accepted");
  CHECK(says(faults_of(server + ring_allreduce, {.sets = {link}}),
             "there is no link \"nic-4\" for allreduce, which has hosts 0 to 3"));
  CHECK(faults_of(server + ring_allreduce, {.sets = {link}, .strategies = {"parameter_server"}}) == "accepted");
  // The servers of jobs live on the cluster's own hosts.
  CHECK(says(faults_of(server + ring_allreduce + "[[job]]\nstrategy = \"allreduce\"\nworkers = 2\n", {.sets = {link}}),
             "there is no link \"nic-4\""));
  const std::string flow = "cluster.background=[{from=1,to=4}]";
  CHECK(says(faults_of(ring_allreduce, {.sets = {flow}}), "there is no host 4 for allreduce, which has hosts 0 to 3"));
  CHECK(faults_of(server, {.sets = {flow}}) == "accepted");
}

}  // namespace failures_refusals_test
