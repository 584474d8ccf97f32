// One grid point, typed and checked.
#include <sys/resource.h>

#include "base/errors.h"
#include "catch.h"
#include "experiment/checks/fit_check.h"
#include "experiment/plan/read_settings.h"
#include "experiment/scenario.h"
#include "simulation.h"

namespace settings_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

Settings settings_of(const std::string& text) {
  scenario::Faults faults;
  Settings settings = read_settings(scenario::Document::parse(text, "x.toml"), faults);
  faults.raise_if_any();
  return settings;
}

/// `small` with more lines in one of its sections.
std::string with_line(const std::string& section, const std::string& line) {
  std::string text = small + plain_allreduce;
  const std::string head = "[" + section + "]\n";
  if (text.find(head) == std::string::npos) return text + head + line + "\n";
  return text.insert(text.find(head) + head.size(), line + "\n");
}

}  // namespace

TEST_CASE("the rows of a generator are known: all but round(test_fraction x samples)") {
  CHECK(known_rows(settings_of(small + plain_allreduce)) == 100);
  CHECK(known_rows(settings_of(with_line("data", "test_fraction = 0.255"))) == 74);  // 25.5 rounds to 26
}

TEST_CASE("the rows of a file are not known before it is read, but those of a timing-only run are") {
  Settings settings = settings_of(small + plain_allreduce);
  settings.data.source.choose("csv");
  CHECK_FALSE(known_rows(settings));
  settings.training.numbers = false;
  CHECK(known_rows(settings) == 100);
}

TEST_CASE("the global batch is the rows, the batch size, or the workers' shares") {
  CHECK(settings_of(small + plain_allreduce).batch(100) == 100);
  CHECK(settings_of(with_line("training", "batch_size = 10")).batch(100) == 10);
  CHECK(settings_of(with_line("training", "batch_size_per_worker = 10")).batch(100) == 40);
}

TEST_CASE("a batch beyond the integers is the largest of them, not a negative one") {
  Settings settings = settings_of(small + plain_allreduce);
  settings.training.batch_size_per_worker = std::numeric_limits<std::int64_t>::max();
  CHECK(settings.batch(100) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("defaults that depend on other options are filled in") {
  const Settings plain = settings_of(small + plain_allreduce);
  CHECK(plain.evaluate.every_steps == 1);
  CHECK_FALSE(settings_of(with_line("evaluate", "every_s = \"1s\"")).evaluate.every_steps);
  const Settings bare = settings_of("[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n" + plain_allreduce);
  CHECK(bare.data.samples == 1000);
  CHECK(bare.data.features == 10);
}

TEST_CASE("the shape of a generator's data is known, classes and constant feature included") {
  CHECK(settings_of(small + plain_allreduce).problem().features == 3);
  CHECK(settings_of(with_line("model", "bias = true")).problem().features == 4);
  CHECK(settings_of(small + plain_allreduce).problem().classes == 0);
  std::string blobs = with_line("data", "source = \"blobs\"\nclasses = 7");
  blobs.replace(blobs.find("least_squares"), 13, "softmax_regression");
  CHECK(settings_of(blobs).problem().classes == 7);
}

TEST_CASE("a default label is the kind and the options that differ, and a written one counts as it is") {
  Settings settings = settings_of(small + plain_allreduce + "[[strategy]]\nkind = \"gossip\"\ngraph = \"star\"\n" +
                                  "[[strategy]]\nkind = \"gossip\"\nlabel = \"mine\"\n");
  CHECK(settings.strategies[0].name() == "allreduce");
  CHECK(settings.strategies[1].name() == "gossip(graph=star)");
  CHECK(settings.strategies[2].name() == "mine");
}

TEST_CASE("the fit is checked against whatever data there are, and every misfit is told") {
  const Settings settings = settings_of(with_line("training", "batch_size = 50"));
  scenario::Faults none;
  check_fit(settings, {.features = 3, .classes = 0}, 50, none);
  CHECK(none.empty());
  scenario::Faults faults;
  check_fit(settings, {.features = 3, .classes = 0}, 3, faults);
  CHECK_THROWS_WITH(faults.raise_if_any(),
                    "x.toml:3:1: 4 workers for 3 training rows; expected at most one worker a row\n"
                    "x.toml:14:1: a batch of 50 samples, but there are 3 training rows; expected at most as many");
}

TEST_CASE("ranks of a cut model share their rows: replicas, not ranks, have one each at least") {
  std::string text = with_line("parallel", "pipeline = 2\nmicro_batches = 1");
  text.replace(text.find("least_squares"), std::string("least_squares").size(), "perceptron");
  const Settings settings = settings_of(text);
  const auto faults_with_rows = [&](std::int64_t rows) {
    scenario::Faults faults;
    check_fit(settings, {.features = 3, .classes = 0}, rows, faults);
    return faults;
  };
  CHECK(faults_with_rows(2).empty());
  CHECK_THROWS_WITH(
      faults_with_rows(1).raise_if_any(),
      StartsWith("x.toml:3:1: 4 workers are 2 replicas of the model for 1 training rows; expected at most one "
                 "replica a row"));
}

TEST_CASE("a simulation that does not fit into the memory at hand is refused with the workers that fit") {
  const auto why = [](const std::string& strategy, int workers, double memory_bytes) -> std::string {
    std::string text = small;
    text.replace(text.find("workers = 4"), 11, "workers = " + std::to_string(workers));
    const Settings settings = settings_of(text + strategy);
    scenario::Faults faults;
    check_fit(settings, {.features = 100, .classes = 0}, 10'000, faults, memory_bytes);
    try {
      faults.raise_if_any();
    } catch (const base::ScenarioError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string broadcast = "[[strategy]]\nkind = \"async_broadcast\"\n";
  // 16 KiB an actor, 1 KiB a pair of ranks.
  const auto needed = [](double actors, double pairs) { return 16'384.0 * actors + 1'024.0 * pairs; };
  CHECK(why(broadcast, 100, needed(100, 9900)).empty());
  CHECK(why(broadcast, 100, needed(99, 99 * 98)) ==
        "x.toml:11:1: async_broadcast with 100 workers takes some 11.78MB of memory (100 actors, 9900 pairs of "
        "ranks that exchange messages), but 11.56MB are available; take at most 99 workers, or a strategy with fewer "
        "pairs");
  CHECK(why(broadcast, 100, 10.0).find("but 10B are available; free some memory") != std::string::npos);
}

#ifndef __SANITIZE_ADDRESS__  // whose shadow is terabytes of addresses
TEST_CASE("a graph that does not fit into memory is refused without being drawn") {
  const std::string text = tests::text_of_child([] {
    const rlimit limit{.rlim_cur = rlim_t{1} << 30, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    std::string scenario = small;
    scenario.replace(scenario.find("workers = 4"), 11, "workers = 131072");
    scenario.replace(scenario.find("samples = 100"), 13, "samples = 131072");
    std::string all;
    for (const std::string strategy :
         {"kind = \"gossip\"\ngraph = \"complete\"\n", "kind = \"ad_psgd\"\ngraph = \"complete\"\n",
          "kind = \"d2\"\ngraph = { kind = \"random_regular\", degree = 65536 }\n",
          "kind = \"gossip\"\ngraph = { kind = \"erdos_renyi\", probability = 0.5 }\n"})
      try {
        settings_of(scenario + "[[strategy]]\n" + strategy);
      } catch (const base::ScenarioError& error) {
        all += std::string(error.what()) + "\n";
      }
    return all;
  });
  // 16,384 P bytes and 1,024 an edge, of which there are P (P - 1), and half as many.
  CHECK_THAT(text, ContainsSubstring("gossip with 131072 workers takes some 17.59TB of memory (131072 actors, "
                                     "17179738112 pairs of ranks that exchange messages), but "));
  CHECK_THAT(text, ContainsSubstring("ad_psgd with 131072 workers"));
  CHECK_THAT(text, ContainsSubstring("d2 with 131072 workers takes some 8.798TB of memory"));
  CHECK_THAT(text, ContainsSubstring("gossip with 131072 workers takes some 8.798TB of memory"));
}
#endif

TEST_CASE("a partition is one of its kinds, with its options, and iid by default") {
  CHECK(settings_of(small + plain_allreduce).training.partition.kind() == "iid");
  CHECK(settings_of(with_line("training", "partition = \"contiguous\"")).training.partition.kind() == "contiguous");
  const Settings settings = settings_of(with_line("training", "partition = { kind = \"quantity\", alpha = 0.1 }"));
  CHECK(settings.training.partition.kind() == "quantity");
  CHECK(settings.training.partition->shuffled());
}

TEST_CASE("a partition by classes is refused for a regression, and where sizes depend on classes that are not read") {
  for (const std::string kind : {"by_label", "dirichlet"}) {
    CHECK_THROWS_WITH(settings_of(with_line("training", "partition = \"" + kind + "\"")),
                      "x.toml:14:1: partition = \"" + kind +
                          "\" goes by classes, but the data are a regression's; use a model that predicts classes, or "
                          "the partition quantity or contiguous");
    std::string blobs = with_line("training", "partition = \"" + kind + "\"");
    blobs.replace(blobs.find("least_squares"), 13, "softmax_regression");
    blobs.insert(blobs.find("[data]\n") + 7, "source = \"blobs\"\n");
    CHECK(settings_of(blobs).training.partition->by_class());
    blobs.insert(blobs.find("[training]\n") + 11, "numbers = false\n");
    if (kind == "by_label")
      CHECK(settings_of(blobs).training.partition->by_class());
    else
      CHECK_THROWS_WITH(settings_of(blobs),
                        "x.toml:16:1: partition = \"dirichlet\" cuts the rows of each class, but training.numbers = "
                        "false reads none; use by_label, whose sizes are known, or quantity");
  }
}

TEST_CASE("an optimizer, a schedule, a warm-up that no strategy uses are refused, and are not where one does") {
  const auto lloyd = [](const std::string& line) {
    std::string text = with_line("training", line);
    text.replace(text.find("least_squares"), 13, "k_means");
    text.replace(text.find(plain_allreduce), plain_allreduce.size(),
                 "[[strategy]]\nkind = \"mapreduce\"\njob = \"k_means\"\n");
    return text;
  };
  CHECK_NOTHROW(settings_of(lloyd("learning_rate = 0.5")));
  for (const std::string line : {"optimizer = \"lamb\"", "schedule = \"inverse_time\"", "warmup_steps = 2",
                                 "batch_size_per_worker = 2\nlearning_rate_scaling = \"linear\""}) {
    const std::string last = line.substr(line.find('\n') + 1), key = last.substr(0, last.find(' '));
    CHECK_THROWS_WITH(settings_of(lloyd(line)),
                      ContainsSubstring(key + " is the optimizer's, but all strategies have job"));
    CHECK_NOTHROW(settings_of(lloyd(line) + plain_allreduce));
  }
}

}  // namespace settings_test
