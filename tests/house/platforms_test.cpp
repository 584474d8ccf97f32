// Every platform file: its sources, and a step on a few of its hosts and on all of them.
#include "house/results.h"

namespace platforms_test {

using namespace simgrad;
using namespace simgrad::tests;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> platform_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source_dir() / "platforms"))
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// One step of an allreduce and of a parameter server with so many workers.
outputs::Results step_on(const fs::path& platform, int workers) {
  const Scratch scratch;
  scratch.write("x.toml",
                "[data]\nsamples = 200\nfeatures = 3\n[model]\nkind = \"least_squares\"\n[stop]\nsteps = 1\n"
                "[[strategy]]\nkind = \"allreduce\"\n");
  const Called called = call("simgrad run x.toml --json --set cluster.workers=" + std::to_string(workers) +
                                 " --set cluster.platform='" + platform.string() + "'",
                             scratch.path());
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  return outputs::results_from_json(outputs::parse_json(called.out));
}

}  // namespace

TEST_CASE("there are platforms for eight questions, and each says where its numbers come from") {
  CHECK(platform_files().size() >= 8);
  for (const fs::path& path : platform_files()) {
    INFO(path);
    const std::string text = contents(path.string());
    CHECK(text.find("Where the numbers come from:") != std::string::npos);
    for (const char* property : {"\"class\"", "\"price\"", "\"watts_idle\"", "\"watts_busy\""})
      CHECK(text.find(property) != std::string::npos);
  }
}

TEST_CASE("a step runs on the first hosts of every platform, whose hosts and links have classes") {
  for (const fs::path& path : platform_files()) {
    INFO(path);
    const outputs::Results results = step_on(path, 3);
    const record::Record& record = results.runs.at(0).record;
    CHECK(record.status == record::Status::stopped);
    REQUIRE(record.ranks.size() == 3);
    for (const record::RankUse& rank : record.ranks) CHECK(rank.host_class != "host");
    REQUIRE(!record.links.empty());
    for (const record::LinkUse& link : record.links) CHECK(link.link_class != "link");
  }
}

TEST_CASE("a step runs on all hosts of platforms whose hosts are of several zones") {
  for (const auto& [name, hosts, classes] : {std::tuple{"three_continents", 24, std::set<std::string>{"nic", "wan"}},
                                             std::tuple{"two_racks", 32, std::set<std::string>{"nic", "rack"}},
                                             std::tuple{"classroom", 16, std::set<std::string>{"nic", "uplink"}}}) {
    INFO(name);
    std::set<std::string> found;
    const outputs::Results results = step_on(source_dir() / "platforms" / (std::string(name) + ".xml"), hosts);
    for (const record::LinkUse& link : results.runs.at(0).record.links) found.insert(link.link_class);
    CHECK(found == classes);
  }
}

}  // namespace platforms_test
