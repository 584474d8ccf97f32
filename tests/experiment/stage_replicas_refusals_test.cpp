// Stages with unlike numbers of replicas that do not fit the workers, the batch or what else the scenario has: each is
// refused with its place, and with what would do.
#include <string>

#include "experiment/refused.h"

namespace stage_replicas_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// A perceptron of five layers on five workers, whose first stage has three of them; a step has 12 rows.
std::string staged(const std::string& parallel, const std::string& training = "",
                   const std::string& strategy = ring_allreduce, const std::string& cluster = "") {
  return "schema = 1\n[cluster]\nworkers = 5\n" + cluster +
         "[data]\nsource = \"house_prices\"\nfeatures = 6\nsamples = 96\n[model]\nkind = \"perceptron\"\nhidden = [8, "
         "8, "
         "8, 8]\n[training]\nbatch_size = 12\n" +
         training + "[parallel]\npipeline = 2\nstages = [3, 2]\n" + parallel + "[stop]\nsteps = 2\n" + strategy;
}

const std::string pipedream = "schedule = \"pipedream\"\n";
const std::string unlike = pipedream + "stage_replicas = [3, 2]\n";

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  return text.replace(text.find(old), old.size(), by);
}

}  // namespace

TEST_CASE("the replicas of the stages are the workers, one number a stage") {
  CHECK(planned(staged(unlike)).runs.size() == 1);
  check_refused_text(staged(pipedream + "stage_replicas = [3, 1]\n"),
                     ":17:1: stage_replicas has 4 ranks in all, but there are 5 workers; expected cluster.workers = 4");
  check_refused_text(staged(pipedream + "stage_replicas = [3, 1, 1]\n"),
                     ":17:1: stage_replicas has 3 numbers, but pipeline = 2; expected one a stage");
  check_refused_text(staged(pipedream + "stage_replicas = [2.5, 2.5]\n"), "expected whole numbers");
  check_refused_text(staged(pipedream + "stage_replicas = [5, 0]\n"), "stage_replicas");
  check_refused_text(replaced(staged(pipedream + "stage_replicas = [5]\n"), "pipeline = 2\nstages = [3, 2]", ""),
                     "pipeline = 1; set data, or leave it out");
}

TEST_CASE("a step's rows divide into the micro-batches of a round of every stage") {
  check_refused_text(replaced(staged(unlike), "batch_size = 12", "batch_size = 10"),
                     "a batch of 10 rows does not divide into the 6 micro-batches of a step, the least common multiple "
                     "of stage_replicas; take a batch of 6 or 12 rows");
  check_refused_text(replaced(staged(unlike), "batch_size = 12", "batch_size = 4"), "take a batch of 6 rows");
  const std::string primes = "stage_replicas = [131071, 131063]\n";
  check_refused_text(staged(pipedream + primes), "more than 1000000; take numbers that divide one another");
}

TEST_CASE("unlike replicas are refused beside what needs as many ranks in each stage") {
  for (const char* schedule : {"1f1b", "gpipe", "zb_h1", "pipedream_2bw"})
    check_refused_text(staged("stage_replicas = [3, 2]\nschedule = \"" + std::string(schedule) + "\"\n"),
                       "take schedule = \"pipedream\", or data in place of stage_replicas");
  check_refused_text(staged("stage_replicas = [3, 2]\n"), "with schedule = \"1f1b\"");
  for (const char* shared : {"tensor", "context", "expert"})
    check_refused_text(staged(unlike + shared + " = 2\n"),
                       "tensor, context or expert ranks share more; set these to 1");
  check_refused_text(staged(unlike + "data = 2\n"), "in place of data; leave one of them out");
  check_refused_text(staged(unlike + "copies = \"next_stage\"\n"), "without a counterpart in the next stage");
  check_refused_text(staged(unlike + "order = [\"tensor\", \"pipeline\", \"data\"]\n"),
                     "expected \"data\" before \"pipeline\" in order");
  check_refused_text(replaced(staged(unlike + "automatic = true\n"), "stages = [3, 2]\n", ""),
                     "automatic predicts steps with as many in each");
  check_refused_text(replaced(staged(unlike + "balance = \"time\"\n"), "stages = [3, 2]\n", ""),
                     "balance = \"time\" predicts steps with as many in each");
}

TEST_CASE("unlike replicas train by allreduce, without a norm over all stages, shares by speed or failures") {
  for (const char* kind : {"local_sgd", "zero", "gossip", "single"})
    check_refused_text(staged(unlike, "", "[[strategy]]\nkind = \"" + std::string(kind) + "\"\n"), "take allreduce");
  check_refused_text(staged(unlike, "clip_norm = 1\n"), "training.clip_norm needs the norm of the whole gradient");
  check_refused_text(staged(unlike, "partition = { kind = \"iid\", shares = \"speed\" }\n"),
                     "gives replicas different numbers of rows");
  check_refused_text(staged(unlike, "checkpoint_every_steps = 1\n", ring_allreduce,
                            "failures = { crash = [{ rank = 1, at = \"1ms\", repair = \"1s\" }] }\n"),
                     "a checkpoint has one version of a stage's weights");
  check_refused_text(staged(unlike, "precision = \"float16\"\n"), "take precision = \"bfloat16\"");
}

TEST_CASE("the run's mesh says the replicas of each stage, and its resolved scenario, too") {
  const Plan plan = planned(staged(unlike));
  CHECK(plan.runs.front().settings->parallel.stage_replicas == std::vector<double>{3, 2});
  // Without them a run's identity is what it was before they came.
  const auto identity_of = [](const std::string& parallel) { return planned(staged(parallel)).runs.front().id; };
  CHECK(identity_of(unlike) != identity_of(pipedream + "stage_replicas = [2, 3]\n"));
}

}  // namespace stage_replicas_refusals_test
