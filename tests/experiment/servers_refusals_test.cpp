// Refusals of parameter servers: options contradict each other, the workers, the model, the optimizer.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/refused.h"

namespace servers_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// `small` has 4 workers and 3 features, so that the model has 3 parameters.
void check_refused(const std::string& options, const std::string& why, const std::string& optimizer = "sgd") {
  check_refused_text(
      small + "[training]\noptimizer = \"" + optimizer + "\"\n[[strategy]]\nkind = \"parameter_server\"\n" + options,
      why);
}

void check_accepted(const std::string& options) {
  CAPTURE(options);
  CHECK(planned(small + "[[strategy]]\nkind = \"parameter_server\"\n" + options).runs.size() == 1);
}

}  // namespace

TEST_CASE("options of a parameter server that contradict each other are refused with both names") {
  check_refused("staleness_bound = 2\n",
                "staleness_bound bounds how far workers run ahead under consistency = \"ssp\"");
  check_refused("consistency = \"asp\"\nbackup_workers = 1\n", "backup_workers are for consistency = \"bsp\"");
  check_refused("backup_workers = 1\nk_batch = 2\n", "backup_workers and k_batch both say how many gradients");
  check_refused("late = \"cancel\"\n", "late = \"cancel\" gives up the gradients that backup_workers leave behind");
  check_refused("backup_workers = 1\nlate = \"cancel\"\nplacement = \"colocated\"\n",
                "placement = \"colocated\" shares cores, which is not modelled for the interrupted gradients of late");
  check_refused("consistency = \"ssp\"\nk_batch = 2\n", "k_batch is for consistency = \"bsp\" or \"asp\"");
  check_refused("k_batch = 2\nplacement = \"colocated\"\n", "placement = \"colocated\" shares cores");
  check_refused("staleness_aware = true\n", "staleness_aware: no gradient is stale under bsp");
  check_refused("delay_compensation = 0.1\n", "delay_compensation: no gradient is stale under bsp");
  check_refused("consistency = \"ssp\"\nstaleness_bound = 0\nstaleness_aware = true\n", "no gradient is stale");
  check_refused("consistency = \"asp\"\nk_batch = 2\nstaleness_aware = true\n",
                "but k_batch makes an update of several");
  check_refused("consistency = \"asp\"\nk_batch = 2\ngradient = \"mean\"\n",
                "but k_batch takes the mean over the rows");
  check_refused("sharding = \"hash\"\n",
                "sharding = \"hash\" divides the parameters among several servers, but servers = 1");
}

TEST_CASE("a parameter server that does not fit the workers, the model or the optimizer is refused with both numbers") {
  check_refused("servers = 5\n", "servers = 5, but least_squares has 3 parameters here");
  check_refused("servers = 5\nplacement = \"colocated\"\n", "servers = 5");
  check_refused("backup_workers = 4\n", "backup_workers = 4, but cluster.workers = 4, which leaves no gradient");
  check_refused("servers = 2\n", "servers = 2, but under optimizer = \"lamb\" the update of one parameter", "lamb");
}

TEST_CASE("a misfit is told where the option is written, be it in the file or on the command line") {
  const std::string head = small + "[[strategy]]\nkind = \"parameter_server\"\n";
  const auto line = std::ranges::count(head, '\n') + 2;
  const std::string why =
      "servers = 5, but least_squares has 3 parameters here; expected at most one server a parameter";
  CHECK_THROWS_WITH(planned(head + "sharding = \"hash\"\nservers = 5\n"),
                    EndsWith(fmt::format("x.toml:{}:1: {}", line, why)));
  for (const std::string set : {"strategy.0.servers=5", "strategy.parameter_server.servers=5"})
    CHECK_THROWS_WITH(planned(head, {.sets = {set}}), fmt::format("--set {}: {}", set, why));
}

TEST_CASE("more colocated servers than workers are refused") {
  std::string text = small + "[[strategy]]\nkind = \"parameter_server\"\nservers = 3\nplacement = \"colocated\"\n";
  text.replace(text.find("workers = 4"), 11, "workers = 2");
  CHECK_THROWS_WITH(planned(text), ContainsSubstring("servers = 3 colocated with 2 workers"));
}

TEST_CASE("a parameter server at the ends of its ranges is accepted") {
  check_accepted("servers = 3\nplacement = \"colocated\"\nsharding = \"hash\"\n");
  check_accepted("backup_workers = 3\n");
  check_accepted("backup_workers = 3\nlate = \"cancel\"\n");
  check_accepted("backup_workers = 3\nlate = \"finish\"\nplacement = \"colocated\"\n");
  check_accepted("consistency = \"ssp\"\n");
  check_accepted("k_batch = 9\nservers = 2\n");
  check_accepted("consistency = \"asp\"\nk_batch = 4\ndelay_compensation = 0.5\n");
  check_accepted("consistency = \"asp\"\nstaleness_aware = true\ndelay_compensation = 0.5\n");
}

TEST_CASE("a batch that leaves ranks without rows is refused where a rank updates alone, and taken where all add up") {
  const auto plan = [](const std::string& strategy, const std::string& batch) {
    return planned(small + "[training]\nbatch_size = " + batch + "\n[[strategy]]\nkind = " + strategy + "\n");
  };
  for (const char* strategy :
       {"\"parameter_server\"\nconsistency = \"asp\"", "\"parameter_server\"\nconsistency = \"ssp\"",
        "\"parameter_server\"\nk_batch = 2", "\"easgd\"", "\"hogwild\""}) {
    CAPTURE(strategy);
    CHECK_THROWS_WITH(plan(strategy, "3"), ContainsSubstring("batch_size = 3 for 4 workers leaves ranks without rows"));
    CHECK(plan(strategy, "4").runs.size() == 1);
  }
  for (const char* strategy : {"\"parameter_server\"", "\"allreduce\"", "\"single\""}) {
    CAPTURE(strategy);
    CHECK(plan(strategy, "3").runs.size() == 1);
  }
}

TEST_CASE("a spread of gradients is refused where every strategy is synchronous, and where it is no spread") {
  const auto text = [](const std::string& spread, const std::string& strategy) {
    return small + "[training]\ndesynchronise = " + spread + "\n[[strategy]]\n" + strategy;
  };
  const std::string asp = "kind = \"parameter_server\"\nconsistency = \"asp\"\n", bsp = "kind = \"allreduce\"\n";
  check_refused_text(text("0.1", bsp), "but every strategy here is synchronous");
  check_refused_text(text("0.1", "kind = \"easgd\"\nsynchronous = true\n"), "but every strategy here is synchronous");
  check_refused_text(text("-0.1", asp), "desynchronise must be from 0 to 1");
  check_refused_text(text("1.5", asp), "desynchronise must be from 0 to 1");
  CHECK(planned(text("0.1", asp + "[[strategy]]\n" + bsp)).runs.size() == 2);
  CHECK(planned(text("0", bsp)).runs.size() == 1);
}

TEST_CASE("work and messages that slow each other down are refused where servers share the cores of workers") {
  const std::string text = std::string(small).replace(small.find("[data]"), 6, "overlap_slowdown = 0.1\n[data]");
  const std::string server = "[[strategy]]\nkind = \"parameter_server\"\n";
  check_refused_text(text + server + "placement = \"colocated\"\n",
                     "overlap_slowdown is not simulated with \"parameter_server");
  CHECK(planned(text + server + "k_batch = 2\n").runs.size() == 1);
}

}  // namespace servers_refusals_test
