// Answers from trained models: predictions agree with the run's own evaluation, whatever the model.
#include <cmath>

#include "catch.h"
#include "cli/predicting.h"

namespace predict_test {

using namespace simgrad::tests;
using namespace simgrad::tests::predicting;

TEST_CASE("the loss of a model's predictions is that of the run's evaluation, and of the answers by its definition") {
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
  const std::vector<std::string> timed{"resnet50",   "resnet152", "inception_v3", "vgg16",         "alexnet",
                                       "bert_large", "dlrm",      "profile",      "operator_graph"};
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

TEST_CASE("the loss of a standardised target says its units, and the error is in the target's own") {
  const Scratch scratch;
  const Called predicted =
      trained({"kind = \"least_squares\"\nbias = true\n", "numbers.csv", table(60, 0), ""}, scratch);
  CAPTURE(predicted.out, predicted.err);
  REQUIRE(predicted.exit_code == 0);
  CHECK(contains(predicted.out, "in units of their standard deviation in the training"));
  double squares = 0.0, count = 0.0;
  for (const std::string& line : lines_of(contents(scratch.path() + "/p.csv"))) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.front() == "line") continue;
    const double off = std::stod(cells[1]) - std::stod(cells[2]);
    squares += off * off;
    count += 1.0;
  }
  REQUIRE(count == 60.0);
  CHECK(number_after(predicted.out, "root mean square error") == Approx(std::sqrt(squares / count)).epsilon(1e-9));
  const Called chinese = program("predict out/x --data numbers.csv --out p.csv --language zh", scratch);
  CHECK(contains(chinese.out, "已预测 60 行"));
  CHECK(number_after(chinese.out, "均方根误差") == number_after(predicted.out, "root mean square error"));
}

TEST_CASE("the loss of a target in its own units has no words on units") {
  const Scratch scratch;
  const Called predicted = trained(
      {"kind = \"least_squares\"\n", "numbers.csv", table(60, 0), "standardize = false\nstandardize_target = false\n"},
      scratch);
  CHECK_FALSE(contains(predicted.out, "standard deviation"));
  // The mean loss is half of the mean square.
  const double error = number_after(predicted.out, "root mean square error");
  CHECK(number_after(predicted.out, "loss") == Approx(0.5 * error * error).epsilon(1e-9));
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
    CHECK_FALSE(std::filesystem::exists(scratch.path() + "/q.csv"));
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
