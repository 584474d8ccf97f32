// Selections and changes by the command line: --set, --grid, --seeds, --strategy.
#include <fmt/format.h>

#include "catch.h"
#include "cli/scenario.h"

namespace selection_test {

using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

/// The resolved scenario that `validate` prints.
std::string resolved(const std::string& text, const std::string& arguments) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("validate x.toml --resolved " + arguments, scratch);
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return called.out;
}

bool has_line(const std::string& text, const std::string& wanted) {
  return contains("\n" + text, "\n" + wanted + "\n");
}

const std::string two_servers = with_strategies(
    "[[strategy]]\nkind = \"parameter_server\"\n"
    "[[strategy]]\nkind = \"parameter_server\"\nlabel = \"async\"\nconsistency = \"asp\"\n"
    "[[strategy]]\nkind = \"gossip\"\n");

std::string labels(const std::string& text, const std::string& arguments) {
  std::string all;
  for (const Json& label : each(results_of(text, "--no-baseline " + arguments), "label"))
    all += (all.empty() ? "" : " ") + label.get<std::string>();
  return all;
}

}  // namespace

TEST_CASE("option --set changes any key, of the file or not, as often as it is given") {
  const std::string text =
      resolved(small,
               "--set cluster.workers=8 --set 'cluster.latency = \"1ms\"' --set cluster.bandwidth=10Gbps "
               "--set model.bias=true --set training.optimizer.kind=momentum --set training.optimizer.momentum=0.5 "
               "--set 'training.schedule={kind=\"inverse_time\", decay=0.25}' --set cluster.watchdog.real=5min");
  for (const char* line : {"workers = 8", "latency = \"1ms\"", "bandwidth = \"10Gbps\"", "bias = true"})
    CHECK(has_line(text, line));
  CHECK(contains(text, "optimizer = { kind = \"momentum\", momentum = 0.5"));
  CHECK(contains(text, "schedule = { kind = \"inverse_time\", decay = 0.25"));
  CHECK(contains(text, "real = \"5min\""));
}

TEST_CASE("the last --set of a key counts") {
  CHECK(has_line(resolved(small, "--set cluster.workers=8 --set cluster.workers=3"), "workers = 3"));
}

TEST_CASE("option --set reaches a strategy by label, else by kind, else by its index") {
  CHECK(labels(two_servers,
               "--set strategy.async.gradient=mean --set strategy.gossip.graph=star "
               "--set strategy.0.label=first") == "first async gossip(graph=star)");
  const auto options = each(results_of(two_servers, "--set strategy.async.gradient=mean"), "options");
  CHECK(options[0]["gradient"] == "sum");
  CHECK(options[1]["gradient"] == "mean");
  // A key of one kind holds for all of that kind.
  CHECK(resolved(two_servers, "--set strategy.parameter_server.servers=1") == resolved(two_servers, ""));
}

TEST_CASE("option --set of a key that [grid] varies removes the axis, rather than being ignored") {
  const std::string text = small + "[grid]\n\"cluster.workers\" = [1, 2]\n\"training.learning_rate\" = [0.1, 0.2]\n";
  const Json results = results_of(text, "--set cluster.workers=3");
  CHECK(each(results, "workers") == std::vector<Json>{3, 3});
  CHECK(each(results, "parameters") ==
        std::vector<Json>{{{"training.learning_rate", 0.1}}, {{"training.learning_rate", 0.2}}});
}

TEST_CASE("a data path of the file is relative to the file, one of --set to the current directory") {
  const Scratch scratch;
  for (const char* directory : {"scenarios", "data", "mine"}) fs::create_directory(scratch.path() + "/" + directory);
  scratch.write("data/d.csv", "a,b\n1,2\n3,5\n4,7\n6,8\n");
  scratch.write("mine/d.csv", "a,b\n1,2\n3,5\n4,7\n6,8\n7,9\n");
  scratch.write("scenarios/x.toml", with(small, "source = \"house_prices\"\nsamples = 200\nfeatures = 5\n",
                                         "source = \"csv\"\npath = \"../data/d.csv\"\n"));
  const auto samples_a_step = [&](const std::string& arguments) {
    const Called called = program("run scenarios/x.toml --json --force --set stop.steps=1 " + arguments, scratch);
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
    return Json::parse(called.out)["runs"][0]["samples"].get<int>();
  };
  CHECK(samples_a_step("") == 4);
  CHECK(samples_a_step("--set data.path=mine/d.csv") == 5);
  CHECK(samples_a_step("--grid data.path=mine/d.csv") == 5);
  CHECK(program("validate scenarios/x.toml --set data.path=d.csv", scratch).exit_code == 5);
  // The echo is relative to the file again, wherever the call came from.
  CHECK(has_line(program("validate scenarios/x.toml --resolved --set data.path=mine/d.csv", scratch).out,
                 "path = \"../mine/d.csv\""));
}

TEST_CASE("option --grid is a product of its axes, the file's first, and one of the same key replaces the file's") {
  const std::string text = small + "[grid]\n\"cluster.workers\" = [1, 2]\n";
  const Json results =
      results_of(text, "--no-baseline --grid training.batch_size=10,full --grid 'cluster.latency=[\"1us\", \"2us\"]'");
  std::vector<Json> points;
  for (const int workers : {1, 2})
    for (const Json& batch : {Json(10), Json("full")})
      for (const char* latency : {"1us", "2us"})
        points.push_back({{"cluster.workers", workers}, {"training.batch_size", batch}, {"cluster.latency", latency}});
  CHECK(each(results, "parameters") == points);
  CHECK(each(results_of(text, "--grid cluster.workers=3"), "workers") == std::vector<Json>{3});
}

TEST_CASE("option --grid varies a component and an option of a strategy") {
  const auto all = labels(
      two_servers, "--grid training.optimizer=sgd,momentum --grid strategy.gossip.graph=ring,star --strategy gossip");
  CHECK(all == "gossip gossip(graph=star) gossip gossip(graph=star)");
}

TEST_CASE("option --seeds a..b is inclusive, and a list names each") {
  const auto seeds = [](const std::string& given) { return each(results_of(small, "--seeds " + given), "seed"); };
  CHECK(seeds("1..3") == std::vector<Json>{1, 2, 3});
  CHECK(seeds("7") == std::vector<Json>{7});
  CHECK(seeds("5,2..3") == std::vector<Json>{5, 2, 3});
}

TEST_CASE("without --seeds a run has the scenario's seed, which a grid may vary") {
  CHECK(each(results_of(with(small, "seed = 1", "seed = 9")), "seed") == std::vector<Json>{9});
  CHECK(each(results_of(small, "--grid seed=4,5"), "seed") == std::vector<Json>{4, 5});
}

TEST_CASE("labels are the kind and what differs from its defaults") {
  CHECK(labels(with_strategies(all_strategies), "") ==
        "single mapreduce parameter_server async parameter_server(consistency=asp, gradient=mean) allreduce gossip "
        "gossip(graph=complete, update=adapt_then_combine) gossip(graph=star, update=gradient_exchange)");
}

TEST_CASE("option --strategy takes a label, else all of a kind, in the file's order") {
  CHECK(labels(two_servers, "--strategy async") == "async");
  CHECK(labels(two_servers, "--strategy gossip --strategy async") == "async gossip");
  CHECK(labels(with_strategies("[[strategy]]\nkind = \"gossip\"\nlabel = \"a\"\n[[strategy]]\nkind = \"gossip\"\nlabel "
                               "= \"b\"\n[[strategy]]\nkind = \"single\"\n"),
               "--strategy gossip") == "a b");
  // The default label of the first is its kind, which is therefore not all of the kind.
  CHECK(labels(two_servers, "--strategy parameter_server") == "parameter_server");
}

TEST_CASE("option --strategy may name a label that only one grid point has") {
  CHECK(labels(two_servers, "--grid strategy.gossip.graph=ring,star --strategy 'gossip(graph=star)'") ==
        "gossip(graph=star)");
}

TEST_CASE("a command of some strategies says that the others' runs are kept, but not in results.json") {
  const Scratch scratch;
  scratch.write("x.toml", two_servers);
  const std::string told =
      " of earlier commands are kept in out/x/runs, but not in results.json and the tables, which ";
  const auto err_of = [&](const std::string& arguments) {
    const Called called = program("run x.toml --no-why " + arguments, scratch);
    CHECK(called.exit_code == 0);
    return called.err;
  };
  CHECK_FALSE(contains(err_of(""), told));
  CHECK(contains(err_of("--strategy gossip"), "simgrad: 2 runs" + told + "have this command's runs alone\n"));
  CHECK(results_in(scratch)["runs"].size() == 1);
  CHECK(contains(err_of("--seeds 2"), "simgrad: 3 runs" + told));
  CHECK(contains(err_of("--strategy gossip --strategy parameter_server --strategy async --no-baseline"),
                 "simgrad: 3 runs" + told));
  CHECK_FALSE(contains(err_of(""), told));  // all strategies again
  CHECK(results_in(scratch)["runs"].size() == 3);
}

TEST_CASE("an unknown --strategy is told from the labels and kinds there are") {
  const Scratch scratch;
  scratch.write("x.toml", two_servers);
  const Called called = program("run x.toml --strategy asnyc", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.err ==
        "--strategy asnyc: no strategy of the scenario is called that; did you mean \"async\"? Known: "
        "parameter_server, async, gossip\n");
}

TEST_CASE("a value of the file is checked even if the grid or the command line replaces it") {
  const Scratch scratch;
  const auto refused = [&](const std::string& text, const std::string& arguments, const std::string& error) {
    scratch.write("x.toml", text);
    const Called called = program("validate x.toml " + arguments, scratch);
    INFO(arguments);
    CHECK(called.exit_code == 2);
    CHECK(called.err == error + "\n");
  };
  const std::string text = with(small, "workers = 4", "workers = \"4\"");
  const std::string fault = "x.toml:5:11: workers must be an integer, found \"4\"";
  refused(text, "--set cluster.workers=2", fault);
  refused(text, "--grid cluster.workers=2,4", fault);
  refused(text + "[grid]\n\"cluster.workers\" = [2, 4]\n", "", fault);
  refused(with(small, "\"1Gbps\"", "\"1Gb\""), "--set cluster.bandwidth=1Gbps",
          "x.toml:7:13: bandwidth: unknown unit \"Gb\" in \"1Gb\"; did you mean \"1Gbps\"?");
  scratch.write("x.toml", small);
  CHECK(program("validate x.toml --set cluster.workers=2", scratch).exit_code == 0);
}

TEST_CASE("a section that is a number is blamed, not the key that is laid over it") {
  const Scratch scratch;
  std::string text = "training = 3\n" + small;
  text = with(text, "[training]\nlearning_rate = 0.1\n", "");
  scratch.write("x.toml", text);
  for (const char* arguments : {"", "--set training.learning_rate=1", "--grid training.learning_rate=1,2"}) {
    INFO(arguments);
    const Called called = program(std::string("validate x.toml ") + arguments, scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.err == "x.toml:1:12: training must be a table, found 3\n");
  }
}

TEST_CASE("a key without its section is looked for in all sections") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const Called called = program("validate x.toml --set bandwidth=1Gbps", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.err.starts_with("--set bandwidth=1Gbps: unknown key \"bandwidth\"; did you mean \"cluster.bandwidth\""));
  CHECK(
      contains(program("validate x.toml --set bandwith=1Gbps", scratch).err, "did you mean \"cluster.bandwidth\" or "));
  CHECK(contains(program("validate x.toml --set lr=1", scratch).err, "did you mean \"training.learning_rate\" or "));
  CHECK(contains(program("validate x.toml --set cluster.worker=1", scratch).err, "did you mean \"workers\"?"));
  CHECK(contains(program("validate x.toml --set training.lr=1", scratch).err, "did you mean \"learning_rate\"?"));
  CHECK(contains(program("validate x.toml --set zzzz=1", scratch).err, "unknown key \"zzzz\"; known: "));
}

TEST_CASE("malformed --set, --grid and --seeds are told with what was expected") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto refused = [&](const std::string& arguments, const std::string& error) {
    const Called called = program("run x.toml " + arguments, scratch);
    CHECK(called.exit_code == 2);
    CHECK(called.err == error + "\n");
    CHECK(called.out.empty());
    CHECK_FALSE(fs::exists(scratch.path() + "/out"));
  };
  refused("--set cluster.workers", "--set cluster.workers: expected --set KEY=VALUE");
  refused("--set =3", "--set =3: malformed key \"\"; expected names with dots between, as in cluster.workers");
  refused("--set seed.x=3", "--set seed.x=3: \"seed\" is 1, not a table");
  refused("--set strategy.7.label=a", "--set strategy.7.label=a: \"strategy\" has 1 entries, counted from 0");
  refused(
      "--set strategy.alreduce.label=a",
      "--set strategy.alreduce.label=a: unknown strategy \"alreduce\"; did you mean \"allreduce\"? Known: allreduce");
  refused("--set cluster.wrokers=3",
          "--set cluster.wrokers=3: unknown key \"wrokers\" in [cluster]; did you mean \"workers\"?");
  refused("--set clutser.workers=3", "--set clutser.workers=3: unknown key \"clutser\"; did you mean \"cluster\"?");
  refused("--grid cluster.workers=", "--grid cluster.workers=: a value is empty, expected KEY=VALUE,VALUE,...");
  refused("--grid cluster.workers=1,1", "--grid cluster.workers=1,1: \"cluster.workers\" takes the value 1 twice");
  refused(
      "--grid training.learning_rate=1,1.0",
      "--grid training.learning_rate=1,1.0: \"training.learning_rate\" takes one value twice, as 1 and as 1.0; leave "
      "one of them out");
  refused("--grid cluster.bandwidth=1Gbps,1000Mbps",
          "--grid cluster.bandwidth=1Gbps,1000Mbps: \"cluster.bandwidth\" takes one value twice, as \"1Gbps\" and as "
          "\"1000Mbps\"; leave one of them out");
  refused("--grid cluster.wrokers=1,2",
          "--grid cluster.wrokers=1,2: unknown key \"wrokers\" in [cluster]; did you mean \"workers\"?");
  refused("--seeds 3..1", "--seeds 3..1: 3..1 is empty; expected a..b with a <= b");
  refused("--seeds 0..99999999", "--seeds 0..99999999: 0..99999999 are 100000000 seeds; at most 100000 are allowed");
  refused("--seeds 1,x", "--seeds 1,x: \"x\" is not a seed; write 1..5 or 1,3,7");
  refused("--seeds 1,1", "--seeds 1,1: a seed is named twice");
}

TEST_CASE("a grid of too many points is refused with its exact size before it fills the memory") {
  const Scratch scratch;
  scratch.write("x.toml", small);
  // 256 MiB of address space
  const auto refused = [&](const std::string& options) {
    const Called called = call("ulimit -v 262144; timeout 20 simgrad run x.toml " + options, scratch.path());
    CHECK(called.exit_code == 2);
    return called.err;
  };
  const std::string remedy =
      "take fewer values or seeds, or split them over several commands; shards do not help, because each of them plans "
      "the whole experiment\n";
  CHECK(refused("--grid 'seed=range(1,1000)' --grid 'training.checkpoint_every_steps=range(1,1000)'") ==
        "x.toml: the grid has 1000000 points (seed: 1000 values, training.checkpoint_every_steps: 1000 values), which "
        "with 1 strategy and 1 seed are 1000000 runs; at most 20000 points are planned: " +
            remedy);
  CHECK(refused("--seeds 1..100000 --grid 'zip(cluster.workers=range(1,3); data.samples=100,200,300)'") ==
        "x.toml: the grid has 3 points (cluster.workers with data.samples: 3 values), which with 1 strategy and 100000 "
        "seeds are 300000 runs; at most 100000 runs are planned: " +
            remedy);
  std::string axes;  // 10^21 points are more than 2^64
  for (const char* key :
       {"seed", "cluster.workers", "data.samples", "data.features", "stop.steps", "stop.epochs", "training.batch_size"})
    axes += fmt::format(" --grid '{}=range(1,1000)'", key);
  CHECK(contains(refused(axes), "x.toml: the grid has 1000000000000000000000 points ("));
}

}  // namespace selection_test
