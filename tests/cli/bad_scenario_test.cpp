// Faults of a scenario are reported once, with their positions, before anything is simulated.
#include "cli/refusal.h"

namespace bad_scenario_test {

using namespace simgrad::tests;

namespace {

/// `small` with one line replaced, and the error it gives.
struct Fault {
  const char* line;
  const char* instead;
  const char* error;
};

void check(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) DYNAMIC_SECTION(fault.instead) {
      check_refused(with(small, fault.line, fault.instead), {fault.error});
    }
}

}  // namespace

TEST_CASE("malformed TOML is told with line and column") {
  check_refused("seed = \n", {"x.toml:1:8: malformed TOML: "});
  check_refused("seed = 1\nseed = 2\n", {"x.toml:2:8: malformed TOML: "});
  check_refused("[cluster\nworkers = 1\n", {"x.toml:1:9: malformed TOML: "});
  check_refused("\1", {"x.toml:1:1: malformed TOML: "});
  check_refused(std::string("\0\1", 2), {"x.toml:1:1: a NUL byte, expected text in UTF-8 or ASCII"});
  check_refused("title = \"\xff\"\n", {"x.toml:1:"});
}

TEST_CASE("numbers of workers that no cluster has are refused") {
  check({{"workers = 4", "workers = 0", "x.toml:5:11: workers must be from 1 to "},
         {"workers = 4", "workers = -1", "x.toml:5:11: workers must be from 1 to "},
         {"workers = 4", "workers = 1e9", "x.toml:5:11: workers must be from 1 to "},
         {"workers = 4", "workers = 3.5", "x.toml:5:11: workers must be an integer, found 3.5"},
         {"workers = 4", "workers = nan", "x.toml:5:11: workers must be an integer, found nan"},
         {"workers = 4", "workers = \"4\"", "x.toml:5:11: workers must be an integer, found \"4\""},
         {"workers = 4", "workers = [4]", "x.toml:5:11: workers must be an integer, found "},
         {"workers = 4", "workers = 201",
          "x.toml:5:1: 201 workers for 200 training rows; expected at most one worker a row"}});
}

TEST_CASE("quantities without a unit, with a wrong one, or out of range are refused") {
  check({{"\"1GF\"", "10", "x.toml:6:9: speed: a speed needs a unit, as in \"10GF\"; found 10"},
         {"\"1GF\"", "\"0F\"", "x.toml:6:9: speed must be above 0"},
         {"\"1GF\"", "\"1GHz\"", "x.toml:6:9: speed: unknown unit \"GHz\" in \"1GHz\""},
         {"\"1Gbps\"", "\"0bps\"", "x.toml:7:13: bandwidth must be above 0"},
         {"\"1Gbps\"", "\"1Gb\"", "x.toml:7:13: bandwidth: unknown unit \"Gb\" in \"1Gb\"; did you mean \"1Gbps\"?"},
         {"\"1Gbps\"", "\"-1Gbps\"", "x.toml:7:13: bandwidth must be above 0"},
         {"\"1Gbps\"", "\"1e400bps\"", "x.toml:7:13: bandwidth: \"1e400bps\" is beyond the range of a number"},
         {"\"1Gbps\"", "\"inf bps\"",
          "x.toml:7:13: bandwidth: expected a bandwidth, as in \"10Gbps\"; found \"inf bps\""},
         {"\"50us\"", "\"-1us\"", "x.toml:8:11: latency must be "},
         {"\"50us\"", "50", "x.toml:8:11: latency: a time needs a unit, as in \"50us\"; found 50"},
         {"\"50us\"", "\"50\"", "x.toml:8:11: latency: a time needs a unit, as in \"50us\"; found \"50\""},
         {"\"50us\"", "\"\"", "x.toml:8:11: latency: expected a time, as in \"50us\"; found \"\""}});
}

TEST_CASE("amounts of data that nothing holds, or that are none, are refused before they are made") {
  check({{"samples = 200", "samples = 0", "x.toml:12:11: samples must be "},
         {"samples = 200", "samples = 1e15",
          "x.toml:12:1: data source \"house_prices\": 1000000000000000 rows x 5 columns"},
         {"samples = 200", "samples = 1e30", "x.toml:12:11: samples must be an integer"},
         {"features = 5", "features = 0", "x.toml:13:12: features must be "},
         {"features = 5", "features = 1e9", "x.toml:12:1: data source \"house_prices\": 200 rows x 1000000000 columns"},
         {"features = 5", "test_fraction = 1.0", "x.toml:13:1: test_fraction = 1 leaves no rows to train on"},
         {"features = 5", "test_fraction = 0.999",
          "x.toml:13:1: test_fraction = 0.999 of 200 rows leaves no row to train on"},
         {"features = 5", "test_fraction = 0.001",
          "x.toml:13:1: test_fraction = 0.001 of 200 rows leaves no row to test on"}});
}

TEST_CASE("learning rates and batches that cannot train are refused") {
  check({{"0.1", "0", "x.toml:19:17: learning_rate must be above 0"},
         {"0.1", "-0.1", "x.toml:19:17: learning_rate must be above 0"},
         {"0.1", "nan", "x.toml:19:17: learning_rate must be a finite number, found nan"},
         {"0.1", "inf", "x.toml:19:17: learning_rate must be a finite number, found inf"},
         {"0.1", "\"0.1\"", "x.toml:19:17: learning_rate must be a number, found \"0.1\""},
         {"learning_rate = 0.1", "batch_size = 0", "x.toml:19:14: batch_size must be at least 1, found 0"},
         {"learning_rate = 0.1", "batch_size = \"ful\"", "x.toml:19:14: batch_size must be an integer or \"full\""},
         {"learning_rate = 0.1", "batch_size = 201",
          "x.toml:19:1: a batch of 201 samples, but there are 200 training rows; expected at most as many"},
         {"learning_rate = 0.1", "batch_size_per_worker = 51", "x.toml:19:1: a batch of 204 samples"},
         {"learning_rate = 0.1", "batch_size_per_worker = 9223372036854775807", "x.toml:19:1: a batch of "},
         {"learning_rate = 0.1", "batch_size = 1\nbatch_size_per_worker = 1",
          "x.toml:20:1: \"batch_size_per_worker\" contradicts \"batch_size\""}});
}

TEST_CASE("rules that never stop, or at once, are refused") {
  check({{"steps = 10", "steps = 0", "x.toml:22:9: steps must be from 1 to "},
         {"steps = 10", "steps = 9223372036854775807", "x.toml:22:9: steps must be from 1 to "},
         {"steps = 10", "epochs = 0", "x.toml:22:10: epochs must be above 0"},
         {"steps = 10", "epochs = 1e300", "x.toml:22:10: epochs must be above 0 and at most "},
         {"steps = 10", "samples = 1e18", "x.toml:22:11: samples must be from 1 to "},
         {"steps = 10", "time = \"0s\"", "x.toml:22:8: time must be above 0"},
         {"steps = 10", "time = \"1e300s\"", "x.toml:22:8: time must be above 0 and at most "},
         {"steps = 10", "time = 10", "x.toml:22:8: time: a time needs a unit, as in \"50us\"; found 10"},
         {"steps = 10", "steps = 10\nloss = nan", "x.toml:23:8: loss must be a finite number, found nan"},
         {"steps = 10", "steps = 10\nloss = inf", "x.toml:23:8: loss must be a finite number, found inf"},
         {"steps = 10", "loss = 0.1", "x.toml:22:1: a target alone may never be reached; add epochs"},
         {"steps = 10", "", "x.toml:21:1: [stop] needs at least one of loss, epochs, samples, tokens, steps, time"},
         {"[stop]\nsteps = 10", "",
          "x.toml:1:1: [stop] needs at least one of loss, epochs, samples, tokens, steps, time"},
         {"[stop]", "[evaluate]\nevery_steps = 0\n[stop]", "x.toml:22:15: every_steps must be at least 1, found 0"},
         {"[stop]", "[evaluate]\non = \"test\"\n[stop]", "x.toml:22:1: on = \"test\", but there is no test set"}});
}

TEST_CASE("unknown keys and kinds are told with what was probably meant") {
  check(
      {{"workers = 4", "wrokers = 4", "x.toml:5:1: unknown key \"wrokers\" in [cluster]; did you mean \"workers\"?"},
       {"[model]", "[modle]\n[model]", "x.toml:15:2: unknown key \"modle\"; did you mean \"model\"?"},
       {"kind = \"allreduce\"", "kind = \"alreduce\"",
        "x.toml:25:8: unknown strategy \"alreduce\"; did you mean \"allreduce\"? Known: single, mapreduce, "},
       {"kind = \"allreduce\"", "kind = \"allreduce\"\ngraph = \"ring\"",
        "x.toml:26:1: unknown key \"graph\" in [[strategy]]"},
       {"kind = \"allreduce\"", "kind = \"gossip\"\ngraph = \"rnig\"",
        "x.toml:26:9: unknown graph \"rnig\"; did you mean \"ring\"? Known: ring, complete, star"},
       {"\"house_prices\"", "\"house_price\"",
        "x.toml:11:10: unknown source \"house_price\"; did you mean \"house_prices\"?"},
       {"\"least_squares\"", "\"least_square\"",
        "x.toml:16:8: unknown model \"least_square\"; did you mean \"least_squares\"?"},
       {"learning_rate = 0.1", "optimizer = \"sdg\"", "x.toml:19:13: unknown optimizer \"sdg\"; did you mean \"sgd\"?"},
       {"learning_rate = 0.1", "optimizer = { kind = \"momentum\", momentmu = 0.5 }",
        "x.toml:19:34: unknown key \"momentmu\" in [training.optimizer]; did you mean \"momentum\"?"},
       {"seed = 1", "sede = 1", "x.toml:2:1: unknown key \"sede\"; did you mean \"seed\"?"},
       {"seed = 1", "schema = 2", "x.toml:2:10: schema must be from 1 to 1, found 2"}});
}

TEST_CASE("a scenario without a model, a strategy or anything at all says what it needs") {
  check_refused(with(small, "kind = \"least_squares\"", ""),
                {"x.toml:15:1: [model] needs kind, one of least_squares, "});
  check_refused(with_strategies(""), {"x.toml:1:1: a scenario needs at least one [[strategy]]"});
  check_refused("strategy = []\n" + with_strategies(""), {"x.toml:1:1: a scenario needs at least one [[strategy]]"});
  check_refused("strategy = 3\n" + with_strategies(""), {"x.toml:1:12: strategy must be a list of tables"});
  check_refused("", {"x.toml:1:1: [model] needs kind", "x.toml:1:1: [stop] needs at least one",
                     "x.toml:1:1: a scenario needs at least one [[strategy]]"});
}

TEST_CASE("two equal labels are refused, written or not") {
  const std::string error =
      "x.toml:26:1: two strategies are labelled \"allreduce\"; give one of them a label of its own";
  check_refused(small + "[[strategy]]\nkind = \"allreduce\"\n", {error});
  check_refused(small + "[[strategy]]\nkind = \"gossip\"\nlabel = \"allreduce\"\n", {error});
}

TEST_CASE("a misspelt option does not make two labels equal") {
  check_refused(with_strategies("[[strategy]]\nkind = \"gossip\"\n[[strategy]]\nkind = \"gossip\"\ngraph = \"satr\"\n"),
                {"x.toml:28:9: unknown graph \"satr\"; did you mean \"star\"?"});
}

TEST_CASE("a scenario that extends a file which is not there ends with 5") {
  const Scratch scratch;
  scratch.write("x.toml", "extends = \"y.toml\"\n" + small);
  check_refused(scratch, {"x.toml:1:11: y.toml: cannot be opened: No such file or directory"}, 5);
}

TEST_CASE("all faults of a file are told in one pass, from top to bottom, those of the command line last") {
  const Scratch scratch;
  scratch.write("x.toml", with(with(with(small, "workers = 4", "workers = 0"), "\"1Gbps\"", "1"), "[stop]\nsteps = 10",
                               "[stop]\nstpes = 10\nloss = nan") +
                              "[grid]\n\"training.learning_rate\" = [0.1, 0]\n\"cluster.latency\" = 3\n");
  check_refused(scratch,
                {"x.toml:5:11: workers must be", "x.toml:7:13: bandwidth: a bandwidth needs a unit",
                 "x.toml:22:1: unknown key \"stpes\" in [stop]; did you mean \"steps\"?",
                 "x.toml:23:8: loss must be a finite number", "x.toml:28:34: learning_rate must be above 0",
                 "x.toml:29:21: \"cluster.latency\" in [grid] must be a list of values, as in [1, 2, 4], or "
                 "range(a,b,step) or logspace(a,b,n) in quotes, found 3",
                 "--set model.l2=-1: l2 must be at least 0", "--grid seed=1,x: seed must be an integer"},
                2, "--set model.l2=-1 --grid seed=1,x");
}

TEST_CASE("a fault of one grid point is told with the place of its value") {
  const auto refused = [](const std::string& grid, const std::vector<std::string>& errors) {
    check_refused(small + "[grid]\n" + grid + "\n", errors);
  };
  refused("\"cluster.workers\" = [1, 0, 2, \"x\"]",
          {"x.toml:27:25: workers must be from 1 to ", "x.toml:27:31: workers must be an integer, found \"x\""});
  refused("\"training.batch_size\" = [10, 201]", {"x.toml:27:30: a batch of 201 samples"});
  refused("\"cluster.workers\" = []", {"x.toml:27:21: \"cluster.workers\" in [grid] has no values"});
  refused("\"cluster.workers\" = [1, 2, 1]", {"x.toml:27:28: \"cluster.workers\" takes the value 1 twice"});
}

TEST_CASE("numbers that are not computed give no loss to aim at") {
  check({{"learning_rate = 0.1\n\n[stop]", "numbers = false\n\n[stop]\nloss = 0.1",
          "x.toml:22:1: a loss target, but training.numbers = false computes no losses"}});
}

TEST_CASE("options that contradict each other are refused") {
  check({{"workers = 4", "workers = 4\nrelative_speeds = [1, 1, 1, 1, 0.5]",
          "x.toml:6:1: 5 relative speeds for 4 workers; give at most one a worker"},
         {"workers = 4", "workers = 4\nrelative_speeds = [1, 0]",
          "x.toml:6:23: relative_speeds must be above 0, found 0"},
         {"kind = \"allreduce\"", "kind = \"parameter_server\"\ngradient = \"mean\"",
          "x.toml:26:1: gradient = \"mean\" says how a part counts alone, but bsp applies the sum of all parts"},
         {"[data]", "[[cluster.failures.crash]]\nrank = 1\nat = \"1ms\"\n[data]",
          "x.toml:10:20: recovery \"restart\" waits for a host that is never repaired"},
         {"[data]", "[[cluster.failures.crash]]\nrank = 4\nat = \"1ms\"\nrepair = \"1ms\"\n[data]",
          "x.toml:10:20: a crash of rank 4, but the workers are ranks 0 to 3"}});
}

TEST_CASE("a model that does not fit what the generator makes is refused") {
  check({{"\"least_squares\"", "\"logistic_regression\"",
          "x.toml:11:1: data source \"house_prices\" makes numbers, but the model predicts classes"},
         {"\"house_prices\"", "\"blobs\"",
          "x.toml:11:1: data source \"blobs\" makes classes, but the model predicts a number"}});
  check_refused(with(with(small, "\"house_prices\"", "\"blobs\"\nclasses = 3"), "least_squares", "logistic_regression"),
                {"x.toml:17:1: logistic_regression needs two classes, but the data have 3; use softmax_regression"});
}

}  // namespace bad_scenario_test
