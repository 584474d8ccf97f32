// Graphs of operators: their order, files, and models as operators.
#include <string>

#include "base/errors.h"
#include "catch.h"
#include "models/least_squares.h"
#include "models/multitask_perceptron.h"
#include "models/operators.h"
#include "models/perceptron.h"
#include "models/profiles/operator_table.h"
#include "scratch.h"

namespace operator_graph_test {

using namespace simgrad;
using namespace simgrad::models;

namespace {

GraphOperator reading(const std::string& name, const std::vector<std::string>& inputs) {
  GraphOperator made;
  made.name = name;
  made.inputs = inputs;
  return made;
}

/// The refusal of a file of this text, from the file's name on.
std::string refused(const std::string& text) {
  const tests::Scratch scratch;
  try {
    read_operators(scratch.write("graph.csv", text));
  } catch (const base::ScenarioError& error) {
    const std::string message = error.what();
    return message.substr(message.find("graph.csv"));
  }
  return "no refusal";
}

}  // namespace

TEST_CASE("operators stand behind those that they read, else in the table's order") {
  const OrderedGraph graph =
      ordered({reading("d", {"b", "c"}), reading("c", {"a"}), reading("a", {}), reading("b", {"a"})});
  CHECK_FALSE(graph.fault);
  CHECK(graph.order == std::vector<std::size_t>{2, 1, 3, 0});  // a, c, b, d
  CHECK(graph.inputs == std::vector<std::vector<std::size_t>>{{}, {0}, {0}, {2, 1}});
}

TEST_CASE("a file of operators, with empty cells, blanks and a column that is left out") {
  const tests::Scratch scratch;
  const std::vector<GraphOperator> table =
      read_operators(scratch.write("graph.csv",
                                   "name, inputs, flops, output_bytes, parameters, backward_flops\r\n"
                                   "a,, 1e6, 8, 10,\r\n\r\nb, a , 2e6, 0,, 5e6\r\n"));
  REQUIRE(table.size() == 2);
  CHECK(table[0].inputs.empty());
  CHECK(table[0].parameters == 10);
  CHECK_FALSE(table[0].backward_flops);
  CHECK(table[1].inputs == std::vector<std::string>{"a"});
  CHECK(table[1].flops == 2e6);
  CHECK(table[1].backward_flops == 5e6);
  CHECK_FALSE(table[1].activation_bytes);
}

TEST_CASE("faults of a file of operators have their line and column") {
  const std::string head = "name,inputs,flops,output_bytes\n";
  CHECK(refused(head + "a,c,1,1\nb,a,1,1\nc,a b,1,1\n") ==
        "graph.csv:2:3: operators read each other in a cycle: a reads c reads a; leave out one of these inputs");
  CHECK(refused(head + "left,,1,1\nb,lift,1,1\n") ==
        "graph.csv:3:3: operator \"b\" reads \"lift\", which is no operator; did you mean \"left\"? Known: left, b");
  CHECK(refused(head + "a,,1,1\na,,1,1\n") == "graph.csv:3:1: a second operator \"a\"; give it another name");
  CHECK(refused(head + "a,,x,1\n") == "graph.csv:2:4: flops must be a number of at least 0, found \"x\"");
  CHECK(refused(head + "a,,1\n") == "graph.csv:2:1: 3 cells, expected 4 as in the first line");
  CHECK(refused(head + ",,1,1\n") == "graph.csv:2:1: an operator without a name; expected one");
  CHECK(refused("name,flops\n") == "graph.csv:1:1: no column output_bytes; expected one");
  CHECK(refused("name,flop\n").starts_with("graph.csv:1:6: unknown column \"flop\"; did you mean \"flops\"?"));
  CHECK(refused(head).starts_with("graph.csv:1:1: no operator; expected"));
}

TEST_CASE("a perceptron is a chain of its layers, another model one operator") {
  Perceptron model;
  model.hidden = {8, 4};
  const std::vector<ModelOperator> all = operators_of(model, {.features = 3});
  REQUIRE(all.size() == 3);
  CHECK(all[0].inputs.empty());
  CHECK(all[1].inputs == std::vector<std::size_t>{0});
  CHECK(all[0].output_numbers == 8.0);
  CHECK(all[1].output_numbers == 4.0);
  CHECK(all[2].output_numbers == 0.0);
  CHECK(operators_of(LeastSquares(), {.features = 3}).size() == 1);
}

TEST_CASE("the tasks of a multi-task perceptron read its last shared layer, and have all of its parameters") {
  MultitaskPerceptron model;
  model.hidden = {8, 4};
  const Problem problem{.features = 3, .classes = 2};
  const std::vector<ModelOperator> all = operators_of(model, problem);
  REQUIRE(all.size() == 4);
  CHECK(all[2].inputs == std::vector<std::size_t>{1});
  CHECK(all[3].inputs == std::vector<std::size_t>{1});
  const auto cut = cut_into_operators(model);
  std::vector<int> times(static_cast<std::size_t>(model.parameters(problem)), 0);
  for (std::int64_t unit = 0; unit < 4; ++unit)
    for (const ParameterStretch& stretch : cut->parameters_of(problem, {.first_unit = unit, .end_unit = unit + 1}))
      for (std::int64_t j = 0; j < stretch.count; ++j) ++times[static_cast<std::size_t>(stretch.first + j)];
  CHECK(times == std::vector<int>(times.size(), 1));
}

}  // namespace operator_graph_test
