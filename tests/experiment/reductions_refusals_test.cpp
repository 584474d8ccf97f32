// Refusals of reductions and of faulty workers.
#include "experiment/refused.h"

namespace reductions_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// `small` has 4 workers and 3 features.
std::string strategy(const std::string& kind, const std::string& options) {
  return small + "[[strategy]]\nkind = \"" + kind + "\"\n" + options;
}

void check_accepted(const std::string& text) {
  CAPTURE(text);
  CHECK(planned(text).runs.size() == 1);
}

/// faulty: the value of cluster.faulty.
std::string attacked(const std::string& faulty, const std::string& rest) {
  std::string text = small;
  text.insert(text.find("[cluster]") + 10, "faulty = " + faulty + "\n");
  return text + rest;
}

const std::string server = "[[strategy]]\nkind = \"parameter_server\"\n";

}  // namespace

TEST_CASE("a reduction other than the mean needs a round, and all of a step's gradients") {
  for (const char* reduce : {"sum", "min", "max", "median", "trimmed_mean", "krum"}) {
    const std::string option = std::string("reduce = \"") + reduce + "\"\n";
    check_accepted(strategy("parameter_server", option));
    check_accepted(strategy("parameter_server", option + "consistency = \"ssp\"\nstaleness_bound = 0\n"));
    check_accepted(strategy("mapreduce", option));
    check_refused_text(strategy("parameter_server", option + "consistency = \"asp\"\n"), "but asp applies each as it");
    check_refused_text(strategy("parameter_server", option + "consistency = \"ssp\"\n"), "but ssp applies each as it");
    check_refused_text(strategy("mapreduce", option + "combiner = false\n"), "but combiner = false sends those of all");
    check_refused_text(
        strategy("parameter_server", option + "compression = { kind = \"sign\", scale = \"majority\" }\n"),
        "compression by a majority vote");
  }
  check_refused_text(strategy("federated_averaging", "reduce = \"sum\"\n"), "workers return models, whose sum is none");
  check_accepted(strategy("federated_averaging", "reduce = \"median\"\n"));
}

TEST_CASE("krum takes whole gradients, of at least three workers, and bounds the faulty ones") {
  check_refused_text(strategy("parameter_server", "reduce = \"krum\"\nservers = 2\n"),
                     "but servers = 2 reduces each part");
  check_refused_text(strategy("parameter_server", "reduce = \"krum\"\nbucket_size = \"8B\"\n"),
                     "but bucket_size reduces each part");
  check_refused_text(strategy("mapreduce", "reduce = \"krum\"\nreducers = 2\n"), "but reducers = 2 reduces each part");
  check_refused_text(strategy("parameter_server", "reduce = \"krum\"\nk_batch = 2\n"), "2 gradients have too few");
  check_refused_text(strategy("federated_averaging", "reduce = \"krum\"\nfraction_train = 0.25\n"),
                     "1 gradient have too few");
  check_refused_text(strategy("parameter_server", "reduce = { kind = \"krum\", krum_faulty = 1 }\n"),
                     "krum_faulty = 1 of 4 gradients, but Krum tolerates f of them where 2 f + 2 is below");
  check_accepted(strategy("mapreduce", "splits = 2\nreduce = { kind = \"krum\", krum_faulty = 2 }\n"));
  check_refused_text(strategy("mapreduce", "splits = 2\nreduce = { kind = \"krum\", krum_selected = 7 }\n"),
                     "krum_selected = 7 of 8 gradients takes faulty ones, too; expected at most 6");
  check_refused_text(strategy("parameter_server", "reduce = { kind = \"trimmed_mean\", trim = 0.5 }\n"),
                     "trim = 0.5 at either end leaves nothing");
}

TEST_CASE("faulty workers are ranks of the scenario, by name or by a share") {
  check_accepted(attacked("{ kind = \"sign_flip\", share = 0.5 }", server));
  check_accepted(attacked("{ kind = \"scale\", workers = [3] }", server));
  check_accepted(attacked("\"random\"", server));
  check_refused_text(attacked("{ kind = \"sign_flip\", workers = [4] }", server), "the workers are ranks 0 to 3");
  check_refused_text(attacked("{ kind = \"sign_flip\", workers = [1.5] }", server), "1.5 is no rank");
  check_refused_text(attacked("{ kind = \"sign_flip\", workers = [1], share = 0.2 }", server), "leave one of them out");
  check_refused_text(attacked("{ kind = \"sign_flip\", share = 1.5 }", server), "share must be from 0 to 1");
  check_refused_text(attacked("{ kind = \"scale\", factor = -1 }", server), "factor");
}

TEST_CASE("faulty workers need numbers, and gradients of the whole model") {
  check_refused_text(attacked("\"sign_flip\"", server + "[training]\nnumbers = false\n"),
                     "training.numbers = false computes none");
  check_refused_text(attacked("\"sign_flip\"", "[[strategy]]\nkind = \"operators\"\n"), "operators cuts the model");
}

}  // namespace reductions_refusals_test
