#include "scenario/fixture.h"

namespace options_test {

using namespace fixture;

namespace {

/// key | type | default | range | meaning
Lines listed(base::Described& component) {
  Lines lines;
  for (const scenario::OptionText& option : scenario::options(component))
    lines.push_back(option.key + " | " + option.type + " | " + option.fallback + " | " + option.range + " | " +
                    option.meaning);
  return lines;
}

}  // namespace

TEST_CASE("a listing says type, default, range and meaning of every option") {
  ParameterServer server;
  CHECK(listed(server) == Lines{"consistency | one of bsp, ssp, asp | \"bsp\" |  | when a push is answered",
                                "servers | integer | 1 | at least 1 | that share the parameters",
                                "staleness | integer |  | at least 0 | steps a rank may run ahead",
                                "momentum | number | 0.0 | from 0 to 1 | of the update"});
  Cluster cluster;
  CHECK(listed(cluster) == Lines{"workers | integer | 4 | at least 1 | ranks that compute",
                                 "bandwidth | a bandwidth | \"1Gbps\" | above 0 | of each NIC",
                                 "latency | a time | \"50us\" | at least 0 | one way",
                                 "memory | a size |  | at least 1KiB | of a host",
                                 "topology | one of star, fat_tree | \"star\" |  | how hosts are cabled"});
}

TEST_CASE("a listing has the options of sections and lists under dotted keys") {
  Settings options;
  const Lines lines = listed(options);
  CHECK(lines.front() == "title | string | \"\" |  | what the experiment asks");
  const Lines tail(lines.end() - 11, lines.end());
  CHECK(tail == Lines{"model.kind | one of least_squares, perceptron |  |  | the hypothesis",
                      "training.batch_size | integer or \"full\" | \"full\" | at least 1 | rows a step",
                      "training.learning_rate | number | 0.1 | above 0 | of the optimizer",
                      "training.clip | number |  | above 0 | the longest gradient",
                      "training.data | path | \"\" |  | a file", "strategy | list of tables |  |  | what is compared",
                      "strategy.label | string |  |  | its name in the results",
                      "strategy.kind | one of allreduce, parameter_server |  |  | the program of every rank",
                      "expect | list of tables |  |  | what must hold",
                      "expect.metric | string | \"final_loss\" |  | a field of a run",
                      "expect.where | table of keys and values |  |  | the grid points it holds for"});
}

TEST_CASE("a range names only the ends it has") {
  struct Ranges final : base::Described {
    double value = 0.5;
    void describe(Describer& d) override {
      d.number("any", value, "");
      d.number("most", value, "", {.most = 5.0});
      d.number("share", value, "", {.least = 0.0, .most = 1.0, .positive = true});
      d.number("factor", value, "", {.positive = true});
      d.quantity("pause", value, Unit::seconds, "", Bounds::between(0, 60));
    }
  } ranges;
  Lines texts;
  for (const auto& option : scenario::options(ranges)) texts.push_back(option.range);
  CHECK(texts == Lines{"", "at most 5", "above 0 and at most 1", "other than 0", "from 0 to 1min"});
}

}  // namespace options_test
