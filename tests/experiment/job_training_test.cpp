// Jobs with data, models, options and rules of their own: their time, their losses, their faults and their names.
#include "experiment/plan/job_training.h"

#include <algorithm>
#include <set>
#include <utility>

#include "experiment/jobs_scenario.h"

namespace job_training_test {

using namespace simgrad;
using namespace simgrad::experiment;

TEST_CASE("a job with a model, a batch and rules of its own takes their time") {
  const std::string one = "strategy = \"single\"\nworkers = 1\n";
  const std::string own =
      "[job.model]\nkind = \"perceptron\"\nhidden = [8]\n"
      "[job.training]\nbatch_size = 500\n"
      "[job.stop]\nepochs = 0.5\n";
  const auto t = times(text_of("", job("a", one) + job("b", one + own)));
  // a: 10 steps of 4 d a sample for all 4000 samples, and an update of 2 d; d = 100
  CHECK(t[0] == Approx(10 * (4000 * 400 + 2 * 100) / 1e9).epsilon(1e-9));
  // b: 2000 samples in 4 steps of 4 in out for the first layer and 6 in out for the second; 100 x 8 + 8 + 8 + 1
  // parameters
  CHECK(t[1] == Approx(4 * (500 * (4 * 100 * 8 + 6 * 8) + 2 * 817) / 1e9).epsilon(1e-9));
  CHECK(t[2] == Approx(t[0]).epsilon(1e-12));
  CHECK(t[3] == Approx(t[1]).epsilon(1e-12));
}

TEST_CASE("two jobs with models of their own that take turns: a turn each until the first is done") {
  const std::string same = "strategy = \"allreduce\"\nworkers = 2\nhosts = [0, 1]\n";
  const auto t =
      times(text_of("sharing = \"gang\"", job("a", same) + job("b", same + "[job.model]\nkind = \"perceptron\"\n")));
  CHECK(t[3] > 2 * t[2]);
  CHECK(t[0] == Approx(t[2] + (K - 1) * t[3] / K).epsilon(1e-9));
  CHECK(t[1] == Approx(t[2] + t[3]).epsilon(1e-9));
}

TEST_CASE("the losses of a job with data, a model and an optimizer of its own are those of the same training alone") {
  const std::string cluster = "[cluster]\nspeed = \"1GF\"\n";
  const std::string data = "data]\nsource = \"logistic\"\nsamples = 300\nfeatures = 7\n";
  const std::string model = "model]\nkind = \"perceptron\"\nhidden = [5]\n";
  const std::string training = "training]\nbatch_size = 60\noptimizer = { kind = \"momentum\", momentum = 0.8 }\n";
  const std::string stop = "stop]\nsteps = 12\n";
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const Plan together =
      planned(cluster + "workers = 4\n[data]\nsamples = 100\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 9\n" +
              ring_allreduce + job("a", pair) +
              job("b", pair + "[job." + data + "[job." + model + "[job." + training + "[job." + stop));
  const Plan alone =
      planned(cluster + "workers = 2\n[" + data + "[" + model + "[" + training + "[" + stop + ring_allreduce);
  const Plan other =
      planned(cluster + "workers = 2\n[data]\nsamples = 100\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 9\n" +
              ring_allreduce);
  CHECK(losses(together.runs[0]) == losses(other.runs[0]));
  CHECK(losses(together.runs[1]) == losses(alone.runs[0]));
  CHECK(losses(together.runs[1]).size() == 13);
  CHECK(losses(together.alone[1]) == losses(alone.runs[0]));
}

TEST_CASE("a job beside one with data of its own is disturbed for as long as that takes to its target") {
  const std::string same = "strategy = \"single\"\nworkers = 1\nhosts = [0]\n";
  const auto text = [&](const std::string& stop) {
    return "[cluster]\nspeed = \"1GF\"\nworkers = 1\n[data]\nsamples = 500\n[model]\nkind = "
           "\"least_squares\"\n[stop]\nsteps = 2000\n" +
           single + job("a", same) +
           job("b", same +
                        "[job.data]\nsource = \"logistic\"\nsamples = 300\n[job.model]\nkind = "
                        "\"logistic_regression\"\n[job.stop]\n" +
                        stop);
  };
  const RunPlan to_target = planned(text("loss = 0.5")).runs[1];
  const auto steps = losses(to_target).size() - 1;
  REQUIRE(steps > 10);
  REQUIRE(steps < 2000);
  const auto seconds = [](const RunPlan& run) {
    return tests::numbers_of_child([&] {
      alarm(60);
      return std::vector{simulate(run, load_data(run), 0, nullptr).simulated_s};
    })[0];
  };
  const double beside = seconds(planned(text("loss = 0.5")).runs[0]);
  CHECK(beside == Approx(seconds(planned(text("steps = " + std::to_string(steps))).runs[0])).epsilon(1e-12));
  CHECK(beside > 1.001 * seconds(planned(text("loss = 0.5")).alone[0]));
}

TEST_CASE("shares by speed are those of a job's own hosts") {
  const std::string hosts =
      "hosts = [{ class = \"fast\", count = 2, speed = \"3GF\" }, { class = \"slow\", count = 2, speed = \"1GF\" }]\n"
      "latency = \"0s\"\ncharge_reductions = false\nbandwidth = \"1e15B/s\"\n";
  const std::string text = "[cluster]\nworkers = 4\n" + hosts +
                           "[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = \"least_squares\"\n"
                           "[training]\nnumbers = false\n[stop]\nsteps = 10\n" +
                           ring_allreduce;
  const std::string own = "strategy = \"allreduce\"\nworkers = 2\nhosts = [1, 2]\n";
  const auto t = times(text + job("a", own + "[job.training]\npartition = { kind = \"iid\", shares = \"speed\" }\n"));
  CHECK(t[0] == Approx(10 * 4000 * 400 / 4e9).epsilon(1e-6));  // 3000 rows at 3 Gflop/s beside 1000 at 1
}

TEST_CASE("the resolved scenario of jobs with tables of their own is the same plan again, under a grid too") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const std::string text =
      text_of(
          "",
          job("a", pair) +
              job("b",
                  pair +
                      "[job.data]\nsource = \"logistic\"\n[job.model]\nkind = \"perceptron\"\nhidden = [8, 8]\n"
                      "[job.training]\noptimizer = { kind = \"momentum\", momentum = 0.8 }\nbatch_size_per_worker = 9\n"
                      "[job.stop]\ntime = \"2ms\"\n")) +
      "[grid]\n\"training.learning_rate\" = [0.1, 0.2]\n\"job.1.stop.time\" = [\"1ms\", \"2ms\"]\n";
  const Plan plan = planned(text);
  const Plan again = planned(simgrad::scenario::toml(plan.scenario));
  REQUIRE(again.runs.size() == 8);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(again.runs[i].id == plan.runs[i].id);
    CHECK(ids.insert(plan.runs[i].id).second);
    CHECK(plan.runs[i].settings->training.learning_rate == (i < 4 ? 0.1 : 0.2));
  }
}

TEST_CASE("a job beside another one is another run if the other one is, by itself it is not") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const Plan one = planned(text_of("", job("a", pair) + job("b", pair)));
  const Plan two = planned(text_of("", job("a", pair) + job("b", pair + "[job.model]\nl2 = 0.1\n")));
  CHECK(one.runs[0].id != two.runs[0].id);
  CHECK(one.alone[0].id == two.alone[0].id);
  CHECK(one.alone[1].id != two.alone[1].id);
}

TEST_CASE("a strategy that one job uses need not suit the model of another") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const Plan plan =
      planned(text_of("", "[[strategy]]\nkind = \"mapreduce\"\njob = \"k_means\"\n" + job("a", pair) +
                              job("b",
                                  "strategy = \"mapreduce\"\nworkers = 1\n[job.model]\nkind = \"k_means\"\n"
                                  "[job.data]\nsource = \"blobs\"\n")));
  CHECK(plan.runs.size() == 2);
}

TEST_CASE("faults of a job's own tables stand where they are written, and are found with all others") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const std::string jobs =
      job("a", pair + "batch_size = 5000") +
      job("b", pair + "[job.model]\nkind = \"perceptrom\"\n[job.training]\nlearning_rat = 1\n[job.stop]\nsteps = 0");
  const auto line = [](const std::string& text, const std::string& part) {
    return "x.toml:" +
           std::to_string(1 +
                          std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(part)), '\n')) +
           ":";
  };
  const std::string text = text_of("speeed = 1", jobs);
  const std::string faults = faults_of(text);
  CAPTURE(faults);
  for (const auto& [part, why] :
       {std::pair("speeed", "unknown key \"speeed\""), std::pair("kind = \"perceptrom", "did you mean \"perceptron\"?"),
        std::pair("learning_rat =", "did you mean \"learning_rate\"?"),
        std::pair("steps = 0", "steps must be from 1")}) {
    CAPTURE(part);
    const auto at = faults.find(line(text, part));
    REQUIRE(at != std::string::npos);
    CHECK(faults.substr(at, faults.find('\n', at) - at).find(why) != std::string::npos);
  }
  const std::string large = text_of("", job("a", pair + "batch_size = 5000"));
  CHECK(faults_of(large).find(line(large, "batch_size = 5000") + "1: a batch of 5000 samples") == 0);
  check_refused("", job("a", pair + "[job.training]\nnumbers = true"), "job \"a\" has numbers = true");
  check_refused("", job("a", pair + "batch_size = 5\n[job.training]\nbatch_size_per_worker = 5"),
                "leave one of them out");
  check_refused("", job("a", pair + "[job.training]\ncheckpoint_every = \"young\""), "needs the hosts' MTBF");
  check_refused("", job("a", pair + "steps = 5\n[job.stop]\nsteps = 6"), "leave one of them out");
  check_refused("", job("a", pair + "model = 5"), "model must be a table");
}

}  // namespace job_training_test
