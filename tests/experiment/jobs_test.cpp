// Several trainings in one engine: closed forms of turns and of shared processors, late starts, refusals.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/errors.h"
#include "catch.h"
#include "experiment/scenario.h"
#include "experiment/simulate.h"
#include "simulation.h"

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

constexpr int K = 10;  // steps

std::string text_of(const std::string& cluster, const std::string& jobs) {
  return "[cluster]\nworkers = 4\nspeed = \"1GF\"\n" + cluster +
         "\n[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = \"least_squares\"\n"
         "[training]\nnumbers = false\n[stop]\nsteps = 10\n" +
         ring + single + jobs;
}

std::string job(const char* name, const std::string& rest) {
  return std::string("[[job]]\nname = \"") + name + "\"\n" + rest + "\n";
}

/// The simulated seconds of the scenario's jobs, beside each other and then by themselves.
std::vector<double> times(const std::string& text) {
  const Plan plan = planned(text);
  std::vector<double> all;
  for (const auto* runs : {&plan.runs, &plan.alone})
    for (const RunPlan& run : *runs)
      all.push_back(tests::numbers_of_child([&] {
        alarm(60);
        const record::Record record = simulate(run, nullptr, 0, nullptr);
        if (record.status == record::Status::failed) throw std::runtime_error(record.error);
        for (const record::RankUse& use : record.ranks)
          if (std::abs(use.compute_s + use.communicate_s + use.wait_s + use.down_s - record.simulated_s) > 1e-9)
            throw std::runtime_error("the parts do not add up");
        return std::vector{record.simulated_s};
      })[0]);
  return all;
}

/// The losses of a run, evaluation by evaluation.
std::vector<double> losses(const RunPlan& run) {
  return tests::numbers_of_child([&] {
    alarm(60);
    const record::Record record = simulate(run, load_data(run), 0, nullptr);
    if (record.status == record::Status::failed) throw std::runtime_error(record.error);
    std::vector<double> all;
    for (const record::Evaluation& each : record.curve) all.push_back(each.loss.value());
    return all;
  });
}

std::string faults_of(const std::string& text) {
  try {
    planned(text);
  } catch (const base::ScenarioError& error) {
    std::string all;
    for (const std::string& fault : error.faults()) all += fault.substr(fault.find("x.toml")) + "\n";
    return all;
  }
  return "";
}

const std::string same_hosts = "strategy = \"allreduce\"\nworkers = 2\nhosts = [0, 1]";

void check_refused(const std::string& cluster, const std::string& jobs, const std::string& why) {
  try {
    planned(text_of(cluster, jobs));
    FAIL("accepted");
  } catch (const base::ScenarioError& error) {
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find(why) != std::string::npos);
    CHECK(text.find("x.toml:") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("two equal jobs on the same hosts that take turns: 2 K steps, the first one done a step earlier") {
  const auto t = times(text_of("sharing = \"gang\"", job("a", same_hosts) + job("b", same_hosts)));
  const double step = t[2] / K;
  CHECK(t[3] == Approx(t[2]).epsilon(1e-12));
  CHECK(t[0] == Approx((2 * K - 1) * step).epsilon(1e-9));
  CHECK(t[1] == Approx(2 * K * step).epsilon(1e-9));
}

TEST_CASE("turns of five steps: the first job's last turn ends five steps before the second's") {
  const auto t = times(text_of("sharing = \"gang\"\nquantum = 5", job("a", same_hosts) + job("b", same_hosts)));
  const double step = t[2] / K;
  CHECK(t[0] == Approx(15 * step).epsilon(1e-9));
  CHECK(t[1] == Approx(20 * step).epsilon(1e-9));
}

TEST_CASE("two jobs that only compute share a host's speed: each takes twice its time") {
  const std::string alone = "strategy = \"single\"\nworkers = 1\nhosts = [2]";
  const auto t = times(text_of("", job("a", alone) + job("b", alone)));
  CHECK(t[0] == Approx(2 * t[2]).epsilon(1e-9));
  CHECK(t[1] == Approx(2 * t[3]).epsilon(1e-9));
}

TEST_CASE("jobs on hosts of their own do not disturb each other on a star, and time counts from a job's start") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const auto t = times(text_of("", job("a", pair) + job("b", pair + "start = \"1s\"\nsteps = 4")));
  CHECK(t[0] == Approx(t[2]).epsilon(1e-9));
  CHECK(t[1] == Approx(t[3]).epsilon(1e-9));
  CHECK(t[1] == Approx(0.4 * t[0]).epsilon(1e-9));
  const auto late = times(text_of("", job("b", pair + "start = \"1s\"")));  // nobody is there before
  CHECK(late[0] == Approx(t[0]).epsilon(1e-9));
}

TEST_CASE("a job meets the same stragglers by itself as beside the others, and another job meets others") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const auto t = times(text_of("stragglers = \"log_normal\"", job("a", pair) + job("b", pair)));
  CHECK(t[0] == Approx(t[2]).epsilon(1e-9));
  CHECK(t[1] == Approx(t[3]).epsilon(1e-9));
  CHECK(std::abs(t[0] - t[1]) > 1e-3 * t[0]);
}

TEST_CASE("the resolved scenario of jobs is the same plan again") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  const Plan plan = planned(text_of("", job("a", pair) + job("b", pair + "hosts = [0, 1]")));
  const Plan again = planned(simgrad::scenario::toml(plan.scenario));
  REQUIRE(again.runs.size() == 2);
  CHECK(again.runs[0].id == plan.runs[0].id);
  CHECK(again.runs[1].id == plan.runs[1].id);
}

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
  const Plan together = planned(
      cluster + "workers = 4\n[data]\nsamples = 100\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 9\n" + ring +
      job("a", pair) + job("b", pair + "[job." + data + "[job." + model + "[job." + training + "[job." + stop));
  const Plan alone = planned(cluster + "workers = 2\n[" + data + "[" + model + "[" + training + "[" + stop + ring);
  const Plan other = planned(
      cluster + "workers = 2\n[data]\nsamples = 100\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 9\n" + ring);
  CHECK(losses(together.runs[0]) == losses(other.runs[0]));
  CHECK(losses(together.runs[1]) == losses(alone.runs[0]));
  CHECK(losses(together.runs[1]).size() == 13);
  CHECK(losses(together.alone[1]) == losses(alone.runs[0]));
}

TEST_CASE("shares by speed are those of a job's own hosts") {
  const std::string hosts =
      "hosts = [{ class = \"fast\", count = 2, speed = \"3GF\" }, { class = \"slow\", count = 2, speed = \"1GF\" }]\n"
      "latency = \"0s\"\ncharge_reductions = false\nbandwidth = \"1e15B/s\"\n";
  const std::string text = "[cluster]\nworkers = 4\n" + hosts +
                           "[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = \"least_squares\"\n"
                           "[training]\nnumbers = false\n[stop]\nsteps = 10\n" +
                           ring;
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

TEST_CASE("option --strategy and jobs are refused together") {
  CHECK_THROWS_WITH(
      planned(text_of("", job("a", "strategy = \"allreduce\"\nworkers = 2")), {.strategies = {"allreduce"}}),
      Catch::Contains("--strategy allreduce: the scenario's [[job]]s run together"));
}

TEST_CASE("what jobs may not say is refused with its place") {
  const std::string pair = "strategy = \"allreduce\"\nworkers = 2\n";
  check_refused("", job("a", pair) + job("a", pair), "two jobs are called \"a\"");
  check_refused("", job("a", "strategy = \"alreduce\"\nworkers = 2"), "did you mean \"allreduce\"?");
  check_refused("", job("a", pair) + job("b", "strategy = \"allreduce\"\nworkers = 3"), "only 2 have no job yet");
  check_refused("", job("a", pair + "hosts = [3, 4]"), "host 4, but the cluster has hosts 0 to 3");
  check_refused("", job("a", pair + "hosts = [3]"), "1 hosts, but 2 workers and their servers live on 2");
  check_refused("", job("a", pair + "hosts = [0, 1]\nplacement = \"spread\""), "leave one of them out");
  check_refused("relative_speeds = [0.5]", job("a", pair), "cluster.relative_speeds goes by ranks");
  check_refused("sharing = \"gang\"", "", "sharing = \"gang\" is how several [[job]]s share hosts");
  check_refused("quantum = 2", job("a", pair), "\"quantum\" is how long a turn is");
  check_refused("sharing = \"gang\"",
                "[[strategy]]\nkind = \"parameter_server\"\nconsistency = \"asp\"\n" +
                    job("a", "strategy = \"parameter_server\"\nworkers = 2"),
                "takes turns step by step");
}
