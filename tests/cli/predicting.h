// Models that are trained on small files, kept, and applied to rows: for the tests of `simgrad predict`.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/scenario.h"

namespace simgrad::tests::predicting {

/// A table of `rows` rows with numbers, a text column, an empty cell now and then, and a target of `classes` classes
/// (0: a number).
inline std::string table(int rows, int classes) {
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
inline std::string ratings() {
  std::string text = "user,item,stars\n";
  for (int user = 0; user < 10; ++user)
    for (int item = 0; item < 6; ++item)
      text += std::to_string(100 + 7 * user) + "," + std::to_string(3 * item + 5) + "," +
              std::to_string(1 + (user * item + user) % 5) + "\n";
  return text;
}

/// Rows with one entry in each of three fields.
inline std::string clicks() {
  std::string text;
  for (int i = 0; i < 80; ++i)
    text += std::string(i % 3 == 0 ? "-1" : "+1") + " " + std::to_string(1 + i % 4) + ":1 " +
            std::to_string(5 + i % 5) + ":0.5 " + std::to_string(10 + i % 2) + ":1\n";
  return text;
}

inline std::string prose() {
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

inline std::string scenario(const Case& of, const std::string& training = "") {
  const std::string source = of.file.ends_with(".csv") ? "csv" : of.file.ends_with(".svm") ? "libsvm" : "text";
  const std::string missing = source == "csv" && of.file != "ratings.csv" ? "missing = \"mean\"\n" : "";
  return "seed = 3\nsave_model = true\n[cluster]\nworkers = 2\nspeed = \"1GF\"\nbandwidth = \"1Gbps\"\nlatency = "
         "\"50us\"\n[data]\nsource = \"" +
         source + "\"\npath = \"" + of.file + "\"\n" + missing + of.options + "[model]\n" + of.model +
         "[training]\nbatch_size = 8\nlearning_rate = 0.05\n" + training +
         "[stop]\nsteps = 12\n[[strategy]]\nkind = \"allreduce\"\n";
}

inline std::vector<Case> cases() {
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
inline double number_after(const std::string& text, const std::string& name) {
  const auto at = text.find(name + ": ");
  if (at == std::string::npos) throw std::logic_error("no " + name + " in: " + text);
  return std::stod(text.substr(at + name.size() + 2));
}

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line)
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  return cells;
}

/// The mean loss of the answers in p.csv by its definition: half the square of a distance or of an error, and the
/// logarithm of what was thought likely; of several tasks, each by itself, their sum.  standardised: errors are in
/// units of the targets' standard deviation.
inline double loss_of_answers(const Scratch& scratch, bool standardised, std::size_t sequence, bool tasks) {
  const std::vector<std::string> lines = lines_of(contents(scratch.path() + "/p.csv"));
  const std::vector<std::string> names = cells_of(lines.at(0));
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  };
  const bool text = names[0] == "position", clusters = column("cluster") < names.size();
  // Tokens behind the last whole sequence are not scored.
  const std::size_t rows = text ? (lines.size() - 2) / sequence * sequence : lines.size() - 1;
  double sum = 0.0, targets = 0.0, squares = 0.0;
  for (std::size_t i = 1; i <= rows; ++i) {
    const std::vector<std::string> cells = cells_of(lines[i]);
    const auto number = [&](const std::string& name) { return std::stod(cells.at(column(name))); };
    if (text) {
      sum -= std::log(number("next_probability"));
    } else if (clusters) {
      sum += 0.5 * number("distance") * number("distance");
    } else if (const std::string likely = "probability_" + cells.back(); column(likely) < names.size()) {
      sum -= std::log(number(likely));
      for (const std::string& name : names)
        if (tasks && name.starts_with("probability_") && name != likely) sum -= std::log(1.0 - number(name));
    } else {
      const double error = number("predicted") - number("actual");
      sum += 0.5 * error * error;
      targets += number("actual");
      squares += number("actual") * number("actual");
    }
  }
  const auto n = static_cast<double>(rows);
  return sum / n / (standardised ? squares / n - targets / n * targets / n : 1.0);
}

inline std::string only_model(const Scratch& scratch, const std::string& out = "out/x") {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path() + "/" + out + "/models"))
    found = entry.path().string();
  return found;
}

inline Json heading(const std::string& model) {
  const std::string bytes = contents(model);
  return Json::parse(bytes.substr(0, bytes.find('\n')));
}

/// Runs and predicts, which must go well. Returns the output of predict.
inline Called trained(const Case& of, const Scratch& scratch, const std::string& training = "") {
  scratch.write(of.file, of.text);
  scratch.write("x.toml", scenario(of, training));
  const Called run = program("run x.toml --quiet --no-why", scratch);
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  return program("predict out/x --data " + of.file + " --out p.csv", scratch);
}

inline void check_equals_evaluation(const Case& of, const std::string& training = "") {
  CAPTURE(of.model, of.file, training);
  const Scratch scratch;
  const Called predicted = trained(of, scratch, training);
  CAPTURE(predicted.out, predicted.err);
  REQUIRE(predicted.exit_code == 0);
  const double loss = results_in(scratch).at("runs").at(0).at("final_loss").get<double>();
  CHECK(number_after(predicted.out, "loss") == Approx(loss).epsilon(1e-12));
  const bool standardised = contains(predicted.out, "in units of their standard deviation");
  if (training.empty() && !contains(of.model, "l2"))  // else it is rounded, or has the penalty
    CHECK(loss == Approx(loss_of_answers(scratch, standardised, 6, contains(of.model, "multitask"))).epsilon(1e-9));
  const Json saved = heading(only_model(scratch));
  CHECK(saved.at("loss").get<double>() == loss);
  if (const std::string metric = saved.at("metric_name"); !metric.empty())
    CHECK(number_after(predicted.out, metric) == Approx(saved.at("metric").get<double>()).epsilon(1e-12));
}

}  // namespace simgrad::tests::predicting
