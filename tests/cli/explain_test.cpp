// `explain` of a name in several places: the likeliest first, equal options once, values of options, and beginnings.
#include <set>

#include "catch.h"
#include "cli/scenario.h"

namespace explain_test {

using namespace simgrad::tests;

namespace {

std::string explained(const std::string& name) {
  const Scratch scratch;
  const Called called = program("explain " + name, scratch);
  INFO(called.err);
  CHECK(called.exit_code == 0);
  return called.out;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The names of a kind, as `list` shows them.
std::set<std::string> names_of(const std::string& kind) {
  const Scratch scratch;
  std::set<std::string> names;
  for (const std::string& line : lines_of(program("list " + kind, scratch).out))
    if (line.size() > 2 && line[0] == ' ' && line[2] != ' ') names.insert(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

}  // namespace

TEST_CASE("explain answers with the key of a section first, options of strategies next, and devices last") {
  const std::string efficiency = explained("efficiency");
  CHECK(efficiency.starts_with("efficiency: an option of cluster (a section of a scenario)\n"));
  const auto field = efficiency.find("\nefficiency: a field of a run"),
             devices = efficiency.find(" (cluster.device, [[cluster.hosts]] device)\n");
  REQUIRE(field != std::string::npos);
  REQUIRE(devices != std::string::npos);
  CHECK(field < devices);
  const std::string device = explained("device");
  CHECK(device.starts_with("device: an option of cluster (a section of a scenario)\n"));
  CHECK(contains(device, "\ndevices: the values of cluster.device, [[cluster.hosts]] device\n"));
  const std::string rate = explained("learning_rate");
  CHECK(rate.starts_with("learning_rate: an option of training (a section of a scenario)\n"));
}

TEST_CASE("explain says the first part of an answer of several parts again if it is longer than a screen") {
  for (const char* name : {"device", "none"}) {
    INFO(name);
    const std::string text = explained(name);
    const auto lines = lines_of(text);
    CHECK(lines.size() > 24);
    // The first line has the name, where it stands, and so has the last one.
    CHECK(lines.back().starts_with(std::string("first above: ") + name));
    CHECK(lines.back().size() <= 120);
  }
  CHECK(contains(lines_of(explained("device")).back(), "device, an option of cluster (a section of a scenario): "));
  for (const char* name : {"staleness_bound", "efficiency", "transformer"}) {  // short, or one meaning alone
    INFO(name);
    CHECK_FALSE(contains(explained(name), "first above"));
  }
  const auto network_model = lines_of(explained("network_model"));  // with a table of messages below
  CHECK(network_model.back().starts_with("first above: network_model, an option of cluster"));
}

TEST_CASE("explain shows an option once that several components have, with these components") {
  const std::string flops = explained("efficiency");
  // One option of all devices, whose defaults differ: every device is named once.
  const std::string of_devices = flops.substr(flops.rfind("efficiency: an option of"));
  CHECK(count_of(flops, "efficiency: an option of") == 2);  // the cluster's, and theirs
  for (const std::string& name : names_of("devices"))
    if (name != "none" && contains(explained(name), "\n  efficiency (")) {
      INFO(name);
      CHECK(contains(of_devices.substr(0, of_devices.find('\n')), name));
    }
}

TEST_CASE("explain answers each named value of an option") {
  const std::string greedy = explained("greedy");
  CHECK(contains(greedy, "greedy: a value of placement, an option of operators ([[strategy]] kind)\n"));
  CHECK(contains(explained("peak_product"), "peak_product: a value of "));
  CHECK(contains(explained("reduce_scatter"), "reduce_scatter: a value of codes, an option of "));
  CHECK(contains(explained("framework"),
                 "framework: a value of gradient_precision, an option of training (a section of a scenario)\n"));
  // An option of a section is found in the sections around it, too, and stands there once.
  CHECK(count_of(explained("framework"), "framework: a value of") == 1);
  CHECK(explained("1f1b").starts_with("1f1b (parallel.schedule)\n"));
  CHECK(contains(explained("auto"), "\nauto: a value of task, an option of perceptron ([model] kind)\n"));
  // All that `explain` lists as choices can be asked for.
  for (const char* section : {"cluster", "training", "parallel", "data", "plan"})
    for (const std::string& line : lines_of(explained(section)))
      if (line.starts_with("        ") && line[8] != ' ' && contains(line, ": ")) {
        const std::string value = line.substr(8, line.find(':') - 8);
        INFO(section << ": " << value);
        CHECK(contains(explained("'" + value + "'"), value));
      }
}

TEST_CASE("explain shows names of one kind that begin alike in a line each, with their options") {
  std::set<std::string> a100;
  for (const std::string& name : names_of("devices"))
    if (name.starts_with("a100")) a100.insert(name);
  REQUIRE(a100.size() > 1);
  const std::string text = explained("a100");
  CHECK(text.starts_with("a100: " + std::to_string(a100.size()) +
                         " devices (cluster.device, [[cluster.hosts]] device) have names that begin so\n"));
  for (const std::string& name : a100) CHECK(contains(text, "\n  " + name + " "));
  CHECK(count_of(text, "\n  efficiency (") == 1);
}

TEST_CASE("explain names the columns of results that begin with a word that means something else, too") {
  CHECK(explained("staleness").ends_with("\ncolumns of results: staleness_mean, staleness_max and staleness_counts\n"));
  CHECK_FALSE(contains(explained("gossip"), "columns of results"));
}

TEST_CASE("explain refuses the beginning of names of several kinds with a line for each") {
  const Scratch scratch;
  const Called called = program("explain param", scratch);
  CHECK(called.exit_code == 2);
  CHECK(called.out.empty());
  const auto lines = lines_of(called.err);
  REQUIRE(lines.size() > 2);
  CHECK(lines[0].starts_with("explain: \"param\" begins several names: parameter_server, "));
  CHECK(lines[1].starts_with("  parameter_server ([[strategy]] kind): "));
}

}  // namespace explain_test
