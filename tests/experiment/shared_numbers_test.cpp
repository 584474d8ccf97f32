// Runs that have their numbers in common, and the order in which runs are started.
#include "experiment/run/shared_numbers.h"

#include <set>

#include "catch.h"
#include "experiment/plan/numbers_key.h"
#include "experiment/run/schedule.h"
#include "experiment/scenario.h"

namespace shared_numbers_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// The key of the only run of the scenario under --set.
std::string key(const std::vector<std::string>& sets, const std::string& strategy = ring_allreduce) {
  const Plan plan = planned(small + strategy, {.sets = sets});
  return numbers_key(plan.runs.at(0));
}

std::string of_kind(const std::string& kind, const std::string& options = "") {
  return "[[strategy]]\nkind = \"" + kind + "\"\n" + options + "\n";
}

}  // namespace

TEST_CASE(
    "where a router decides how long ranks work, numbers decide about times, unless experts are padded or whole") {
  const auto planned_with = [](const std::string& model, const std::string& parallel) {
    return planned(
        "[cluster]\nworkers = 2\n[data]\nsource = \"markov\"\nvocabulary = 6\nsamples = 40\n[model]\nkind = "
        "\"transformer\"\nlayers = 2\nhidden = 8\nheads = 2\nsequence = 4\n" +
        model + "[training]\nbatch_size = 8\n[stop]\nsteps = 2\n" + parallel + ring_allreduce);
  };
  const std::string experts = "experts = 4\n", shared = "[parallel]\nexpert = 2\n",
                    stages = "[parallel]\npipeline = 2\n";
  for (const std::string& parallel : {shared, stages}) {
    const Plan plan = planned_with(experts, parallel);
    CHECK(times_follow_numbers(plan.runs.at(0)));
    CHECK(numbers_key(plan.runs.at(0)).empty());
  }
  for (const auto& [model, parallel] : {std::pair(experts + "pad_experts = true\n", shared),
                                        std::pair(experts, std::string()), std::pair(std::string(), stages)}) {
    const Plan plan = planned_with(model, parallel);
    CHECK_FALSE(times_follow_numbers(plan.runs.at(0)));
    CHECK(numbers_key(plan.runs.at(0)).size() == 16);
  }
}

TEST_CASE("networks, hosts, prices and the rules that end a run leave its numbers alone") {
  const std::string plain = key({});
  REQUIRE(plain.size() == 16);
  for (const char* set :
       {"cluster.bandwidth=10Mbps", "cluster.latency=1ms", "cluster.speed=3GF", "cluster.topology=ring",
        "cluster.stragglers=bimodal", "cluster.collectives=messages", "stop.steps=7", "stop.loss=0.1",
        "evaluate.every_steps=2", "training.checkpoint_every_steps=1", "prices.worker=\"1$/h\"", "title=other",
        "cluster.network_model=tcp"}) {
    INFO(set);
    CHECK(key({set}) == plain);
  }
}

TEST_CASE("data, model, training, strategy, workers and seed decide about the numbers") {
  std::set<std::string> keys{key({})};
  std::size_t expected = 1;
  for (const char* set :
       {"cluster.workers=2", "seed=2", "data.samples=101", "data.features=4", "model.l2=0.1", "model.kind=perceptron",
        "training.learning_rate=0.2", "training.batch_size=50", "training.optimizer=momentum",
        "strategy.0.algorithm=tree", "strategy.0.compression=sign", "cluster.faulty=sign_flip"}) {
    INFO(set);
    keys.insert(key({set}));
    CHECK(keys.size() == ++expected);
  }
}

TEST_CASE("losses of the test set and of the training set are different numbers") {
  CHECK(key({"data.test_fraction=0.2", "evaluate.on=test"}) != key({"data.test_fraction=0.2"}));
}

TEST_CASE("the clock decides which splits a faulty worker maps") {
  const std::string splits = of_kind("mapreduce", "splits = 2");
  CHECK(!key({}, splits).empty());
  CHECK(key({"cluster.faulty=sign_flip"}, splits).empty());
  CHECK(!key({"cluster.faulty=sign_flip"}, of_kind("mapreduce")).empty());
}

TEST_CASE("where time decides about numbers, or numbers about time, nothing is shared") {
  for (const char* set : {"stop.time=1s", "evaluate.every_s=1ms", "training.numbers=false",
                          "training.partition={kind=\"iid\",shares=\"speed\"}",
                          "cluster.failures={hosts={kind=\"exponential\",mtbf=\"1h\"}}"}) {
    INFO(set);
    CHECK(key({set}).empty());
  }
  CHECK(key({"training.partition={kind=\"stream\",window=10}", "training.batch_size=5"}).empty());
  // The keys of sparse rows decide which bytes are sent.
  CHECK(key({"data={source=\"click_log\",samples=100,features=50}", "model.kind=sparse_logistic"},
            of_kind("sparse_parameter_server"))
            .empty());
  CHECK(key({}, of_kind("parameter_server", "consistency = \"asp\"")).empty());
  CHECK(key({}, of_kind("parameter_server", "backup_workers = 1")).empty());
  CHECK(key({}, of_kind("ad_psgd")).empty());
  CHECK(key({}, of_kind("hogwild")).empty());
  CHECK_FALSE(key({}, of_kind("parameter_server")).empty());
  CHECK_FALSE(key({}, of_kind("gossip")).empty());
  CHECK_FALSE(key({}, of_kind("local_sgd")).empty());
}

TEST_CASE("the longest run computes, others wait, and then know its numbers as far as they go") {
  const tests::Scratch scratch;
  const Plan plan = planned(small + ring_allreduce, {.grids = {"stop.steps=4,2,9"}});
  SharedNumbers numbers(scratch.path(), {}, {});
  for (const RunPlan& run : plan.runs) numbers.expect(run);
  const RunPlan &four = plan.runs.at(0), &two = plan.runs.at(1), &nine = plan.runs.at(2);
  CHECK(numbers.source(four) == NumbersFrom::another_run);
  CHECK(numbers.source(nine) == NumbersFrom::first);
  numbers.forget(nine);  // as a race does
  REQUIRE(numbers.source(four) == NumbersFrom::first);
  numbers.started(four, NumbersFrom::first);
  CHECK(numbers.source(two) == NumbersFrom::another_run);
  numbers.ended(four, NumbersFrom::first, "score 00000000000000010000000000000002 1 -\n", true, 0.0);
  CHECK(numbers.source(two) == NumbersFrom::known);
  CHECK(numbers.source(nine) == NumbersFrom::first);  // 5 steps are unknown
  numbers.lacked(two, NumbersFrom::known);
  CHECK(numbers.source(two) == NumbersFrom::first);
  // Another command finds them; one that does everything again does not.
  for (const bool reads : {true, false}) {
    SharedNumbers later(scratch.path(), {.reads = reads}, {});
    later.expect(two);
    CHECK(later.source(two) == (reads ? NumbersFrom::known : NumbersFrom::first));
  }
}

TEST_CASE("a run that ends without having been started keeps no other one waiting") {
  const tests::Scratch scratch;
  const Plan plan = planned(small + ring_allreduce, {.grids = {"stop.steps=4,9"}});
  SharedNumbers numbers(scratch.path(), {}, {});
  for (const RunPlan& run : plan.runs) numbers.expect(run);
  REQUIRE(numbers.source(plan.runs.at(0)) == NumbersFrom::another_run);
  numbers.ended(plan.runs.at(1), NumbersFrom::itself, "", false, 0.0);
  CHECK(numbers.source(plan.runs.at(0)) == NumbersFrom::first);
}

TEST_CASE("a run that failed leaves its place as the first to another") {
  const tests::Scratch scratch;
  const Plan plan = planned(small + ring_allreduce, {.grids = {"cluster.latency=1us,2us"}});
  SharedNumbers numbers(scratch.path(), {}, {});
  for (const RunPlan& run : plan.runs) numbers.expect(run);
  numbers.started(plan.runs.at(0), NumbersFrom::first);
  // It had some numbers, but nobody knows how many.
  numbers.ended(plan.runs.at(0), NumbersFrom::first, "score 00000000000000010000000000000002 1 -\n", false, 0.0);
  CHECK(numbers.source(plan.runs.at(1)) == NumbersFrom::first);
}

TEST_CASE("runs have numbers in common by their key") {
  const Plan plan = planned(small + ring_allreduce, {.grids = {"cluster.latency=1us,2us", "cluster.workers=2,3"}});
  const tests::Scratch scratch;
  SharedNumbers shared(scratch.path(), {}, nullptr);
  for (const RunPlan& run : plan.runs) shared.expect(run);
  int pairs = 0;
  for (const RunPlan& one : plan.runs)
    for (const RunPlan& other : plan.runs) {
      CHECK(shared.are_common(one, other) == (one.workers == other.workers));
      ++pairs;
    }
  CHECK(pairs == 16);
  CHECK_FALSE(shared.are_common(plan.baselines.front(), plan.runs.front()));
}

TEST_CASE("work with equal data is together, the longest first") {
  const Plan plan = planned(small + ring_allreduce, {.grids = {"stop.steps=1,2,3"}, .seeds = "1..2"});
  std::vector<const RunPlan*> runs;
  for (const RunPlan& run : plan.runs) runs.push_back(&run);  // 1 (seeds 1, 2), 2 (1, 2), 3 (1, 2)
  Schedule schedule(runs);
  schedule.sort_by([&](std::size_t run) { return static_cast<double>(*runs[run]->settings->stop.steps); });
  std::vector<std::size_t> order;
  const auto any = [](std::size_t) { return true; };
  while (const auto next = schedule.take(any)) order.push_back(*next);
  REQUIRE(order.size() == 6);
  CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == 6);
  // A seed's data are loaded once, and its last run is its shortest.
  const auto seed = [&](std::size_t place) { return runs[order[place]]->seed; };
  const auto length = [&](std::size_t place) { return *runs[order[place]]->settings->stop.steps; };
  for (const std::size_t first : {0, 3}) {
    CHECK((seed(first) == seed(first + 1) && seed(first) == seed(first + 2)));
    CHECK((length(first) == 3 && length(first + 1) == 2 && length(first + 2) == 1));
  }
  CHECK(schedule.empty());
  schedule.put_back(3);
  schedule.put_back(1);
  CHECK(schedule.count_if(any, 9) == 2);
  CHECK(schedule.count_if(any, 1) == 1);
  CHECK(schedule.count_if([](std::size_t run) { return run == 3; }, 9) == 1);
  CHECK_FALSE(schedule.take([](std::size_t) { return false; }));
  CHECK(schedule.take(any) == 1);
}

}  // namespace shared_numbers_test
