// Answers from trained models: predictions agree with the run's own evaluation, whatever the model.
#include <cmath>

#include "catch.h"
#include "cli/scenario.h"

namespace predict_test {

using namespace simgrad::tests;

namespace {

namespace fs = std::filesystem;

/// A table of `rows` rows with numbers, a text column, an empty cell now and then, and a target of `classes` classes
/// (0: a number).
std::string table(int rows, int classes) {
  const std::vector<std::string> cities{"Bern", "Lyon", "Turin"};
  std::string text = "size,city,age,target\n";
  for (int i = 0; i < rows; ++i) {
    const double size = std::sin(1.7 * i) + 0.01 * i, age = std::cos(0.9 * i) * 3.0;
    const auto city = static_cast<std::size_t>(i / 2 % 3);
    const double y = 2.0 * size - age + static_cast<double>(city);
    const std::string target =
        classes == 0 ? std::to_string(y) : "kind" + std::to_string((i + (y > 0.0 ? 1 : 0)) % classes);
    text += (i % 17 == 3 ? "" : std::to_string(size)) + "," + cities[city] + "," + std::to_string(age) + "," + target +
            "\n";
  }
  return text;
}

/// 60 ratings of 6 items by 10 users, whose names are no numbers from 0 on.
std::string ratings() {
  std::string text = "user,item,stars\n";
  for (int user = 0; user < 10; ++user)
    for (int item = 0; item < 6; ++item)
      text += std::to_string(100 + 7 * user) + "," + std::to_string(3 * item + 5) + "," +
              std::to_string(1 + (user * item + user) % 5) + "\n";
  return text;
}

/// Rows with one entry in each of three fields.
std::string clicks() {
  std::string text;
  for (int i = 0; i < 80; ++i)
    text += std::string(i % 3 == 0 ? "-1" : "+1") + " " + std::to_string(1 + i % 4) + ":1 " +
            std::to_string(5 + i % 5) + ":0.5 " + std::to_string(10 + i % 2) + ":1\n";
  return text;
}

std::string prose() {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "a cat and a dog, a dog and a cat.\n";
  return text;
}

struct Case {
  std::string model;    ///< lines of [model]
  std::string file;     ///< the data
  std::string text;     ///< of the file
  std::string options;  ///< more lines of [data]
};

std::string scenario(const Case& of, const std::string& training = "") {
  const std::string source = of.file.ends_with(".csv") ? "csv" : of.file.ends_with(".svm") ? "libsvm" : "text";
  const std::string missing = source == "csv" && of.file != "ratings.csv" ? "missing = \"mean\"\n" : "";
  return "seed = 3\nsave_model = true\n[cluster]\nworkers = 2\nspeed = \"1GF\"\nbandwidth = \"1Gbps\"\nlatency = "
         "\"50us\"\n[data]\nsource = \"" +
         source + "\"\npath = \"" + of.file + "\"\n" + missing + of.options + "[model]\n" + of.model +
         "[training]\nbatch_size = 8\nlearning_rate = 0.05\n" + training +
         "[stop]\nsteps = 12\n[[strategy]]\nkind = \"allreduce\"\n";
}

std::vector<Case> cases() {
  const std::string transformer = "kind = \"transformer\"\nlayers = 1\nhidden = 8\nheads = 2\nsequence = 6\n";
  return {
      {"kind = \"least_squares\"\nbias = true\nl2 = 0.1\n", "numbers.csv", table(60, 0), ""},
      {"kind = \"least_squares\"\n", "numbers.csv", table(60, 0), "standardize = false\nstandardize_target = false\n"},
      {"kind = \"logistic_regression\"\nbias = true\n", "two.csv", table(60, 2), ""},
      {"kind = \"softmax_regression\"\n", "three.csv", table(60, 3), ""},
      {"kind = \"perceptron\"\nhidden = [5, 4]\ntask = \"regression\"\n", "numbers.csv", table(60, 0), ""},
      {"kind = \"perceptron\"\nhidden = [5]\ntask = \"classification\"\nactivation = \"tanh\"\n", "three.csv",
       table(60, 3), ""},
      {"kind = \"matrix_factorization\"\nfactors = 3\nbias = true\n", "ratings.csv", ratings(), ""},
      {"kind = \"k_means\"\nclusters = 4\n", "numbers.csv", table(60, 0), "target = \"target\"\n"},
      {"kind = \"multitask_perceptron\"\nhidden = [5]\n", "three.csv", table(60, 3), ""},
      {"kind = \"sparse_logistic\"\nbias = true\n", "clicks.svm", clicks(), ""},
      {"kind = \"sparse_logistic\"\n", "two.csv", table(60, 2), ""},
      {"kind = \"factorization_machine\"\nfactors = 2\n", "clicks.svm", clicks(), ""},
      {"kind = \"wide_and_deep\"\nembedding = 2\nhidden = [4]\n", "clicks.svm", clicks(), ""},
      {"kind = \"logistic_regression\"\n", "clicks.svm", clicks(), ""},
      {transformer, "text.txt", prose(), ""},
      {transformer + "experts = 2\n", "text.txt", prose(), "tokens = \"characters\"\n"}};
}

/// The number behind "name: " in a text.
double number_after(const std::string& text, const std::string& name) {
  const auto at = text.find(name + ": ");
  if (at == std::string::npos) throw std::logic_error("no " + name + " in: " + text);
  return std::stod(text.substr(at + name.size() + 2));
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line)
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

std::string only_model(const Scratch& scratch, const std::string& out = "out/x") {
  std::string found;
  for (const auto& entry : fs::directory_iterator(scratch.path() + "/" + out + "/models"))
    found = entry.path().string();
  return found;
}

Json heading(const std::string& model) {
  const std::string bytes = contents(model);
  return Json::parse(bytes.substr(0, bytes.find('\n')));
}

/// Runs and predicts, which must go well. Returns the output of predict.
Called trained(const Case& of, const Scratch& scratch, const std::string& training = "") {
  scratch.write(of.file, of.text);
  scratch.write("x.toml", scenario(of, training));
  const Called run = program("run x.toml --quiet --no-why", scratch);
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  return program("predict out/x --data " + of.file + " --out p.csv", scratch);
}

void check_equals_evaluation(const Case& of, const std::string& training = "") {
  CAPTURE(of.model, of.file, training);
  const Scratch scratch;
  const Called predicted = trained(of, scratch, training);
  CAPTURE(predicted.out, predicted.err);
  REQUIRE(predicted.exit_code == 0);
  const double loss = results_in(scratch).at("runs").at(0).at("final_loss").get<double>();
  CHECK(number_after(predicted.out, "loss") == Approx(loss).epsilon(1e-12));
  const Json saved = heading(only_model(scratch));
  CHECK(saved.at("loss").get<double>() == loss);
  if (const std::string metric = saved.at("metric_name"); !metric.empty())
    CHECK(number_after(predicted.out, metric) == Approx(saved.at("metric").get<double>()).epsilon(1e-12));
}

}  // namespace

TEST_CASE("the loss of a model's predictions is that of the run's evaluation of the same data, of every model") {
  for (const Case& of : cases()) check_equals_evaluation(of);
}

TEST_CASE("predictions are computed in the training's precision") {
  check_equals_evaluation(cases().front(), "precision = \"float32\"\n");
  check_equals_evaluation(cases()[14], "precision = \"bfloat16\"\n");
}

TEST_CASE("every model that computes numbers has a case here") {
  std::string all;
  for (const Case& of : cases()) all += of.model;
  const Scratch scratch;
  const Called listed = program("list models", scratch);
  REQUIRE(listed.exit_code == 0);
  const std::vector<std::string> timed{"resnet50", "vgg16",   "alexnet",       "bert_large",
                                       "dlrm",     "profile", "operator_graph"};
  all += "\"multimodal_perceptron\"";  // source by source: predict_source_test.cpp
  int known = 0;
  for (const std::string& line : lines_of(listed.out)) {
    const std::string kind =
        line.substr(line.find_first_not_of(' ') == std::string::npos ? 0 : line.find_first_not_of(' '));
    const std::string word = kind.substr(0, kind.find(' '));
    if (word.empty() || word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") != std::string::npos) continue;
    if (std::ranges::find(timed, word) != timed.end() || word == "models") continue;
    ++known;
    CAPTURE(word);
    CHECK(contains(all, "\"" + word + "\""));
  }
  CHECK(known >= 11);
}

TEST_CASE("a number is predicted in the target's units, with the label beside it") {
  // Two rows, one feature, y = 10 + 5 x, learnt to the end: predictions are the targets.
  const Case line{"kind = \"least_squares\"\nbias = true\n", "numbers.csv", "x,y\n-1,5\n1,15\n", ""};
  const Scratch scratch;
  scratch.write(line.file, line.text);
  scratch.write("x.toml", with(with(scenario(line), "steps = 12", "steps = 2000"), "batch_size = 8", "batch_size = 2"));
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  scratch.write("new.csv", "other,y,x\n7,,3\n7,100,0\n");
  const Called predicted = program("predict out/x --data new.csv --out p.csv", scratch);
  CAPTURE(predicted.err);
  REQUIRE(predicted.exit_code == 0);
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/p.csv"));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "line,predicted,actual");
  CHECK(lines[1].substr(0, 2) == "2,");
  CHECK(std::stod(lines[1].substr(2)) == Approx(25.0).epsilon(1e-9));
  CHECK(lines[1].back() == ',');
  CHECK(std::stod(lines[2].substr(2)) == Approx(10.0).epsilon(1e-9));
  CHECK(lines[2].ends_with(",100"));
  CHECK(contains(predicted.out, "p.csv: 2 rows predicted\n"));
  CHECK(contains(predicted.out, "the mean over 1 row with a target"));
}

TEST_CASE("classes are predicted by name, with a probability each that add up to 1") {
  const Scratch scratch;
  REQUIRE(trained(cases()[3], scratch).exit_code == 0);
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/p.csv"));
  REQUIRE(lines.size() == 61);
  CHECK(lines[0] == "line,predicted,probability_kind0,probability_kind1,probability_kind2,actual");
  int right = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = cells_of(lines[i]);
    REQUIRE(cells.size() == 6);
    CHECK(std::stod(cells[2]) + std::stod(cells[3]) + std::stod(cells[4]) == Approx(1.0).epsilon(1e-12));
    right += cells[1] == cells[5] ? 1 : 0;
  }
  CHECK(right / 60.0 == Approx(heading(only_model(scratch)).at("metric").get<double>()).epsilon(1e-12));
}

TEST_CASE("a text is continued by its likeliest tokens") {
  const Scratch scratch;
  Case text = cases()[14];
  text.model = with(text.model, "sequence = 6", "sequence = 5");  // rows begin at every place of the text's period of 8
  text.text.clear();
  for (int i = 0; i < 60; ++i) text.text += "abcdefg ";
  scratch.write(text.file, text.text);
  scratch.write("x.toml", with(with(scenario(text), "steps = 12", "steps = 150"), "learning_rate = 0.05",
                               "optimizer = \"adam\"\nlearning_rate = 0.02"));
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  scratch.write("begin.txt", "efg abcd");
  const Called called = program("predict out/x --data begin.txt --out p.csv --tokens 10", scratch);
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  CHECK(lines_of(called.out).front() == "efg abcdef");
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/p.csv"));
  REQUIRE(lines.size() == 11);
  CHECK(lines[0] == "position,token,text,probability");
  CHECK(lines[1].substr(0, 8) == "9,101,e,");

  // Every token has a line, those behind the last whole sequence too.
  REQUIRE(program("predict out/x --data begin.txt --out p.csv", scratch).exit_code == 0);
  CHECK(lines_of(contents(scratch.path() + "/p.csv")).size() == 9);
}

TEST_CASE("what the training has not seen is refused with its place") {
  const Scratch scratch;
  REQUIRE(trained(cases().front(), scratch).exit_code == 0);
  const auto refused = [&](const std::string& text) {
    scratch.write("new.csv", text);
    const Called called = program("predict out/x --data new.csv --out q.csv", scratch);
    CHECK(called.exit_code == 2);
    CHECK_FALSE(fs::exists(scratch.path() + "/q.csv"));
    return called.err;
  };
  CHECK_THAT(refused("size,city,age\n1,Bern,2\n1,Rome,2\n"),
             StartsWith("new.csv:3:3: column \"city\" holds \"Rome\", expected a value that the training has seen: "
                        "Bern, Lyon, Turin"));
  CHECK_THAT(refused("size,town,age\n1,Bern,2\n"),
             StartsWith("new.csv:1:1: no column \"city\", expected the columns of the training"));
  CHECK_THAT(refused("size,city,age\n1,Bern,old\n"),
             StartsWith("new.csv:2:8: column \"age\" holds \"old\", expected a finite number"));
  CHECK_THAT(refused("size,city,age\n1,Bern\n"), StartsWith("new.csv:2:7: 2 cells, expected 3 as in line 1"));
  CHECK_THAT(refused("size,city,age,target\n1,Bern,2,much\n"),
             StartsWith("new.csv:2:10: column \"target\" holds \"much\", expected a finite number"));
  CHECK_THAT(refused("size,city,age\n"), StartsWith("new.csv:1: no rows behind the header"));

  scratch.write("new.csv", "size,city,age\n1,Rome,2\n");
  CHECK(program("predict out/x --data new.csv --out q.csv --ignore-unseen", scratch).exit_code == 0);
  const Called none = program("predict out/x --data none.csv --out q.csv", scratch);
  CHECK(none.exit_code == 5);
  CHECK_THAT(none.err, StartsWith("none.csv: cannot be opened"));
}

TEST_CASE("sparse rows, ratings, texts and classes that the training has not seen are refused with their places") {
  const auto refused = [](const Case& of, const std::string& text) {
    const Scratch scratch;
    REQUIRE(trained(of, scratch).exit_code == 0);
    scratch.write("new", text);
    const Called called = program("predict out/x --data new --out q.csv", scratch);
    CHECK(called.exit_code == 2);
    return called.err;
  };
  CHECK_THAT(refused(cases()[9], "+1 1:1\n+1 3:1 99:1\n"),
             StartsWith("new:2:8: found \"99:1\", expected an index of the training, 1 to 11"));
  CHECK_THAT(refused(cases()[9], "5 1:1\n"),
             StartsWith("new:1:1: found \"5\", expected a class of the training: -1, 1"));
  CHECK_THAT(refused(cases()[12], "+1 1:1 5:1\n"), StartsWith("new:1:1: a row with 2 entries, expected 3"));
  CHECK_THAT(refused(cases()[6], "user,item\n100,5\n101,5\n"),
             StartsWith("new:3:1: column \"user\" holds \"101\", expected a user with a rating in the training"));
  CHECK_THAT(refused(cases()[15], "a cat\nZ"), StartsWith("new:2:1: character \"Z\" was not in the training's text"));
}

TEST_CASE("a model of several is chosen by its run, and a grid leaves one for each point") {
  const Scratch scratch;
  Case of = cases().front();
  scratch.write(of.file, of.text);
  scratch.write("x.toml", scenario(of) + "[grid]\n\"training.learning_rate\" = [0.01, 0.1]\n");
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  const Called open = program("predict out/x --data numbers.csv --out p.csv", scratch);
  CHECK(open.exit_code == 2);
  CHECK(contains(open.err, "out/x: 2 models; choose one of them"));
  for (const Json& run : results_in(scratch).at("runs")) {
    const std::string id = run.at("id");
    CHECK(contains(open.err, "--run " + id));
    const Called one = program("predict out/x --run " + id + " --data numbers.csv --out p.csv", scratch);
    REQUIRE(one.exit_code == 0);
    CHECK(number_after(one.out, "loss") == Approx(run.at("final_loss").get<double>()).epsilon(1e-12));
    // The file itself is a model, too.
    CHECK(program("predict out/x/models/" + id + ".model --data numbers.csv --out p.csv", scratch).exit_code == 0);
  }
}

TEST_CASE("models are equal to the last byte, whatever --threads and --jobs, shards and merge") {
  const Case of = cases()[4];
  const auto model_by = [&](const std::string& arguments) {
    const Scratch scratch;
    scratch.write(of.file, of.text);
    scratch.write("x.toml", scenario(of));
    for (const std::string& line : lines_of(arguments)) {
      const Called called = program(line, scratch);
      CAPTURE(called.err);
      REQUIRE(called.exit_code == 0);
    }
    return contents(only_model(scratch));
  };
  const std::string one = model_by("run x.toml --quiet --threads 0 --jobs 1");
  CHECK(one == model_by("run x.toml --quiet --threads 3 --jobs 4"));
  CHECK(one == model_by("run x.toml --quiet --shard 1/2 --out s\nrun x.toml --quiet --shard 2/2 --out s\nmerge s --out "
                        "out/x --quiet"));
}

TEST_CASE("a finished run without its model is simulated again, and its results stay") {
  const Scratch scratch;
  const Case of = cases().front();
  REQUIRE(trained(of, scratch).exit_code == 0);
  const std::string model = only_model(scratch), before = contents(model);
  const std::string results = contents(scratch.path() + "/out/x/results.json");
  fs::remove(model);
  const Called again = program("run x.toml --no-why", scratch);
  CHECK(again.exit_code == 0);
  CHECK(contains(again.err, "1 of 2 runs are simulated again for their models; their results stay"));
  CHECK(contents(model) == before);
  CHECK(contents(scratch.path() + "/out/x/results.json") == results);

  const std::string bytes = contents(model);
  scratch.write("cut.model", bytes.substr(0, bytes.size() - 9));
  const Called cut = program("predict cut.model --data numbers.csv --out p.csv", scratch);
  CHECK(cut.exit_code == 2);
  CHECK_THAT(cut.err, StartsWith("cut.model:1:1: is damaged"));
  const Called other = program("predict x.toml --data numbers.csv --out p.csv", scratch);
  CHECK(other.exit_code == 2);
  CHECK_THAT(other.err, StartsWith("x.toml:1:1: is no model"));
}

TEST_CASE("models of asynchronous servers, of gossip and of a cut network are the parameters that were evaluated") {
  for (const char* strategy :
       {"kind = \"parameter_server\"\nconsistency = \"asp\"\n", "kind = \"gossip\"\n", "kind = \"local_sgd\"\n"}) {
    CAPTURE(strategy);
    const Scratch scratch;
    const Case of = cases()[5];
    scratch.write(of.file, of.text);
    scratch.write("x.toml", with(scenario(of), "kind = \"allreduce\"\n", strategy));
    REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
    const Called predicted = program("predict out/x --data three.csv --out p.csv", scratch);
    REQUIRE(predicted.exit_code == 0);
    CHECK(number_after(predicted.out, "loss") ==
          Approx(results_in(scratch).at("runs").at(0).at("final_loss").get<double>()).epsilon(1e-12));
  }
  const Scratch scratch;
  const Case of = cases()[14];
  scratch.write(of.file, of.text);
  scratch.write("x.toml", with(scenario(of), "[stop]", "[parallel]\ntensor = 2\n[stop]"));
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  const Called predicted = program("predict out/x --data text.txt --out p.csv", scratch);
  REQUIRE(predicted.exit_code == 0);
  CHECK(number_after(predicted.out, "loss") ==
        Approx(results_in(scratch).at("runs").at(0).at("final_loss").get<double>()).epsilon(1e-12));
}

TEST_CASE("a run that ends at its target, or by the time limit, leaves the parameters of its last evaluation") {
  const Case of = cases().front();
  for (const char* stop : {"loss = 0.8\nsteps = 500", "time = \"1ms\""}) {
    CAPTURE(stop);
    const Scratch scratch;
    scratch.write(of.file, of.text);
    scratch.write("x.toml", with(scenario(of), "steps = 12", stop));
    REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
    const Called predicted = program("predict out/x --data numbers.csv --out p.csv", scratch);
    REQUIRE(predicted.exit_code == 0);
    CHECK(number_after(predicted.out, "loss") ==
          Approx(results_in(scratch).at("runs").at(0).at("final_loss").get<double>()).epsilon(1e-12));
  }
}

TEST_CASE("save_model without numbers is refused, and so are --tokens of rows and a directory without models") {
  const Scratch scratch;
  scratch.write("x.toml", "save_model = true\n" + with(small, "[training]\n", "[training]\nnumbers = false\n"));
  const Called called = program("run x.toml", scratch);
  CHECK(called.exit_code == 2);
  CHECK_THAT(called.err, StartsWith("x.toml:1:1: save_model = true, but training.numbers = false"));

  const Scratch other;
  REQUIRE(trained(cases().front(), other).exit_code == 0);
  const Called tokens = program("predict out/x --data numbers.csv --out p.csv --tokens 3", other);
  CHECK(tokens.exit_code == 2);
  CHECK(contains(tokens.err, "least_squares predicts rows, expected a model of text"));
  other.write("y.toml", small);
  REQUIRE(program("run y.toml --quiet --no-why", other).exit_code == 0);
  const Called none = program("predict out/y --data numbers.csv --out p.csv", other);
  CHECK(none.exit_code == 5);
  CHECK(contains(none.err, "out/y: has no models"));
}

TEST_CASE("a table of several blocks is predicted row by row, with quoted cells across lines") {
  const Case of{"kind = \"least_squares\"\n", "numbers.csv", "x,note,y\n1,a,2\n2,b,4\n3,a,5\n",
                "ignore = [\"note\"]\n"};
  const Scratch scratch;
  scratch.write(of.file, of.text);
  scratch.write("x.toml", with(scenario(of), "batch_size = 8", "batch_size = 3"));
  REQUIRE(program("run x.toml --quiet --no-why", scratch).exit_code == 0);
  // More than the four megabytes of a block, whose rows end in the middle of quotes now and then.
  const std::string row = "1,\"" + std::string(700, 'n') + "\n" + std::string(700, 'n') + "\",2\n";
  std::string text = "x,note,y\n";
  constexpr int rows = 4000;
  for (int i = 0; i < rows; ++i) text += row;
  scratch.write("long.csv", text);
  const Called called = program("predict out/x --data long.csv --out p.csv", scratch);
  CAPTURE(called.err);
  REQUIRE(called.exit_code == 0);
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/p.csv"));
  REQUIRE(lines.size() == rows + 1);
  const std::string same = lines[1].substr(lines[1].find(','));
  for (int i = 0; i < rows; ++i) REQUIRE(lines[static_cast<std::size_t>(i) + 1] == std::to_string(2 + 2 * i) + same);
}

}  // namespace predict_test
