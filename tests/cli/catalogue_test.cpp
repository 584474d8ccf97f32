// `list` and `explain`: every name and option of a scenario is documented.
#include <regex>
#include <set>

#include "catch.h"
#include "cli/scenario.h"
#include "outputs/fields.h"

namespace catalogue_test {

using namespace simgrad::tests;

namespace {

std::string said(const std::string& command) {
  const Scratch scratch;
  const Called called = program(command, scratch);
  INFO(command << ": " << called.err);
  CHECK(called.exit_code == 0);
  CHECK(called.err.empty());
  return called.out;
}

/// The keys of a table, as the parser lists them in the error for an unknown key.
std::vector<std::string> keys_known(const std::string& scenario) {
  const Scratch scratch;
  scratch.write("x.toml", scenario);
  const Called called = program("validate x.toml", scratch);
  std::smatch match;
  REQUIRE(std::regex_search(called.err, match, std::regex("unknown key \"q0q0q0q0q0q0q0q0q0q0q\"[^;]*; known: (.*)")));
  std::vector<std::string> keys;
  const std::string list = match[1].str();
  for (std::size_t from = 0; from < list.size();) {
    const auto end = std::min(list.find(", ", from), list.size());
    keys.push_back(list.substr(from, end - from));
    from = end + 2;
  }
  return keys;
}

const std::string unknown = "q0q0q0q0q0q0q0q0q0q0q = 1\n";

/// Each key must be at the beginning of a line of the explanation: "  workers (integer, ...", nested or not.
void check_explained(const std::string& scenario, const std::string& explanation) {
  for (const std::string& key : keys_known(scenario)) {
    INFO(key << " in\n" << explanation);
    CHECK((contains(explanation, "  " + key + " (") || contains(explanation, "." + key + " (") ||
           contains(explanation, "  " + key + ".")));
  }
}

const std::vector<std::string> kinds = {
    "strategies",  "collectives",    "models",          "objectives", "data",       "topologies",
    "devices",     "stragglers",     "faulty_workers",  "jitters",    "protocols",  "failure_processes",
    "repairs",     "network_models", "collective_ways", "optimizers", "schedules",  "pipeline_schedules",
    "compressors", "partitions",     "graphs",          "mixings",    "reductions", "storages",
    "sections"};

/// The names that `list KIND` shows.
std::set<std::string> listed(const std::string& kind) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(said("list " + kind)))
    if (line.size() > 2 && line[0] == ' ' && line[2] != ' ') names.insert(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

}  // namespace

TEST_CASE("list names every kind, and list KIND that one only, in the singular too") {
  const std::string all = said("list");
  std::string joined;
  for (const std::string& kind : kinds) joined += said("list " + kind);
  CHECK(joined == all);
  CHECK(said("list strategy") == said("list strategies"));
  CHECK(said("list topology") == said("list topologies"));
}

TEST_CASE("everything that is listed is explained, with its summary, cost and source") {
  std::string kind;
  const std::string all = said("list");
  std::string explanation;
  for (const std::string& line : lines_of(all)) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex("  (\\w+) +(.*)")) && match[1] != "cost" && match[1] != "source") {
      explanation = said("explain " + match[1].str());
      CHECK(contains(explanation, match[2].str()));
    } else if (std::regex_match(line, match, std::regex(" +((cost|source): .*)"))) {
      INFO(line);
      CHECK(contains(explanation, match[1].str()));
    }
  }
}

TEST_CASE("strategies, models and optimizers have a cost line, and what comes from a paper has its source") {
  for (const char* kind : {"strategies", "models", "optimizers"})
    for (const std::string& name : listed(kind)) {
      const std::string text = said("explain " + name);
      INFO(text);
      CHECK(contains(text, "\n  cost: "));
      CHECK((name == "single" || contains(text, "\n  source: ")));
    }
  CHECK(contains(said("explain ring"), "\n  cost: 2(P-1) alpha"));
}

TEST_CASE("every kind that the parser knows is listed") {
  const auto check_listed = [](const std::string& from, const std::string& to, const std::string& kind) {
    const Scratch scratch;
    scratch.write("x.toml", with(small, from, to));
    const Called called = program("validate x.toml", scratch);
    std::smatch match;
    REQUIRE(std::regex_search(called.err, match, std::regex("[Kk]nown: (.*)")));
    std::set<std::string> known;
    const std::regex word("\\w+");
    const std::string names = match[1].str();
    for (std::sregex_iterator at(names.begin(), names.end(), word), end; at != end; ++at) known.insert(at->str());
    CHECK(known == listed(kind));
  };
  check_listed("\"allreduce\"", "\"x\"", "strategies");
  check_listed("\"least_squares\"", "\"x\"", "models");
  check_listed("\"house_prices\"", "\"x\"", "data");
  check_listed("learning_rate = 0.1", "optimizer = \"x\"", "optimizers");
  check_listed("learning_rate = 0.1", "schedule = \"x\"", "schedules");
  check_listed("learning_rate = 0.1", "partition = \"x\"", "partitions");
  check_listed("workers = 4", "topology = \"x\"", "topologies");
  check_listed("workers = 4", "network_model = \"x\"", "network_models");
}

TEST_CASE("a section without a name of its own is explained by its options, and each option names it") {
  const std::string all = said("explain serving");
  CHECK(all.starts_with("serving: the section [serving] (a section of a scenario)\n"));
  CHECK(contains(all, "\n  serving.rate (number"));
  CHECK(!contains(all, "\n  cluster.workers"));
  CHECK(said("explain serving.rate").starts_with("serving.rate: an option of [serving] (a section of a scenario)\n"));
}

TEST_CASE("every key that the parser knows in a section is explained") {
  check_explained(unknown + small, said("explain scenario"));
  check_explained(with(small, "workers = 4\n", "workers = 4\n" + unknown), said("explain cluster"));
  check_explained(with(small, "[data]", "[cluster.failures]\n" + unknown + "[data]"), said("explain failures"));
  check_explained(with(small, "[data]", "[[cluster.failures.crash]]\n" + unknown + "[data]"), said("explain failures"));
  check_explained(with(small, "[data]", "[cluster.watchdog]\n" + unknown + "[data]"), said("explain watchdog"));
  check_explained(with(small, "[stop]\n", unknown + "[stop]\n"), said("explain training"));
  check_explained(with(small, "[stop]\n", "[stop]\n" + unknown), said("explain stop"));
  check_explained(with(small, "[stop]\n", "[evaluate]\n" + unknown + "[stop]\n"), said("explain evaluate"));
}

TEST_CASE("every key that the parser knows in a component is explained") {
  const std::string scenario = said("explain scenario");
  for (const std::string& name : listed("strategies"))
    check_explained(with(small, "\"allreduce\"\n", "\"" + name + "\"\n" + unknown), said("explain " + name) + scenario);
  for (const std::string& name : listed("models"))
    check_explained(with(small, "\"least_squares\"\n", "\"" + name + "\"\n" + unknown),
                    said("explain " + name) + scenario);
  for (const std::string& name : listed("data"))
    check_explained(with(small, "\"house_prices\"\n", "\"" + name + "\"\n" + unknown),
                    said("explain " + name) + said("explain data"));
  for (const char* kind : {"optimizer", "schedule", "partition"})
    for (const std::string& name : listed(kind))
      check_explained(
          with(small, "[stop]", std::string("[training.") + kind + "]\nkind = \"" + name + "\"\n" + unknown + "[stop]"),
          said("explain " + name) + "  kind (");
}

TEST_CASE("the storages of mapreduce are listed with their options") {
  CHECK(contains(said("explain disk"), "  bandwidth (a bandwidth, "));
  CHECK(contains(said("explain mapreduce"), "  storage (one of memory, disk, default \"memory\")\n"));
}

TEST_CASE("reductions and faulty workers are listed with their options") {
  CHECK(contains(said("explain trimmed_mean"), "  trim (number, from 0 to 0.5, "));
  CHECK(contains(said("explain krum"), "  krum_faulty ("));
  CHECK(contains(said("explain sign_flip"), "  share ("));
  CHECK(contains(said("explain parameter_server"),
                 "  reduce (one of mean, sum, min, max, median, trimmed_mean, krum, default \"mean\")\n"));
}

TEST_CASE("explain metrics lists the numbers of a run with unit, direction and meaning") {
  const std::string text = said("explain metrics");
  for (const std::string& metric : simgrad::outputs::numeric_fields()) {
    CAPTURE(metric);
    const auto at = text.find("\n  " + metric);
    if (metric == "wall_s") {
      CHECK(at == std::string::npos);
      continue;
    }
    REQUIRE(at != std::string::npos);
    const std::vector<std::string> lines = lines_of(text.substr(at + 1));
    REQUIRE(lines.size() >= 2);
    CHECK(lines[1].starts_with("      "));
    CHECK(lines[1].size() > 10);
  }
  CHECK(contains(text, "\n  simulated_s (s, less is better)\n      the duration of the training"));
  CHECK(contains(text, "\n  efficiency (more is better)\n"));
  CHECK(contains(text, "\n  steps\n"));
}

TEST_CASE("explain tells an option's type, range, default and meaning") {
  const std::string text = said("explain cluster");
  CHECK(contains(text, "  latency (a time, "));
  CHECK(contains(text, "default \"50us\")\n      latency from host to host, one way\n"));
  CHECK(contains(said("explain gossip"), "  graph (one of ring, complete, star, path, grid_2d, "));
}

TEST_CASE("explain network_model explains all of them") {
  const std::string text = said("explain network_model");
  CHECK(contains(text, "ideal (cluster.network_model)\n  latency + bytes / bandwidth exactly"));
  CHECK(contains(text, "tcp (cluster.network_model)\n  SimGrid's LV08"));
  CHECK(contains(text, "Every message takes 13.01 x the latency"));
  CHECK(contains(text, "infiniband (cluster.network_model)\n  SimGrid's IB"));
  CHECK(contains(text, "ethernet (cluster.network_model)\n  ideal, but between hosts a link carries goodput"));
  const std::string window = said("explain initial_window");
  CHECK(contains(window, "packets of 1460 bytes with which TCP's slow start begins"));
  CHECK(contains(window, "default 10"));
  CHECK(contains(said("explain idle_time"), "RFC 5681"));
}

TEST_CASE("unknown names of list and explain are told what was probably meant, and end with 2") {
  const Scratch scratch;
  const Called explained = program("explain latancy", scratch);
  CHECK(explained.exit_code == 2);
  CHECK(explained.err ==
        "explain: unknown name \"latancy\"; did you mean \"latency\"? `simgrad list` shows the components, `simgrad "
        "explain scenario` the keys of a scenario\n");
  CHECK(explained.out.empty());
  CHECK(
      program("explain param", scratch).err.starts_with("explain: \"param\" begins several names: parameter_server, "));
  const Called listed = program("list modles", scratch);
  CHECK(listed.exit_code == 2);
  CHECK(listed.err.starts_with("list: unknown kind \"modles\"; did you mean \"models\"? Known: strategies, "));
}

TEST_CASE("an option is explained by its name, for everything that has it") {
  CHECK(contains(said("explain staleness_bound"),
                 "staleness_bound: an option of parameter_server, sparse_parameter_server ([[strategy]] kind)\n"
                 "  staleness_bound (integer, "));
  CHECK(contains(said("explain algorithm"),
                 "algorithm: an option of allreduce ([[strategy]] kind)\n  algorithm (one of ring, "));
  CHECK(contains(said("explain batch_size_per_worker"),
                 "batch_size_per_worker: an option of training (a section of a scenario)\n"));
}

TEST_CASE("a collective is said to be chosen where it is, and nowhere else") {
  CHECK(contains(said("explain ring"), "ring ([[strategy]] algorithm)\n"));
  CHECK(contains(said("explain chain"), "chain ([[strategy]] broadcast (mapreduce))\n"));
  CHECK(contains(said("explain reduce_scatter"), "reduce_scatter (used by strategies, not chosen in a scenario)\n"));
}

TEST_CASE("the collectives that no scenario chooses are listed under a heading that says so") {
  const std::string list = said("list collectives");
  const auto at = [&](const std::string& part) { return list.find(part); };
  CHECK(at("collectives ([[strategy]] algorithm)\n") < at("\n  ring "));
  CHECK(at("\n  ring ") < at("collectives (used by strategies, not chosen in a scenario)\n"));
  CHECK(at("collectives (used by strategies, not chosen in a scenario)\n") < at("\n  reduce_scatter "));
}

TEST_CASE("a name that means several things is explained in all of its senses") {
  const std::string text = said("explain efficiency");
  CHECK(contains(text, "efficiency: an option of cluster (a section of a scenario)\n"));
  CHECK(contains(text,
                 "efficiency: a field of a run in runs.csv and results.json\n      speedup_throughput / workers; "));
  CHECK(contains(said("explain momentum"), "momentum (training.optimizer)\n"));
  CHECK(contains(said("explain momentum"), "momentum: an option of momentum, nesterov (training.optimizer)\n"));
}

TEST_CASE("every column of the result files and every field of results.json is explained") {
  const Scratch scratch;
  scratch.write("x.toml", with(small, "[stop]", "[prices]\nworker = \"1$/h\"\n[stop]"));
  REQUIRE(program("run x.toml --quiet --grid cluster.workers=2,4", scratch).exit_code == 0);
  std::set<std::string> names;
  for (const char* file : {"runs.csv", "curves.csv", "ranks.csv", "links.csv"}) {
    std::string head = lines_of(contents(scratch.path() + "/out/x/" + file)).at(0) + ",";
    for (; !head.empty(); head.erase(0, head.find(',') + 1)) names.insert(head.substr(0, head.find(',')));
  }
  const Json results = results_in(scratch);
  for (const auto& [name, value] : results.items()) names.insert(name);
  for (const auto& [name, value] : results["runs"][0].items()) {
    names.insert(name);
    if (value.is_array() && !value.empty() && value[0].is_object())
      for (const auto& [inner, number] : value[0].items()) names.insert(inner);
  }
  names.erase("param.cluster.workers");
  for (const std::string& name : names) {
    INFO(name);
    CHECK(contains(said("explain " + name), name + ": a field of "));
  }
}

TEST_CASE("result files, and the columns of the table, are explained") {
  for (const char* file :
       {"results.json", "runs.csv", "summary.csv", "pairs.csv", "curves.csv", "ranks.csv", "links.csv"})
    CHECK(contains(said(std::string("explain ") + file), std::string(file) + ": a file of the results directory\n"));
  CHECK(contains(said("explain outcome"), "outcome: a column of the table that `run` prints\n"));
  CHECK(contains(said("explain p_holm"), "p_holm: a field of a row of pairs.csv\n"));
  CHECK(contains(said("explain binds"), "counterfactuals in results.json"));
  CHECK(contains(said("explain compute_update_s"), "(mean over workers), and of a row of ranks.csv, in s\n"));
  CHECK(contains(said("explain daly"), "daly: see checkpoint_every; "));
}

TEST_CASE("the letters of cost lines are explained, by the kinds whose lines have them") {
  CHECK(contains(said("explain alpha"), "alpha: in the cost lines\n      the latency of a message, in s\n"));
  CHECK(contains(said("explain M"), "M: in the cost lines of collectives\n      the bytes of one member's vector\n"));
  CHECK(contains(said("explain grid"), "grid (a section of a scenario)\n  keys with lists of values"));
}

TEST_CASE("usual names of other systems lead to those that are listed") {
  std::set<std::string> known;
  for (const std::string& kind : kinds) known.merge(listed(kind));
  for (const auto& [alias, name] : std::vector<std::pair<std::string, std::string>>{{"ddp", "allreduce"},
                                                                                    {"ps", "parameter_server"},
                                                                                    {"FedAvg", "federated_averaging"},
                                                                                    {"horovod", "allreduce"},
                                                                                    {"logistic", "logistic_regression"},
                                                                                    {"D-PSGD", "gossip"}}) {
    INFO(alias);
    CHECK(known.contains(name));
    const std::string text = said("explain " + alias);
    CHECK(contains(text, alias + ": see " + name + "; "));
    CHECK(contains(text, "\n" + name + " ("));
  }
  CHECK(said("explain mapreduc") == said("explain mapreduce"));  // the beginning of one name
}

TEST_CASE("the letters of a cost line are explained below it, as the kind means them") {
  CHECK(contains(said("explain rabenseifner"),
                 "\n  letters: lg the logarithm to base 2; P the number of members; alpha "));
  CHECK(contains(said("explain least_squares"), "\n  letters: d the number of features, the bias included\n"));
  CHECK(contains(said("explain adam"), "\n  letters: d the number of parameters\n"));
}

TEST_CASE("explain network_model times messages on the default cluster, or on a scenario's links") {
  const std::string text = said("explain network_model");
  CHECK(contains(text, "alpha = 50us, B = 1Gbps"));
  CHECK(contains(
      text,
      "1.00 GB       8.00 s      8.00 s  1.0000x      8.25 s  1.0310x      8.33 s  1.0417x      8.50 s  1.0622x"));
  const Scratch scratch;
  scratch.write("x.toml", small);
  const auto called = call(
      "simgrad explain network_model x.toml --set cluster.bandwidth=10Gbps --set "
      "cluster.topology=ring",
      scratch.path());
  CHECK(called.exit_code == 0);
  CHECK(contains(called.out, "links of x.toml, host 0 to host 3 over ring-3_DOWN:\nalpha = 50us, B = 10Gbps"));
  CHECK(call("simgrad explain ring x.toml", scratch.path()).exit_code == 2);
}

}  // namespace catalogue_test
