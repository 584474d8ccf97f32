// Graphs of operators that cannot be placed: each is refused with its place, and with what would do.
#include <fmt/format.h>

#include <utility>

#include "experiment/refused.h"
#include "models/cut_model.h"
#include "models/operators.h"
#include "scratch.h"

namespace operators_refusals_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// A perceptron of three layers on two workers.
std::string perceptron(const std::string& strategy, const std::string& cluster = "", const std::string& more = "") {
  return "schema = 1\n[cluster]\nworkers = 2\n" + cluster +
         "[data]\nsource = \"house_prices\"\nsamples = 100\nfeatures = 8\n[model]\nkind = \"perceptron\"\nhidden = [8, "
         "8]\n[training]\nbatch_size = 10\n" +
         more + "[stop]\nsteps = 2\n[[strategy]]\nkind = \"operators\"\n" + strategy;
}

/// A graph of a scenario's tables, timed.
std::string graph(const std::string& tables, const std::string& cluster = "") {
  return "schema = 1\n[cluster]\nworkers = 2\n" + cluster +
         "[data]\nsamples = 10\n[model]\nkind = \"operator_graph\"\n" + tables +
         "[training]\nnumbers = false\nbatch_size = 1\n[stop]\nsteps = 2\n[[strategy]]\nkind = \"operators\"\n";
}

std::string table(const std::string& name, const std::string& inputs, int parameters = 1) {
  return fmt::format("[[model.operator]]\nname = \"{}\"\nflops = 1e6\noutput_bytes = 8\nparameters = {}\n{}", name,
                     parameters, inputs.empty() ? "" : fmt::format("inputs = [{}]\n", inputs));
}

}  // namespace

TEST_CASE("a graph runs that has no cycle, in any order of its tables") {
  CHECK(planned(graph(table("b", "\"a\"") + table("a", ""))).runs.size() == 1);
}

TEST_CASE("between two stages of a pipeline go the outputs that are read behind") {
  // a, b, c and d in this order; c reads a, d reads a, b and c.
  const Plan plan =
      planned(graph(table("a", "") + table("b", "") + table("c", "\"a\"") + table("d", "\"a\", \"b\", \"c\"")));
  const models::CutModel& cut = *plan.runs.front().settings->model.model->cut();
  for (const auto& [end, outputs] : {std::pair(1, 1), std::pair(2, 2), std::pair(3, 3)})
    CHECK(cut.segments({}, {.first_unit = 0, .end_unit = end}).back().exit_bytes == 8.0 * outputs);
}

TEST_CASE("a cycle is refused with the operators on it") {
  check_refused_text(graph(table("a", "") + table("b", "\"a\", \"d\"") + table("c", "\"b\"") + table("d", "\"c\"")),
                     "operators read each other in a cycle: b reads d reads c reads b; leave out one of these inputs");
}

TEST_CASE("unknown, repeated and empty names of operators are refused") {
  check_refused_text(graph(table("left", "") + table("b", "\"lift\"")),
                     "operator \"b\" reads \"lift\", which is no operator; did you mean \"left\"?");
  check_refused_text(graph(table("a", "") + table("a", "")), "a second operator \"a\"; give it another name");
  check_refused_text(graph(table("a", "") + table("b", "\"a\", \"a\"")), "operator \"b\" reads \"a\" twice");
  check_refused_text(graph(table("", "")), "an operator without a name");
  check_refused_text(graph(""), "needs operators; give path = \"...\" or [[model.operator]] tables");
  check_refused_text(graph(table("a", "", 0)), "the operators have no parameters");
}

/// The refusal of a scenario whose graph is in a file of its own.
std::string refused_file(const std::string& tables, const std::string& model = "") {
  const tests::Scratch scratch;
  scratch.write("graph.toml", tables);
  const std::string path = scratch.write("x.toml", graph("path = \"graph.toml\"\n" + model));
  try {
    make_plan(path, {});
  } catch (const base::ScenarioError& error) {
    const std::string told = error.what();
    return told.substr(scratch.path().size() + 1);
  }
  return "accepted";
}

std::string own_table(const std::string& name, const std::string& inputs) {
  std::string text = table(name, inputs);
  return text.replace(0, 18, "[[operator]]");
}

TEST_CASE("a graph in a TOML file is that of the scenario's tables") {
  const tests::Scratch scratch;
  scratch.write("graph.toml", own_table("b", "\"a\"") + own_table("a", ""));
  const Plan plan = make_plan(scratch.write("x.toml", graph("path = \"graph.toml\"\n")), {});
  const Plan same = planned(graph(table("b", "\"a\"") + table("a", "")));
  const auto names = [](const Plan& of) {
    std::vector<std::string> all;
    for (const auto& entry : models::operators_of(*of.runs.front().settings->model.model, {}))
      all.push_back(entry.name);
    return all;
  };
  CHECK(names(plan) == std::vector<std::string>{"a", "b"});
  CHECK(names(plan) == names(same));
}

TEST_CASE("faults of a graph in a TOML file have their place there") {
  // A table has 5 lines, and a sixth with inputs.
  CHECK(refused_file(own_table("a", "\"c\"") + own_table("b", "\"a\"") + own_table("c", "\"b\"")) ==
        "graph.toml:6:1: operators read each other in a cycle: a reads c reads b reads a; leave out one of these "
        "inputs");
  CHECK(refused_file(own_table("left", "") + own_table("b", "\"lift\""))
            .starts_with("graph.toml:11:1: operator \"b\" reads \"lift\", which is no operator; did you mean"));
  CHECK(refused_file(own_table("a", "") + own_table("a", "")).starts_with("graph.toml:7:1: a second operator \"a\""));
  CHECK(refused_file("[[operators]]\nname = \"a\"\n")
            .starts_with("graph.toml:1:3: unknown key \"operators\"; did you mean \"operator\"?"));
  CHECK(refused_file(own_table("a", "") + "flop = 3\n").starts_with("graph.toml:6:1: unknown key \"flop\""));
  CHECK(refused_file("[[operator]]\nname = \"a\"\nflops = -1\n").starts_with("graph.toml:3:9: flops must be "));
  CHECK(refused_file("").starts_with("graph.toml:1:1: no operator; expected [[operator]] tables"));
  CHECK(refused_file("[[operator\n").starts_with("graph.toml:"));
  CHECK(
      refused_file(own_table("a", ""), table("a", "")).starts_with("x.toml:8:1: path contradicts [[model.operator]]"));
}

TEST_CASE("faults of a graph in the scenario stand at the operator at fault") {
  try {
    planned(graph(table("a", "") + table("b", "\"c\"")));
    FAIL("accepted");
  } catch (const base::ScenarioError& error) {
    CHECK(std::string(error.what()).find("x.toml:18:1: operator \"b\" reads \"c\"") != std::string::npos);
  }
}

TEST_CASE("a graph of operators is timed alone") {
  std::string text = graph(table("a", ""));
  text.replace(text.find("numbers = false"), 15, "numbers = true ");
  check_refused_text(text, "operator_graph is known by its layers alone");
}

TEST_CASE("an operator that no device can hold is refused with the largest device") {
  // 1000 parameters with gradients, float64: 16 kB.
  check_refused_text(graph(table("a", "") + table("b", "\"a\"", 1000), "memory = \"10kB\"\n"),
                     "operator 1 (b) needs 16.008kB, but the largest device has 10kB");
  check_refused_text(graph(table("a", "", 1000) + table("b", "\"a\"", 1000), "memory = \"16.008kB\"\n") +
                         "placement = \"by_hand\"\ndevices = [1, 1]\n",
                     "the operators of worker 1 need 32.016kB, but its device has 16.008kB");
  check_refused_text(
      graph(table("a", "", 1000) + table("b", "\"a\"", 1000) + table("c", "\"b\"", 1000), "memory = \"20kB\"\n"),
      "the operators need 48.024kB together, but the devices have 40kB");
}

TEST_CASE("an operator needs its parameters, the optimizer's vectors, and its activations") {
  const auto refused_with = [](const std::string& options, const std::string& strategy, const std::string& needs) {
    std::string text = graph(table("a", "", 1000), "memory = \"10kB\"\n");
    text.replace(text.find("batch_size = 1"), 14, "batch_size = 10\n" + options);
    check_refused_text(text + strategy, "operator 0 (a) needs " + needs + ", but the largest device has 10kB");
  };
  // float64 parameters and gradients, and 8 B of each of ten rows.
  refused_with("", "", "16.08kB");
  refused_with("optimizer = \"adam\"", "", "32.08kB");
  refused_with("", "micro_batches = 10\n", "16.08kB");  // all forward passes come first
  refused_with("recompute = \"full\"", "micro_batches = 10\n", "16.008kB");
}

TEST_CASE("balanced stretches that a device cannot hold are told before the run") {
  // By flops a alone, and b with c: 2 x 16 kB and more on the second device.
  std::string text =
      graph(table("a", "", 1) + table("b", "\"a\"", 1000) + table("c", "\"b\"", 1000), "memory = \"20kB\"\n");
  text.replace(text.find("flops = 1e6"), 11, "flops = 4e6");
  CHECK(planned(text).runs.size() == 1);  // heft looks at memory
  check_refused_text(text + "placement = \"balanced\"\n",
                     "the operators of worker 1 need 32.016kB, but its device has 20kB; take placement = \"heft\"");
}

TEST_CASE("operators that fit together, but not one by one, are told before the run") {
  // Three of 16.008 kB on two devices of 25 kB; with one of 33 kB there is room for them.
  const auto three = [](const std::string& memory) {
    return graph(table("a", "", 1000) + table("b", "\"a\"", 1000) + table("c", "\"b\"", 1000), memory);
  };
  for (const char* const placement : {"greedy", "heft", "exhaustive"})
    check_refused_text(three("memory = \"25kB\"\n") + "placement = \"" + placement + "\"\n",
                       "the operators, 48.024kB together, do not fit into the devices, 50kB together, since each must");
  CHECK(planned(three("memory = \"33kB\"\n")).runs.size() == 1);
}

TEST_CASE("devices by hand are a worker for each operator") {
  CHECK(planned(perceptron("placement = \"by_hand\"\ndevices = [0, 1, 1]\n")).runs.size() == 1);
  check_refused_text(perceptron("placement = \"by_hand\"\ndevices = [0, 1]\n"),
                     "2 devices for 3 operators; expected a worker for each");
  check_refused_text(perceptron("placement = \"by_hand\"\ndevices = [0, 1, 2]\n"),
                     "device 2 of operator 2; expected a worker from 0 to 1");
  check_refused_text(perceptron("placement = \"by_hand\"\ndevices = [0, 0.5, 1]\n"),
                     "device 0.5 of operator 1; expected a worker from 0 to 1");
  check_refused_text(perceptron("placement = \"by_hand\"\n"), "needs a worker for each operator; give devices");
  check_refused_text(perceptron("devices = [0, 1, 1]\n"), "set placement = \"by_hand\", or leave devices out");
}

TEST_CASE("exhaustive is for few operators and devices, and for one micro-batch") {
  check_refused_text(perceptron("placement = \"exhaustive\"\nmicro_batches = 2\n"),
                     "tries every order, of which micro-batches make too many");
  std::string large = perceptron("placement = \"exhaustive\"\n");
  large.replace(large.find("workers = 2"), 11, "workers = 101");
  // 101^3 ways
  check_refused_text(large, "\"exhaustive\" has 1e+06 ways to give 3 operators to 101 devices; expected at most 1e+06");
}

TEST_CASE("models without dense gradients have no operators") {
  const auto of = [](const std::string& source, const std::string& kind) {
    return "schema = 1\n[cluster]\nworkers = 2\n[data]\nsource = \"" + source +
           "\"\nsamples = 100\n[model]\nkind = \"" + kind +
           "\"\n[training]\nbatch_size = 10\n[stop]\nsteps = 2\n[[strategy]]\nkind = \"operators\"\n";
  };
  check_refused_text(of("blobs", "k_means"), "k_means has no operators with dense gradients; take another model");
  check_refused_text(of("click_log", "sparse_logistic"), "sparse_logistic has no operators with dense gradients");
}

TEST_CASE("circumstances under which operators cannot train") {
  check_refused_text(perceptron("micro_batches = 11\n"), "11 micro-batches of the 10 rows of a step");
  check_refused_text(perceptron("", "", "optimizer = \"lamb\"\n"), "optimizer = \"lamb\" needs whole matrices");
  check_refused_text(perceptron("", "", "precision = \"float16\"\n"), "precision = \"float16\" scales the loss");
  check_refused_text(perceptron("", "failures = { hosts = { kind = \"exponential\", mtbf = \"1h\" } }\n"),
                     "cluster.failures with the strategy operators");
  check_refused_text(perceptron("", "", "[parallel]\npipeline = 2\n"),
                     "strategy operators gives the model's units to ranks by itself, and so does [parallel]");
}

TEST_CASE("operators that share a matrix are on one device") {
  const auto transformer = [](const std::string& devices) {
    return "schema = 1\n[cluster]\nworkers = 2\n[data]\nsource = \"markov\"\nsamples = 20\n[model]\nkind = "
           "\"transformer\"\nlayers = 1\nhidden = 8\nheads = 2\nsequence = 4\n[training]\nbatch_size = "
           "10\n[stop]\nsteps "
           "= 2\n[[strategy]]\nkind = \"operators\"\nplacement = \"by_hand\"\ndevices = " +
           devices + "\n";
  };
  CHECK(planned(transformer("[1, 0, 1]")).runs.size() == 1);
  check_refused_text(
      transformer("[1, 0, 0]"),
      "the first operator is on device 1 and the last one on 0, but they share a matrix (tied embedding)");
  // 32 x 8 + 4 x 8 + 16 parameters with gradients; of ten rows the head keeps 64 numbers and 512 B,
  // and 512 B of gradients of logits while it goes backward.
  std::string small = transformer("[1, 0, 1]");
  check_refused_text(small.replace(small.find("workers = 2"), 11, "workers = 2\nmemory = \"1kB\""),
                     "operator 0 (embedding) needs 19.75KiB");
}

}  // namespace operators_refusals_test
