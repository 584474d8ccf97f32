// Learning through the program: every model on data that suits it, and refused on other data.
#include "catch.h"
#include "cli/refusal.h"

namespace learning_test {

using namespace simgrad::tests;

namespace {

std::string with_model(const std::string& model, const std::string& source) {
  return with(with(small, "kind = \"least_squares\"", model), "source = \"house_prices\"", source);
}

double first_loss(const Json& run) { return run.at("curve").front().at("loss"); }
double last_loss(const Json& run) { return run.at("curve").back().at("loss"); }

/// The runs without fields that depend on the machine.
Json timeless_runs(const std::string& text, const std::string& arguments) {
  Json results = results_of(text, arguments);
  for (Json& run : results.at("runs")) run.erase("wall_s");
  return results.at("runs");
}

}  // namespace

TEST_CASE("a perceptron learns numbers from house_prices and classes from blobs, without being told which") {
  const Json numbers = results_of(with_model("kind = \"perceptron\"\nhidden = [8, 4]", "source = \"house_prices\""));
  const Json classes = results_of(with_model("kind = \"perceptron\"\nhidden = [8, 4]", "source = \"blobs\""));
  CHECK(numbers.at("runs")[0].at("metric_name") == "r2");
  CHECK(classes.at("runs")[0].at("metric_name") == "accuracy");
  for (const Json& results : {numbers, classes})
    CHECK(last_loss(results.at("runs")[0]) < 0.9 * first_loss(results.at("runs")[0]));
}

TEST_CASE("a perceptron's numbers are the same bits on any number of threads, minibatches included") {
  const std::string text =
      with(with(with_model("kind = \"perceptron\"\nhidden = [40, 20]\nactivation = \"tanh\"\nl2 = 1e-3",
                           "source = \"blobs\""),
                "learning_rate = 0.1", "learning_rate = 0.1\nbatch_size = 99"),
           "samples = 200", "samples = 500");
  const Json inline_runs = timeless_runs(text, "--threads 0");
  CHECK(timeless_runs(text, "--threads 1") == inline_runs);
  CHECK(timeless_runs(text, "--threads 3") == inline_runs);
}

TEST_CASE("timing only, a perceptron takes the time of its layers' products") {
  const std::string text = with(with_model("kind = \"perceptron\"\nhidden = [8, 4]", "source = \"blobs\""),
                                "learning_rate = 0.1", "learning_rate = 0.1\nnumbers = false");
  const Json results = results_of(text);
  // 5-8-4-3: 4 x 40 + 6 x 32 + 6 x 12 flops a sample, 200 samples; sgd 2 for each of 48 + 36 + 15 parameters; 1 GF.
  const double step_s = (200.0 * (4 * 40 + 6 * 32 + 6 * 12) + 2.0 * (48 + 36 + 15)) / 1e9;
  CHECK(results.at("baselines")[0].at("simulated_s").get<double>() == Approx(10 * step_s).epsilon(1e-9));
}

TEST_CASE("a perceptron on a file has to be told what to predict") {
  Scratch scratch;
  scratch.write("data.csv", "a,y\n1,2\n3,4\n5,6\n7,8\n");
  const std::string source = "source = \"csv\"\npath = \"data.csv\"";
  const std::string file = with(with_model("kind = \"perceptron\"", source), "samples = 200\nfeatures = 5\n", "");
  scratch.write("x.toml", file);
  check_refused(scratch,
                {"x.toml:15:1: the data source \"csv\" may hold numbers or classes; say which of them perceptron is "
                 "to predict: [model] task = \"regression\" or task = \"classification\" (model.task)"});
  scratch.write("x.toml", with(file, source, source + "\ntask = \"regression\""));
  CHECK(contains(program("validate x.toml", scratch).err,
                 "unknown key \"task\" in [data]; did you mean \"model.task\"?"));
  scratch.write("x.toml", with(file, "kind = \"perceptron\"", "kind = \"perceptron\"\ntask = \"regression\""));
  CHECK(program("run x.toml", scratch).exit_code == 0);
}

TEST_CASE("hidden layers are whole numbers of units, and there is one at least") {
  check_refused(with_model("kind = \"perceptron\"\nhidden = [8, 2.5]", "source = \"blobs\""),
                {"x.toml:17:1: units are counted: expected whole numbers, as in hidden = [256, 64]"});
  check_refused(with_model("kind = \"perceptron\"\nhidden = []", "source = \"blobs\""),
                {"x.toml:17:1: a perceptron has at least one hidden layer"});
  check_refused(with_model("kind = \"perceptron\"\nhidden = [0]", "source = \"blobs\""), {"x.toml:17:11: "});
  check_refused(with_model("kind = \"perceptron\"\ntask = \"classification\"", "source = \"house_prices\""),
                {"x.toml:11:1: data source \"house_prices\" makes numbers, but the model predicts classes"});
}

TEST_CASE("with linear scaling P workers take P times the learning rate, and their baseline learns the same") {
  const std::string each = with(small, "learning_rate = 0.1", "learning_rate = 0.01\nbatch_size_per_worker = 10");
  const std::string scaled =
      with(each, "learning_rate = 0.01", "learning_rate = 0.01\nlearning_rate_scaling = \"linear\"");
  const std::string by_hand = with(each, "learning_rate = 0.01", "learning_rate = 0.04");  // 4 workers
  const Json results = results_of(scaled);
  CHECK(last_loss(results.at("runs")[0]) == last_loss(results_of(by_hand).at("runs")[0]));
  CHECK(last_loss(results.at("baselines")[0]) == Approx(last_loss(results.at("runs")[0])).epsilon(1e-12));
  CHECK(last_loss(results.at("runs")[0]) != last_loss(results_of(each).at("runs")[0]));
}

TEST_CASE("scaling the learning rate with the workers contradicts a batch that does not grow with them") {
  check_refused(
      with(small, "learning_rate = 0.1", "learning_rate = 0.1\nlearning_rate_scaling = \"linear\""),
      {"x.toml:20:1: \"learning_rate_scaling\" follows a batch that grows with the workers, but \"batch_size\" "
       "holds it fixed; give batch_size_per_worker"});
}

TEST_CASE("every optimizer and schedule descends, and charges its flops") {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", "lamb"}) {
    CAPTURE(optimizer);
    const Json results = results_of(
        with(with_model("kind = \"least_squares\"\nbias = true", "source = \"house_prices\""), "learning_rate = 0.1",
             "learning_rate = 0.03\nwarmup_steps = 3\nschedule = { kind = \"cosine\", steps = 20 }"
             "\noptimizer = \"" +
                 std::string(optimizer) + "\""));
    CHECK(last_loss(results.at("runs")[0]) < first_loss(results.at("runs")[0]));
  }
}

TEST_CASE("matrix factorization learns ratings, made or read, and says its r2") {
  const std::string made = with(with(with_model("kind = \"matrix_factorization\"\nfactors = 4\nbias = true",
                                                "source = \"ratings\"\nusers = 20\nitems = 10"),
                                     "samples = 200\nfeatures = 5", "samples = 2000"),
                                "learning_rate = 0.1", "learning_rate = 4.0");
  const Json results = results_of(with(made, "steps = 10", "steps = 150"));
  CHECK(results.at("runs")[0].at("metric_name") == "r2");
  CHECK(results.at("runs")[0].at("curve").back().at("metric") > 0.5);

  Scratch scratch;
  scratch.write("r.csv", "u,i,r\n1,7,3\n1,8,4\n2,7,1\n2,8,5\n3,7,2\n");
  scratch.write("x.toml", with(made, "source = \"ratings\"\nusers = 20\nitems = 10\nsamples = 2000",
                               "source = \"csv\"\npath = \"r.csv\""));
  CHECK(program("run x.toml", scratch).exit_code == 0);
}

TEST_CASE("more parameters than memory holds are refused, and simulated where only the timing is asked for") {
  const std::string wide = with_model("kind = \"perceptron\"\nhidden = [100000, 100000]", "source = \"blobs\"");
  check_refused(wide,
                {"x.toml:16:1: perceptron has 10001000003 parameters here, 74.5 GiB; expected at most 2147483648"});
  const Scratch scratch;
  scratch.write("x.toml", with(wide, "learning_rate = 0.1", "learning_rate = 0.1\nnumbers = false"));
  CHECK(program("run x.toml", scratch).exit_code == 0);
}

TEST_CASE("timing only, matrix factorization knows its users and items from the generator, and not from a file") {
  const std::string text =
      with(with(with_model("kind = \"matrix_factorization\"", "source = \"ratings\"\nusers = 1000000\nitems = 1000"),
                "features = 5\n", ""),
           "learning_rate = 0.1", "learning_rate = 0.1\nnumbers = false");
  // 6 f flops a rating, 200 ratings; sgd 2 for each of f numbers a user and an item; f = 8, 1 GF.
  const double step_s = (200.0 * 6 * 8 + 2.0 * 8 * 1001000) / 1e9;
  CHECK(results_of(text).at("baselines")[0].at("simulated_s").get<double>() == Approx(10 * step_s).epsilon(1e-9));
  const std::string blind = with(text, "source = \"ratings\"\nusers = 1000000\nitems = 1000",
                                 "source = \"csv\"\npath = \"r.csv\"\nfeatures = 2");
  check_refused(blind,
                {"x.toml:11:1: training.numbers = false reads no data, so that matrix_factorization cannot know how "
                 "many users and items there are"});
}

TEST_CASE("matrix factorization is refused where there are no users") {
  check_refused(
      with_model("kind = \"matrix_factorization\"", "source = \"house_prices\""),
      {"x.toml:11:1: data source \"house_prices\" makes numbers, but the model predicts ratings of items by users"});
  check_refused(with_model("kind = \"least_squares\"", "source = \"ratings\""),
                {"x.toml:12:1: features = 5 with the data source \"ratings\", whose samples have 2; leave it out"});
}

TEST_CASE("k-means by gradients finds the blobs, has no metric, and is refused an option of other models") {
  const std::string text = with(with_model("kind = \"k_means\"\nclusters = 3", "source = \"blobs\"\nspread = 0.2"),
                                "steps = 10", "steps = 200");
  const Json run = results_of(with(text, "learning_rate = 0.1", "learning_rate = 0.5")).at("runs")[0];
  CHECK(run.at("metric_name").is_null());
  CHECK(last_loss(run) < 0.3 * first_loss(run));
  check_refused(with(text, "clusters = 3", "clusters = 3\nl2 = 0.1"), {"x.toml:19:1: unknown key \"l2\""});
}

}  // namespace learning_test
