#include "base/text.h"

#include <string>
#include <vector>

#include "catch.h"

namespace text_test {

using namespace simgrad::base;

namespace {

const std::vector<std::string> strategies{"mapreduce", "parameter_server", "allreduce", "gossip", "local_sgd"};

}  // namespace

TEST_CASE("the closest name is within a third of the longer one's letters") {
  CHECK(closest("local-sgd", strategies) == "local_sgd");  // 1 of 9
  CHECK(closest("gosip", strategies) == "gossip");         // 1 of 6
  CHECK(closest("gosp", strategies) == "gossip");          // 2 of 6
  CHECK(closest("goat", strategies) == "");                // 3 of 6
  CHECK(closest("xyz", strategies) == "");
}

TEST_CASE("a name that begins with the typed text is closer than one with another letter") {
  const std::vector<std::string> devices{"none", "v100_32gb", "a100_40gb", "a100_80gb", "h100", "h200"};
  CHECK(closest("v100", devices) == "v100_32gb");
  CHECK(closest("A100", devices) == "a100_40gb");
  CHECK(closest("h100", devices) == "h100");
  CHECK(closest("h10", devices) == "h100");
  CHECK(closest("layer", std::vector<std::string>{"layers_most", "layers", "player"}) == "layers");
  CHECK(closest("gos", strategies) == "");  // no word of a name ends there, and 3 of 6 letters are missing
}

TEST_CASE("two neighbours swapped are one edit") {
  const std::vector<std::string> known{"ssp"};
  CHECK(closest("sps", known) == "ssp");  // two replacements would be too many for three letters
}

TEST_CASE("case is ignored but for ties") {
  const std::vector<std::string> known{"Gbps", "GBps"};
  CHECK(closest("GBs", known) == "GBps");
  CHECK(closest("GOSSIP", strategies) == "gossip");
}

TEST_CASE("the nearest names come first, then those that contain the typed one, each once and a few only") {
  const std::vector<std::string> known{"cluster.latency", "latency", "bandwidth", "latency", "lateness"};
  using Names = std::vector<std::string>;
  CHECK(nearest("latancy", known, 5) == Names{"latency"});  // 1 edit; "lateness" has 4 of 8 letters
  CHECK(nearest("latency", known, 5) == Names{"latency", "cluster.latency"});
  CHECK(nearest("latency", known, 1) == Names{"latency"});
  CHECK(nearest("xyz", known, 5).empty());
  CHECK(nearest("", known, 5).empty());
}

TEST_CASE("the first of equally close names is suggested") {
  const std::vector<std::string> known{"bsp", "ssp", "asp"};
  CHECK(closest("sp", known) == "bsp");
}

TEST_CASE("nothing is close to nothing, nor to a text too long for a name") {
  CHECK(closest("", strategies) == "");
  CHECK(closest(std::string(10000, 'a'), strategies) == "");
  CHECK(closest("gossip", {}) == "");
}

TEST_CASE("a suggestion names what was probably meant and what there is") {
  const std::vector<std::string> known{"ring", "tree"};
  CHECK(suggestion("rong", known) == R"(; did you mean "ring"? Known: ring, tree)");
  CHECK(suggestion("butterfly", known) == "; known: ring, tree");
  CHECK(suggestion("ring", {}) == "");
  // As of a file of many columns.
  const std::string all = suggestion("x", std::vector<std::string>(1234, "ring"));
  CHECK(all.starts_with("; known: ring, ring"));
  CHECK(all.ends_with("ring and 1034 more"));
}

TEST_CASE("names are joined with commas or what is asked for") {
  const std::vector<std::string> names{"a", "b", "c"};
  CHECK(joined(names) == "a, b, c");
  CHECK(joined(names, " | ") == "a | b | c");
  CHECK(joined({}) == "");
}

TEST_CASE("a word of a command is quoted so that a shell and a terminal read what it is") {
  CHECK(shell_word("out/a_b-c.toml") == "out/a_b-c.toml");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("$(x)") == "'$(x)'");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("\xe6\xa2\xaf") == "'\xe6\xa2\xaf'");
  CHECK(shell_word("a\nb'\\") == "$'a\\012b\\047\\134'");
  CHECK(shell_word("\x1b[2J") == "$'\\033[2J'");
}

TEST_CASE("the words of a shell line are read as they were written, and other texts are none") {
  const std::vector<std::vector<std::string>> all{
      {"simgrad", "run", "x.toml"}, {"a b", "it's", "", "$(x)", "'"}, {"\\", "'\\''"}, {"ä;"}};
  for (const auto& words : all) {
    INFO(shell_line(words));
    CHECK(words_of_shell_line(shell_line(words)) == words);
  }
  for (const char* other : {"", " ", "a  b", "a;b", "a $(b)", "'a'", "a 'b", "a \\", "a\nb", "$'a\\x0ab'", "a\\ b",
                            "a `b`", "a&b", "a|b"}) {
    INFO(other);
    CHECK_FALSE(words_of_shell_line(other));
  }
}

}  // namespace text_test
