// Refusals of compression: options contradict each other, the strategy, the model.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/refused.h"

namespace compression_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// `small` has 4 workers and 3 features, so that the model has 3 parameters.
void check_refused(const std::string& strategy, const std::string& why) {
  check_refused_text(small + "[[strategy]]\n" + strategy, why);
}

std::string compressed(const std::string& kind, const std::string& compression) {
  return fmt::format("kind = \"{}\"\ncompression = {}\n", kind, compression);
}

}  // namespace

TEST_CASE("more numbers or a higher rank than the model has are refused where they are written") {
  const std::string head = small + "[[strategy]]\nkind = \"allreduce\"\n";
  const auto line = std::ranges::count(head, '\n') + 1;
  CHECK_THROWS_WITH(
      planned(head + "compression = { kind = \"top_k\", k = 4 }\n"),
      ContainsSubstring(fmt::format("x.toml:{}:", line)) &&
          ContainsSubstring("compression = \"top_k\": k = 4, but the model has 3 parameters; expected at most as "
                            "many"));
  check_refused(compressed("parameter_server", "{ kind = \"random_k\", k = 9 }"),
                "k = 9, but the model has 3 parameters");
  check_refused(compressed("allreduce", "{ kind = \"power_sgd\", rank = 2 }"),
                "compression = \"power_sgd\": the model's parameters are vectors, which power_sgd does not compress");
  CHECK(planned(head + "compression = { kind = \"top_k\", k = 3 }\n").runs.size() == 1);
}

TEST_CASE("options of compressors that contradict each other are refused with both names") {
  check_refused(compressed("allreduce", "{ kind = \"top_k\", k = 1, fraction = 0.5 }"),
                "k and fraction both decide how many");
  check_refused(compressed("allreduce", "{ kind = \"top_k\", fraction = 1.5 }"), "fraction");
  check_refused(compressed("allreduce", "{ kind = \"sign\", scale = \"majority\", error_feedback = true }"),
                "scale = \"majority\" sends no sizes");
  check_refused(compressed("allreduce", "{ kind = \"random_k\", error_feedback = true }"),
                "unbiased = true already makes up for them");
  check_refused(compressed("allreduce", "{ kind = \"qsgd\", error_feedback = true }"),
                "unknown key \"error_feedback\"");
  check_refused(compressed("allreduce", "\"float8\""), "unknown");
}

TEST_CASE("compression that a path cannot take is refused") {
  check_refused("kind = \"parameter_server\"\nparameter_compression = \"top_k\"\n",
                "would leave out most of the parameters");
  check_refused("kind = \"easgd\"\nparameter_compression = \"sign\"\n", "would leave out most of the parameters");
  check_refused("kind = \"parameter_server\"\nparameter_compression = { kind = \"float16\", error_feedback = true }\n",
                "error_feedback adds what one message leaves out");
  check_refused(
      "kind = \"parameter_server\"\nconsistency = \"asp\"\ndelay_compensation = 0.1\nparameter_compression = "
      "\"float16\"\n",
      "delay_compensation takes the difference to the parameters that a worker has got");
  check_refused("kind = \"mapreduce\"\ncombiner = false\ncompression = \"float16\"\n",
                "combiner = false sends every row's");
  const std::string asp = "kind = \"parameter_server\"\nconsistency = \"asp\"\n";
  check_refused(asp + "delay_compensation = 0.1\ncompression = { kind = \"sign\", scale = \"majority\" }\n",
                "delay_compensation changes how large a gradient's numbers are");
  check_refused(asp + "servers = 2\nsharding = \"hash\"\ncompression = \"power_sgd\"\n",
                "tears the layers' matrices apart");
  for (const char* sums : {"allreduce", "local_sgd", "multitask"})
    check_refused(compressed(sums, "\"top_k\"") + "algorithm = \"rabenseifner\"\n",
                  "codes of this compression cannot be summed and are gathered around a ring");
  for (const char* averages : {"local_sgd", "federated_averaging"})
    check_refused(compressed(averages, "{ kind = \"sign\", scale = \"majority\" }"),
                  "but replicas' moves are averaged");
  check_refused("kind = \"gossip\"\ncompression = \"float16\"\nconsensus_step = 0.5\n", "consensus_step is of copies");
  check_refused(compressed("gossip", "{ kind = \"top_k\", error_feedback = true }"),
                "copies that parameters are compressed");
  check_refused(compressed("gossip", "{ kind = \"sign\", scale = \"majority\" }"), "but parameters are averaged");
  check_refused(compressed("gossip", "{ kind = \"int8\", error_feedback = true }"),
                "each message of parameters is whole");
  for (const char* replicas : {"d2", "gradient_tracking", "sgp", "ad_psgd"}) {
    check_refused(compressed(replicas, "\"top_k\""), "compression = \"top_k\" would leave out most of the parameters");
    check_refused(compressed(replicas, "{ kind = \"int8\", error_feedback = true }"),
                  "each message of parameters is whole");
    CHECK(planned(small + "[[strategy]]\n" + compressed(replicas, "\"qsgd\"")).runs.size() == 1);
  }
  check_refused(compressed("async_broadcast", "{ kind = \"top_k\", k = 9 }"), "k = 9, but the model has 3 parameters");
}

}  // namespace compression_refusals_test
