// Scenarios of several sources as users write them: faults with their place, trainings that would be others, sizes that
// are unknown, rows that come again.
#include "catch.h"
#include "cli/scenario.h"

namespace mixture_test {

using namespace simgrad::tests;

namespace {

const std::string blobs = "[[data.parts]]\nsource = \"blobs\"\n",
                  houses = "[[data.parts]]\nsource = \"house_prices\"\n";
const std::string towers = "kind = \"multimodal_perceptron\"\n";

std::string scenario(const std::string& parts, const std::string& model = towers, const std::string& strategy = "",
                     const std::string& training = "") {
  return "[cluster]\nworkers = 4\n[data]\nsource = \"mixture\"\n" + parts + "[model]\n" + model +
         "[training]\nbatch_size = 8\nlearning_rate = 0.05\n" + training +
         "[stop]\nsteps = 3\n[[strategy]]\nkind = \"multitask\"\n" + strategy;
}

std::string fault(const std::string& text) {
  const Scratch scratch;
  scratch.write("x.toml", text);
  const Called called = program("validate x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "x.toml:"));
  return called.err;
}

}  // namespace

TEST_CASE("faults of a mixture name the part, with their place") {
  CHECK(contains(fault(scenario("")), "has no parts"));
  CHECK(contains(fault(scenario(blobs + blobs)), "two parts are named \"blobs\""));
  CHECK(contains(fault(scenario(blobs + "name = \"\"\n")), "a part without a name"));
  CHECK(contains(fault(scenario(blobs + "[[data.parts]]\nsource = \"ratings\"\n")), "unknown source \"ratings\""));
  CHECK(contains(fault(scenario("[[data.parts]]\nsource = \"csv\"\npath = \"n.csv\"\n")), "predicts = \"number\""));
  CHECK(contains(fault(scenario(blobs + "rows = 2000\n")), "part \"blobs\": rows = 2000 of every sample"));
  CHECK(contains(fault(scenario(blobs + "predicts = \"number\"\n")), "the source \"blobs\" has classes"));
  CHECK(contains(fault(scenario(blobs + houses, "kind = \"perceptron\"\n")), "multimodal_perceptron"));
  CHECK(contains(fault(scenario(blobs + houses, towers + "towers = [{}]\n")), "1 tower, but the mixture has 2 parts"));
  CHECK(contains(fault(scenario(blobs + houses, towers + "hidden = []\n")), "the trunk has at least one hidden layer"));
  CHECK(contains(fault(scenario("samples = 5\n" + blobs)), ": samples with the data source \"mixture\""));
}

TEST_CASE("what would be another training than that of one device is refused, and what would not is run") {
  const auto accepted = [](const std::string& strategy, const std::string& training) {
    const Scratch scratch;
    scratch.write("x.toml", scenario(blobs + houses, towers, strategy, training));
    const Called called = program("validate x.toml --resolved", scratch);
    CAPTURE(called.err);
    return called.exit_code == 0;
  };
  const auto refused = [](const std::string& strategy, const std::string& training) {
    return fault(scenario(blobs + houses, towers, strategy, training));
  };
  const std::string gang = "schedule = \"gang\"\n", share = "rows = \"share\"\n";
  CHECK(contains(refused("", "partition = \"contiguous\"\n"), "gives each worker rows or a share of its own"));
  CHECK(contains(refused("", "partition = { kind = \"iid\", shares = \"speed\" }\n"), "shares"));
  CHECK(contains(refused("", "precision = \"float16\"\n"), "all ranks leave an update out together"));
  CHECK(contains(refused("", "clip_norm = 1.0\n"), "training.clip_norm"));
  CHECK(contains(refused(gang, "recompute = \"full\"\n"), "training.recompute is not for strategy multitask"));
  CHECK(contains(refused(gang + "rows = \"batch\"\n", ""), "leave rows out"));
  CHECK(contains(refused(share + "sizes = \"work\"\n", ""), "leave sizes out"));
  CHECK(accepted(gang, "partition = \"contiguous\"\nprecision = \"float16\"\n"));
  CHECK(accepted(gang, "clip_norm = 1.0\n"));
  CHECK(accepted(share, "partition = \"contiguous\"\n"));
  CHECK(accepted("sizes = \"work\"\n", ""));
}

TEST_CASE("float16 scales the loss of tasks, too: gang scheduling and sharing end as allreduce does") {
  const auto loss = [](const std::string& strategy) {
    const Json results = results_of(
        with(scenario(blobs + houses, towers, "", "precision = \"float16\"\n"), "kind = \"multitask\"\n", strategy));
    return results.at("runs").at(0).at("final_loss").get<double>();
  };
  const double allreduce = loss("kind = \"allreduce\"\n");
  // Numbers of 11 bits: another order of rounding.
  CHECK(loss("kind = \"multitask\"\nschedule = \"gang\"\n") == Approx(allreduce).epsilon(1e-3));
  CHECK(loss("kind = \"multitask\"\nschedule = \"sharing\"\n") == Approx(allreduce).epsilon(1e-3));
}

TEST_CASE("a timing-only run takes a file's sizes from its part, but cannot know its classes") {
  const std::string file = "[[data.parts]]\nsource = \"csv\"\npath = \"n.csv\"\n", timed = "numbers = false\n";
  const std::string number = "predicts = \"number\"\n", classes = "predicts = \"classes\"\n";
  const std::string sizes = "samples = 100\nfeatures = 9\n";
  CHECK(contains(fault(scenario(blobs + file + number, towers, "", timed)), "how much part \"csv\" would have"));
  CHECK(contains(fault(scenario(blobs + file + classes + sizes, towers, "", timed)), "the classes of part \"csv\""));
  const Json results = results_of(scenario(blobs + file + number + sizes, towers, "", timed));
  CHECK(results.at("runs").at(0).at("status") == "stopped");
  CHECK(results.at("runs").at(0).at("simulated_s").get<double>() > 0.0);
}

TEST_CASE("explain balance says that groups have rows by their tasks") {
  const Scratch scratch;
  scratch.write("x.toml", scenario(blobs + houses));
  const Called called = program("explain balance x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK(contains(called.err, "workers of strategy multitask have rows by their tasks"));
}

TEST_CASE("a source whose rows come again in an epoch is told") {
  const Scratch scratch;
  scratch.write("x.toml", scenario(blobs + "samples = 300\n" + houses + "samples = 100\n"));
  const Called called = program("run x.toml --no-why", scratch);
  CAPTURE(called.out, called.err);
  CHECK(called.exit_code == 0);
  CHECK(contains(called.err + called.out, "house_prices: its 100 rows come 3 times in an epoch of 300 samples"));
}

TEST_CASE("a group reads its own source's columns alone") {
  const auto seconds = [](const std::string& strategy) {
    std::string text = scenario(blobs + "features = 30\n" + houses + "features = 30\n", towers, "",
                                "input = { from = \"shared\", bandwidth = \"1kB/s\", prefetch = 0 }\n");
    return results_of(with(text, "kind = \"multitask\"\n", strategy)).at("runs").at(0).at("simulated_s").get<double>();
  };
  // 8 samples of 2 x 31 numbers of 8 bytes in each of 3 steps: nothing else takes long.
  CHECK(seconds("kind = \"multitask\"\n") == Approx(3 * 8 * 62 * 8 / 1000.0).epsilon(0.01));
  CHECK(seconds("kind = \"allreduce\"\n") == Approx(3 * 8 * 62 * 8 / 1000.0).epsilon(0.01));
}

}  // namespace mixture_test
