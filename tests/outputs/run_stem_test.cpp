// The names of a run's files: readable, within their folder, and with the id at their end.
#include "outputs/files/run_stem.h"

#include <limits>

#include "catch.h"

namespace run_stem_test {

using namespace simgrad::outputs;

namespace {

const std::string id = "8a2b757412345678";

}  // namespace

TEST_CASE("a run's files are named by label, workers and seed, and end in the id") {
  CHECK(run_stem("gossip", 8, 1, id) == "gossip-w8-s1-" + id);
  CHECK(run_stem("parameter_server(consistency=asp)", 16, 3, id) == "parameter_server-consistency-asp-w16-s3-" + id);
  CHECK(run_stem("Async PS", 2, 1, id) == "async-ps-w2-s1-" + id);
  CHECK(run_stem("lr=0.5", 2, 1, id) == "lr-0-5-w2-s1-" + id);
}

TEST_CASE("no label leads out of a folder, hides a file or makes its name too long for a file system") {
  for (const std::string& label :
       {std::string("../../etc/passwd"), std::string("/etc"), std::string("."), std::string(".hidden"), std::string(),
        std::string("a\0b", 3), std::string("a\nb"), std::string("\u7b56\u7565"), std::string("-rf"),
        std::string("a b;c"), std::string(5000, 'x'), std::string("A.json")}) {
    INFO(label);
    const std::string stem = run_stem(label, 131072, std::numeric_limits<std::uint64_t>::max(), id);
    CHECK(stem.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos);
    CHECK(stem.front() != '-');
    CHECK(stem.size() < 120);  // of 255, with an ending and that of a temporary file
    CHECK(id_in_stem(stem) == id);
    CHECK(is_run_stem(stem));
  }
  CHECK(run_stem("\u7b56\u7565", 2, 1, id) == "run-w2-s1-" + id);
  CHECK(run_stem("../../etc/passwd", 2, 1, id) == "etc-passwd-w2-s1-" + id);
  CHECK(run_stem("a", 2, 1, "../x/8a2b").find_first_of("/.") == std::string::npos);  // an id of a forged results.json
}

TEST_CASE("a name is a run's if it is an id or ends in one") {
  CHECK(is_run_stem(id));
  CHECK(id_in_stem(id) == id);
  for (const std::string& name : {std::string("mine"), "mine-" + id.substr(1), "mine-" + id + "0", "Mine-" + id,
                                  "a b-" + id, "../" + id, "mine" + id, id + "-mine", std::string()}) {
    INFO(name);
    CHECK_FALSE(is_run_stem(name));
  }
}

}  // namespace run_stem_test
