// Refusals of hosts_first: ranks that share no host, hosts that are not full, options that contradict it.
#include "experiment/refused.h"

namespace hosts_first_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

std::string cluster(int workers, const std::string& topology) {
  return "[cluster]\nworkers = " + std::to_string(workers) + "\n" + topology +
         "[data]\nsamples = 100\nfeatures = 3\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 2\n";
}
const std::string devices = "topology = { kind = \"star\", devices = 2 }\n";

std::string strategy(const std::string& kind, const std::string& more = "") {
  return "[[strategy]]\nkind = \"" + kind + "\"\nhosts_first = true\n" + more;
}

}  // namespace

TEST_CASE("hosts_first is refused where ranks do not share hosts, with both options") {
  for (const std::string topology : {"", "topology = \"two_tier\"\n", "topology = \"ring\"\n"})
    check_refused_text(cluster(4, topology) + strategy("gossip"),
                       "hosts_first = true sums the gradients of devices that share a host, but cluster.topology puts "
                       "one rank on each; give the hosts several");
}

TEST_CASE("hosts_first is refused where workers leave a host half full, but one host may have fewer devices") {
  check_refused_text(cluster(5, devices) + strategy("gossip"),
                     "hosts_first = true makes one worker of the 2 devices of each host, but 5 ranks leave a host with "
                     "1 of them; expected a multiple of 2 workers");
  for (const int workers : {1, 2, 4, 6})
    CHECK(planned(cluster(workers, devices) + strategy("allreduce")).runs.size() == 1);
  CHECK(planned(cluster(3, "topology = { kind = \"star\", devices = 8 }\n") + strategy("allreduce")).runs.size() == 1);
  CHECK(planned(cluster(16, "topology = \"gpu_hosts\"\n") + strategy("allreduce")).runs.size() == 1);
}

TEST_CASE("options that more than the first device of a host would have to know are refused with hosts_first") {
  const auto refused = [](const std::string& strategy_text, const std::string& why) {
    check_refused_text(cluster(4, devices) + strategy_text, why);
  };
  refused(strategy("parameter_server", "k_batch = 1\n"),
          "of which only the first one hears that k_batch under bsp gives it up; leave one of them out");
  refused(strategy("parameter_server", "backup_workers = 1\nlate = \"cancel\"\n"),
          "that late = \"cancel\" gives it up");
  refused(strategy("mapreduce", "combiner = false\n"), "but combiner = false sends the gradient of each row");
  refused(strategy("mapreduce", "splits = 2\n"), "but splits = 2 assigns a batch to workers as they become free");
  refused(strategy("zero", "stage = 3\n"), "take stage 1 or 2, or fsdp with shard_group, the devices of a host");
  refused(strategy("fsdp"), "hosts_first");
  for (const std::string recovery : {"continue", "shrink", "elastic"})
    refused(strategy("parameter_server", "consistency = \"asp\"\nrecovery = \"" + recovery + "\"\n") +
                "[cluster.failures]\ncrash = [{ rank = 1, at = \"1ms\" }]\n",
            "cannot recover by \"" + recovery + "\"; expected one of restart, wait");
  for (const std::string kind : {"allreduce", "local_sgd", "diloco", "block_sync", "multitask"})
    refused(strategy(kind, "algorithm = \"hierarchical\"\n"),
            "but with hosts_first one device of each host takes part in it; leave one of them out");
}

TEST_CASE("a graph of hosts is asked for as many hosts as there are") {
  check_refused_text(cluster(8, devices) + strategy("gossip", "graph = { kind = \"grid_2d\", rows = 3 }\n"),
                     "4 workers");
  CHECK(planned(cluster(8, devices) + strategy("gossip", "graph = { kind = \"grid_2d\", rows = 2 }\n")).runs.size() ==
        1);
}

TEST_CASE("hosts_first is refused beside a cut model, and beside jobs") {
  check_refused_text(
      cluster(4, devices) + "[parallel]\ntensor = 2\n" + strategy("allreduce"),
      "which is not simulated together with [parallel], whose ranks sum what they have in common by themselves");
  check_refused_text(cluster(4, devices) + strategy("allreduce") + "[[job]]\nworkers = 2\n[[job]]\nworkers = 2\n",
                     "which is not simulated together with [[job]]s, which share the devices of hosts");
}

}  // namespace hosts_first_refusals_test
